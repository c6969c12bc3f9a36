// The fleet.* commands: nodes, recent invalidations, and programs, with their tables.

import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import { bad, cannot, columns, jsonReply, ok } from '../../commands/reply.ts';
import type { FleetNode } from '../../fleet/fleet-node.ts';
import type { ChangeResult, LogRow, NodeRow, ProgramRow, UseOptions } from '../../fleet/fleet-rows.ts';
import type { ProgramService } from '../../fleet/program-service.ts';
import type { CommandCall } from '../../link.ts';
import type { ManagerCore } from '../manager-core.ts';
import type { ManagerHandler, ManagerHandlers } from './handler.ts';
import { unreadable } from './vcl-commands.ts';

type Reply = CommandReply | Promise<CommandReply>;

/** Wraps a command that needs the fleet. */
function ofFleet(run: (fleet: FleetNode, call: CommandCall, manager: ManagerCore) => Reply): ManagerHandler {
  return (manager, call) =>
    manager.fleet === null
      ? cannot('This proxy belongs to no fleet: it was started without --fleet.')
      : run(manager.fleet, call, manager);
}

/** Wraps a command that needs the fleet's programs. */
function onPrograms(
  run: (programs: ProgramService, call: CommandCall, manager: ManagerCore) => Reply,
): ManagerHandler {
  return ofFleet(({ programs }, call, manager) =>
    programs === null
      ? cannot('This node takes no programs from the fleet: it was started with --fleet-accept invalidate.')
      : run(programs, call, manager),
  );
}

const load = onPrograms(async (programs, { args: [name = '', file = ''] }, manager) => {
  const refusal = programs.refusal(name);
  if (refusal !== null) return cannot(refusal);
  const path = manager.params.text('vcl_path');
  const source = manager.readProgram(file);
  if (typeof source === 'string') return bad(unreadable(file, source, path));
  const checked = await manager.programs.check(source);
  if ('status' in checked) return checked;
  const reply = answer(await programs.load(name, checked.files, path));
  return { ...reply, body: checked.notes + reply.body };
});

const use = onPrograms(async (programs, { args }) => {
  const options = readUseOptions(args);
  if ('status' in options) return options;
  return answer(await programs.use(options.name, options));
});

/** `NAME [--on NODE,…] [--force]` */
function readUseOptions(args: readonly string[]): (UseOptions & { name: string }) | CommandReply {
  const words = [...args];
  const names: string[] = [];
  let on: string[] | null = null;
  let force = false;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--force') force = true;
    else if (word === '--on') {
      on = (words.shift() ?? '').split(',').filter((node) => node !== '');
      if (on.length === 0) return bad('--on needs names of nodes');
    } else names.push(word);
  }
  const [name, surplus] = names;
  if (name === undefined) return { status: CLI.TOO_FEW, body: 'Too few parameters\n' };
  return surplus === undefined
    ? { name, on, force }
    : { status: CLI.TOO_MANY, body: 'Too many parameters\n' };
}

function answer({ done, text }: ChangeResult): CommandReply {
  return done ? ok(text) : cannot(text);
}

const DEFAULT_COUNT = 20;

export const FLEET_COMMANDS = {
  'fleet.discard': onPrograms(async (programs, { args: [name = ''] }) =>
    answer(await programs.discard(name)),
  ),
  'fleet.list': onPrograms((programs, call) => {
    const rows = programs.list();
    return call.json ? jsonReply(call, elements(rows)) : ok(formatPrograms(rows));
  }),
  'fleet.load': load,
  'fleet.log': ofFleet((fleet, call) => {
    const rows = fleet.log(Number(call.args[0] ?? DEFAULT_COUNT));
    return call.json ? jsonReply(call, elements(rows)) : ok(formatLog(rows));
  }),
  'fleet.nodes': ofFleet((fleet, call) => {
    const rows = fleet.nodes();
    return call.json ? jsonReply(call, elements(rows)) : ok(formatNodes(rows));
  }),
  'fleet.use': use,
} satisfies Partial<ManagerHandlers>;

function elements(rows: readonly unknown[]): string {
  return rows.map((row) => `\n  ${JSON.stringify(row)}`).join(',');
}

const NODES = ['Node', 'State', 'Lag', 'Program', 'Requests/s', 'Hit rate', 'Threads', 'Version', 'Console'];
const LOG = ['Number', 'Time', 'From', 'By', 'Kind', 'Reached', 'Subject'];
const PROGRAMS = ['Name', 'State', 'Loaded', 'By', 'Stored', 'Files', 'Bytes'];
const UNKNOWN = '-';

function formatNodes(nodes: readonly NodeRow[]): string {
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

/** A node without a running worker serves nothing, even if it is current. */
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

function formatPrograms(rows: readonly ProgramRow[]): string {
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

function formatLog(rows: readonly LogRow[]): string {
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
