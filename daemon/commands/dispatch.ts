// From a command line to its reply: words, row, options and counts, then the manager's handler or the worker.
//
// Every way in (console socket, text CLI, standard input, init file) comes through here, so they all answer
// alike. Never throws: a fault in a command is status 300 with its message.

import { commandWords, MAX_COMMAND, QuotingError } from '../../protocol/cli-quoting.ts';
import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { type Command, commandRow, type ManagerCommand } from '../../protocol/tables/commands.ts';
import { CONNECTION_COMMANDS } from './connection/connection-commands.ts';
import { EVENT_COMMANDS } from './event/event-commands.ts';
import { FLEET_COMMANDS } from './fleet/fleet-commands.ts';
import type { ManagerHandlers, ManagerServices } from './manager-services.ts';
import { PARAM_COMMANDS } from './param/param-commands.ts';
import { LISTENER_COMMANDS } from './process/listener-commands.ts';
import { PANIC_COMMANDS } from './process/panic-commands.ts';
import { PROCESS_COMMANDS } from './process/process-commands.ts';
import { readCommand } from './read-command.ts';
import { cannot } from './reply.ts';
import { STORAGE_COMMANDS } from './storage/storage-commands.ts';
import { TURN_COMMANDS } from './turn/turn-commands.ts';
import { VCL_COMMANDS } from './vcl/vcl-commands.ts';

const HINT = "Type 'help' for more info.\n";

const HANDLERS: ManagerHandlers = {
  ...CONNECTION_COMMANDS,
  ...FLEET_COMMANDS,
  ...EVENT_COMMANDS,
  ...LISTENER_COMMANDS,
  ...PANIC_COMMANDS,
  ...PARAM_COMMANDS,
  ...PROCESS_COMMANDS,
  ...STORAGE_COMMANDS,
  ...TURN_COMMANDS,
  ...VCL_COMMANDS,
};

/** Runs one command line, its here-document included. */
export async function dispatch(services: ManagerServices, line: string): Promise<CommandReply> {
  if (line.length > MAX_COMMAND) return unreadable('The command is too long.');
  const words = commandWords(line);
  if (words instanceof QuotingError) return unreadable(`Syntax Error: ${words.message}`);
  const [name] = words;
  if (name === undefined) return unreadable('Empty CLI command.');
  const row = commandRow(name);
  const { supervisor, params } = services;
  try {
    if (row?.waits === 'briefly') await supervisor.settledSoon();
    else if (row?.waits === undefined) await supervisor.settled();
    const reply =
      row === undefined
        ? unknown(services, name)
        : await services.turnWatch.run(row.name, () => run(services, row, words));
    if (row?.event !== undefined && reply.status === CLI.OK) services.happened(row.event, words.join(' '));
    return truncate(reply, params.num('cli_limit'));
  } catch (cause) {
    return cannot(`Internal error: ${(cause as Error).message}`);
  }
}

function unreadable(why: string): CommandReply {
  return { status: CLI.SYNTAX, body: `Unknown request.\n${HINT}${why}\n` };
}

function run(
  services: ManagerServices,
  row: Command,
  words: readonly string[],
): CommandReply | Promise<CommandReply> {
  const { supervisor, params } = services;
  if (row.where === 'worker' && supervisor.state !== 'running') return noWorker();
  const call = readCommand(row, words);
  if ('status' in call) return call;
  if (row.where === 'worker') {
    const most = params.num('cli_limit');
    return supervisor.call({ op: 'cli', command: { ...call, most } });
  }
  return HANDLERS[row.name as ManagerCommand](services, call);
}

function unknown({ supervisor }: ManagerServices, name: string): CommandReply {
  const capital = /^[A-Z]/.test(name);
  // No worker could know an empty name either.
  if (supervisor.state !== 'running' && !capital && name !== '') return noWorker();
  const hint = capital ? 'all commands are in lower-case.\n' : '';
  return { status: CLI.UNKNOWN, body: `Unknown request.\n${HINT}${hint}` };
}

/** The reply to what only a worker could know while none runs: unknown, to the byte as scripts expect it. */
function noWorker(): CommandReply {
  return {
    status: CLI.UNKNOWN,
    body: `Unknown request in manager process (child not running).\n${HINT.trimEnd()}`,
  };
}

const NEWLINE = 10;

/** Bodies beyond cli_limit (bytes) are cut, before the last byte unless that ends a line; the status says so. */
function truncate(reply: CommandReply, limit: number): CommandReply {
  if (reply.body.length * 3 <= limit) return reply;
  if (Buffer.byteLength(reply.body) <= limit) return reply;
  // No character has less than a byte.
  const body = Buffer.from(reply.body.slice(0, limit));
  const end = body[limit - 1] === NEWLINE ? limit : limit - 1;
  // A character that was cut in two goes too.
  const cut = body.toString('utf8', 0, end).replace(/\ufffd$/, '');
  return { status: reply.status === CLI.OK ? CLI.TRUNCATED : reply.status, body: cut };
}
