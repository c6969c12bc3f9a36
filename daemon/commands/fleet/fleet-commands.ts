// The commands of the fleet: its nodes, the last of its invalidations, and its programs.

import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import type { DeskReply, FleetOverview, FleetProgramsView, UseWish } from '../../fleet/fleet-overview.ts';
import type { CommandCall } from '../../link.ts';
import type { ManagerHandler, ManagerHandlers, ManagerServices } from '../manager-services.ts';
import { bad, cannot, jsonReply, ok } from '../reply.ts';
import { unreadable } from '../vcl/vcl-commands.ts';
import { formatLog, formatNodes, formatPrograms } from './fleet-list.ts';

type Reply = CommandReply | Promise<CommandReply>;

/** A command that needs the fleet. */
function ofFleet(
  run: (fleet: FleetOverview, call: CommandCall, manager: ManagerServices) => Reply,
): ManagerHandler {
  return (manager, call) =>
    manager.fleet === null
      ? cannot('This proxy belongs to no fleet: it was started without --fleet.')
      : run(manager.fleet, call, manager);
}

/** A command that needs its programs. */
function onPrograms(
  run: (programs: FleetProgramsView, call: CommandCall, manager: ManagerServices) => Reply,
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
  const wish = readWish(args);
  if ('status' in wish) return wish;
  return answer(await programs.use(wish.name, wish));
});

/** `NAME [--on NODE,…] [--force]` */
function readWish(args: readonly string[]): (UseWish & { name: string }) | CommandReply {
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

function answer({ done, text }: DeskReply): CommandReply {
  return done ? ok(text) : cannot(text);
}

const USUAL = 20;

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
    const rows = fleet.log(Number(call.args[0] ?? USUAL));
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
