// The commands of a connection to the manager: auth, banner, help, ping, quit.

import { CLI } from '../../../protocol/errors.ts';
import { COMMANDS, type Command, commandRow } from '../../../protocol/tables/commands.ts';
import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { jsonReply, ok } from '../reply.ts';

/** Without a worker nobody knows its commands. One that is starting is waited for when they come. */
const help: ManagerHandler = ({ supervisor }, call) => {
  const hasWorker = supervisor.state === 'running' || supervisor.state === 'starting';
  const isKnown = (row: Command): boolean => hasWorker || row.where === 'manager';
  const known = COMMANDS.filter(isKnown);
  if (call.json) return jsonReply(call, known.map(jsonRow).join(','));
  const [what] = call.args;
  if (what === undefined || what === '-a' || what === '-d') {
    const rows = known.filter((row) => what === '-a' || (row.hidden === true) === (what === '-d'));
    return ok(rows.map((row) => `${row.syntax}\n`).join(''));
  }
  if (what.startsWith('-')) return { status: CLI.UNKNOWN, body: 'Unknown flag\n' };
  const row = commandRow(what);
  if (row === undefined || !isKnown(row))
    return { status: CLI.UNKNOWN, body: "Unknown request.\nType 'help' for more info.\n" };
  return ok(`${row.syntax}\n${row.help}\n`);
};

function jsonRow(row: Command): string {
  const members = [
    `"request": ${JSON.stringify(row.name)}`,
    `"syntax": ${JSON.stringify(row.syntax)}`,
    `"help": ${JSON.stringify(row.help)}`,
    `"minarg": ${row.min}`,
    `"maxarg": ${row.max}`,
    `"flags": "${row.hidden === true ? 'd' : row.open === true ? 'i' : ''}"`,
    `"json": ${row.json}`,
  ];
  return `\n  {\n    ${members.join(',\n    ')}\n  }`;
}

const ping: ManagerHandler = (_manager, call) =>
  call.json ? jsonReply(call, ' "PONG"\n') : ok(`PONG ${Math.floor(Date.now() / 1000)} 1.0`);

export const CONNECTION_COMMANDS = {
  // Where it means anything, text-cli.ts has taken it; a second answer ends a connection as a wrong one does.
  auth: () => ({ status: CLI.CLOSE, body: '' }),
  banner: ({ banner }) => ok(banner),
  help,
  ping,
  quit: () => ({ status: CLI.CLOSE, body: 'Closing CLI connection' }),
} satisfies Partial<ManagerHandlers>;
