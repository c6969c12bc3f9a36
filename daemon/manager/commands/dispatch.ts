// From a command line to its reply: words, row, options and counts, then the manager's handler or the worker.
//
// All endpoints (console socket, text CLI, standard input, init file) use it, so that they answer alike. Never throws: a
// fault in a command is status 300 with its message. A command that takes longer than cli_timeout continues in the
// background; its client gets a reply at once, and its result is logged.

import { commandWords, MAX_COMMAND, QuotingError } from '../../../protocol/cli-quoting.ts';
import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import { type Command, commandRow, type ManagerCommand } from '../../../protocol/tables/commands.ts';
import { readCommand } from '../../commands/read-command.ts';
import { cannot } from '../../commands/reply.ts';
import type { ManagerCore } from '../manager-core.ts';
import { cliTimeout } from '../process/worker-process.ts';
import { atMost } from '../time-limit.ts';
import { ACME_COMMANDS } from './acme-commands.ts';
import { FLEET_COMMANDS } from './fleet-commands.ts';
import type { ManagerHandlers } from './handler.ts';
import { PARAM_COMMANDS } from './param-commands.ts';
import { PROCESS_COMMANDS } from './process-commands.ts';
import { TLS_COMMANDS } from './tls-commands.ts';
import { VCL_COMMANDS } from './vcl-commands.ts';

const HINT = "Type 'help' for more info.\n";

const HANDLERS: ManagerHandlers = {
  ...ACME_COMMANDS,
  ...FLEET_COMMANDS,
  ...PARAM_COMMANDS,
  ...PROCESS_COMMANDS,
  ...TLS_COMMANDS,
  ...VCL_COMMANDS,
};

/** Runs one command line, including its here-document. @param from the client, for the event of a ban; '' if unknown */
export async function dispatch(core: ManagerCore, line: string, from = ''): Promise<CommandReply> {
  const { supervisor, params } = core;
  const unreadable = (why: string): CommandReply => ({
    status: CLI.SYNTAX,
    body: `${params.changes.commandErrors ? '' : `Unknown request.\n${HINT}`}${why}\n`,
  });
  if (line.length > MAX_COMMAND) return unreadable('The command is too long.');
  const words = commandWords(line);
  if (words instanceof QuotingError) return unreadable(`Syntax Error: ${words.message}`);
  const [name] = words;
  if (name === undefined) return unreadable('Empty CLI command.');
  const row = commandRow(name);
  try {
    if (row?.waits === 'briefly') await supervisor.settledSoon();
    else if (row?.waits === undefined) await supervisor.settled();
    const reply =
      row === undefined
        ? unknown(core, name)
        : await core.turnWatch.run(row.name, () => run(core, row, words));
    if (row?.event !== undefined && reply.status === CLI.OK) {
      const sender = row.event === 'ban' && from !== '' ? ` (by ${from})` : '';
      core.happened(row.event, `${words.join(' ')}${sender}`);
    }
    return truncate(reply, params.num('cli_limit'));
  } catch (cause) {
    return cannot(`Internal error: ${(cause as Error).message}`);
  }
}

function run(
  core: ManagerCore,
  row: Command,
  words: readonly string[],
): CommandReply | Promise<CommandReply> {
  const { supervisor, params } = core;
  if (row.where === 'worker' && supervisor.state !== 'running') return noWorker();
  const call = readCommand(row, words);
  if ('status' in call) return call;
  if (row.where === 'worker') {
    const most = params.num('cli_limit');
    return supervisor.call({ op: 'cli', command: { ...call, most } });
  }
  return HANDLERS[row.name as ManagerCommand](core, call);
}

function unknown({ supervisor }: ManagerCore, name: string): CommandReply {
  const capital = /^[A-Z]/.test(name);
  // An empty name is unknown even to a running worker.
  if (supervisor.state !== 'running' && !capital && name !== '') return noWorker();
  const hint = capital ? 'all commands are in lower-case.\n' : '';
  return { status: CLI.UNKNOWN, body: `Unknown request.\n${HINT}${hint}` };
}

/** The reply for a command that only a worker could know while none runs: "unknown", byte for byte as scripts expect
 * it. */
function noWorker(): CommandReply {
  return {
    status: CLI.UNKNOWN,
    body: `Unknown request in manager process (child not running).\n${HINT.trimEnd()}`,
  };
}

const NEWLINE = 10;

/** Cuts a body longer than cli_limit (bytes), before the last byte unless that is a newline; the status says so. */
function truncate(reply: CommandReply, limit: number): CommandReply {
  if (reply.body.length * 3 <= limit) return reply;
  if (Buffer.byteLength(reply.body) <= limit) return reply;
  // A character takes at least one byte.
  const body = Buffer.from(reply.body.slice(0, limit));
  const end = body[limit - 1] === NEWLINE ? limit : limit - 1;
  // Drops a character that was cut in two.
  const cut = body.toString('utf8', 0, end).replace(/\ufffd$/, '');
  return { status: reply.status === CLI.OK ? CLI.TRUNCATED : reply.status, body: cut };
}

/** Commands that may run beyond the time limit at once (chosen): more come only from a worker that never answers. */
const MOST = 100;

export class LongCommands {
  readonly #core: ManagerCore;
  #late = 0;

  constructor(core: ManagerCore) {
    this.#core = core;
  }

  /** dispatch() with the time limit. */
  async run(line: string, from = ''): Promise<CommandReply> {
    const [name = ''] = line.trim().split(/\s/, 1);
    // Status commands, stop and start remain available: they are needed in that situation.
    if (this.#late >= MOST && commandRow(name)?.waits === undefined)
      return cannot(`${MOST} commands exceed the time limit: wait for them, or stop and start the worker.\n`);
    const began = performance.now();
    const seconds = cliTimeout(this.#core.params);
    const reply = dispatch(this.#core, line, from);
    const first = await atMost(seconds * 1000, reply);
    if (first !== null) return first;
    this.#late++;
    this.#report(`${name} takes longer than ${seconds} s (cli_timeout) and continues in the background`);
    const ended = (how: string): void => {
      this.#late--;
      const took = ((performance.now() - began) / 1000).toFixed(1);
      this.#report(`${name} ended after ${took} s ${how}`);
    };
    reply.then(
      ({ status }) => ended(`with status ${status}`),
      (cause: Error) => ended(`in an error: ${cause.message}`),
    );
    return cannot(
      `${name} takes longer than ${seconds} s (cli_timeout) and continues in the background; event.list and the daemon's log will report its end.\n`,
    );
  }

  #report(text: string): void {
    this.#core.log('warning', text);
    this.#core.happened('trouble', text);
  }
}
