// The replies of fleet.nodes, fleet.log and fleet.list as columns.

import type { LogRow, NodeRow, ProgramRow } from '../../fleet/fleet-overview.ts';

const NODES = ['Node', 'State', 'Lag', 'Program', 'Requests/s', 'Hit rate', 'Threads', 'Version', 'Console'];
const LOG = ['Number', 'Time', 'From', 'By', 'Kind', 'Reached', 'Subject'];
const PROGRAMS = ['Name', 'State', 'Loaded', 'By', 'Stored', 'Files', 'Bytes'];
const UNKNOWN = '-';

export function formatNodes(nodes: readonly NodeRow[]): string {
  return columns([
    NODES,
    ...nodes.map((n) => [
      n.self ? `${n.node} (this one)` : n.node,
      stateOf(n),
      n.lag === 0 ? '0' : `${n.lag} (${n.lag_seconds ?? '?'} s)`,
      programOf(n),
      n.requests?.toFixed(1) ?? UNKNOWN,
      n.hit_rate === null || n.hit_rate === undefined ? UNKNOWN : `${(n.hit_rate * 100).toFixed(1)} %`,
      n.threads === undefined ? UNKNOWN : String(n.threads),
      n.version,
      n.console ?? UNKNOWN,
    ]),
  ]);
}

/** A node without a worker serves nobody, however current it is. */
function stateOf({ state, seen, worker }: NodeRow): string {
  const silence = state === 'silent' ? ` for ${Math.round(seen)} s` : '';
  return worker === undefined || worker === 'running'
    ? `${state}${silence}`
    : `${state}${silence}, worker ${worker}`;
}

function programOf({ program, own_program, wanted }: NodeRow): string {
  if (program === undefined) return UNKNOWN;
  return own_program === true ? `${program ?? 'none'} (not ${wanted})` : (program ?? 'none');
}

export function formatPrograms(rows: readonly ProgramRow[]): string {
  if (rows.length === 0) return 'The fleet has no programs.\n';
  const problems = rows.flatMap(({ name, problem, missing }) => [
    ...(problem === null ? [] : [`${name}: refused: ${problem}\n`]),
    ...missing.map((each) => `${name}: ${each.node}: ${each.problem.trimEnd()}\n`),
  ]);
  const lines = rows.map((row) => [
    row.name,
    row.on === null ? row.status : `${row.status} on ${row.on.join(' ')}`,
    row.id === null ? 'refused' : `${row.loaded} of ${row.nodes}`,
    row.by ?? UNKNOWN,
    row.at === null ? UNKNOWN : timeOf(row.at),
    row.id === null ? UNKNOWN : String(row.files.length),
    String(row.bytes),
  ]);
  return columns([PROGRAMS, ...lines]) + problems.join('');
}

export function formatLog(rows: readonly LogRow[]): string {
  return columns([
    LOG,
    ...rows.map((row) => [
      row.seq === null ? UNKNOWN : String(row.seq),
      timeOf(row.at),
      row.from,
      row.by || UNKNOWN,
      row.kind === null ? UNKNOWN : `${row.soft ? 'soft ' : ''}${row.kind}`,
      reached(row),
      row.problem === null || row.state === 'applied'
        ? row.subject
        : `${row.subject} (${row.problem})`.trim(),
    ]),
  ]);
}

function reached({ state, reach }: LogRow): string {
  if (state === 'lost') return 'not stored';
  if (state === 'unknown' || reach === null) return 'perhaps stored';
  const { applied, nodes, behind } = reach;
  const count = state === 'refused' ? 'refused' : `${applied} of ${nodes}`;
  return behind.length === 0 ? count : `${count}, not ${behind.join(' ')}`;
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Each as wide as its widest cell, two blanks between them. */
function columns(rows: readonly (readonly string[])[]): string {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, column) => width(column));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
