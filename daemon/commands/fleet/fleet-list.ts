// The replies of fleet.nodes and fleet.log as columns.

import type { LogRow, NodeRow } from '../../fleet/fleet-overview.ts';

const NODES = ['Node', 'State', 'Lag', 'Program', 'Requests/s', 'Hit rate', 'Threads', 'Version', 'Console'];
const LOG = ['Number', 'Time', 'From', 'By', 'Kind', 'Reached', 'Subject'];
const UNKNOWN = '-';

export function formatNodes(nodes: readonly NodeRow[]): string {
  return columns([
    NODES,
    ...nodes.map((n) => [
      n.self ? `${n.node} (this one)` : n.node,
      stateOf(n),
      n.lag === 0 ? '0' : `${n.lag} (${n.lag_seconds ?? '?'} s)`,
      n.program ?? UNKNOWN,
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

export function formatLog(rows: readonly LogRow[]): string {
  return columns([
    LOG,
    ...rows.map((row) => [
      row.seq === null ? UNKNOWN : String(row.seq),
      new Date(row.at * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
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
