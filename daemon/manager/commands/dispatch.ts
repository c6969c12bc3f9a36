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
import { FLEET_COMMANDS } from './fleet-commands.ts';
import { PARAM_COMMANDS } from './param-commands.ts';
import { PROCESS_COMMANDS } from './process-commands.ts';
import type { ManagerHandlers, ManagerServices } from './services.ts';
import { VCL_COMMANDS } from './vcl-commands.ts';

const HINT = "Type 'help' for more info.\n";

const HANDLERS: ManagerHandlers = {
  ...FLEET_COMMANDS,
  ...PARAM_COMMANDS,
  ...PROCESS_COMMANDS,
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

/** Commands that may go on at the same time (chosen): more come only of a worker in which they never end. */
const MOST = 100;

export interface LongCommandsHost {
  /** Seconds. */
  patience(): number;
  /** Something that operators should see wherever they look. */
  tell(text: string): void;
}

export class LongCommands {
  readonly #host: LongCommandsHost;
  #goOn = 0;

  constructor(host: LongCommandsHost) {
    this.#host = host;
  }

  async run(line: string, command: (line: string) => Promise<CommandReply>): Promise<CommandReply> {
    const [name = ''] = line.trim().split(/\s/, 1);
    // Those that say how things are, and stop and start, are what helps then.
    if (this.#goOn >= MOST && commandRow(name)?.waits === undefined)
      return cannot(
        `${MOST} commands take too long and go on: wait for them, or stop and start the worker.\n`,
      );
    const began = performance.now();
    const seconds = this.#host.patience();
    const reply = command(line);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), seconds * 1000);
    });
    const first = await Promise.race([reply, late]);
    clearTimeout(timer);
    if (first !== null) return first;
    this.#goOn++;
    this.#host.tell(`${name} takes longer than ${seconds} s (cli_timeout): it goes on`);
    const ended = (how: string): void => {
      this.#goOn--;
      const took = ((performance.now() - began) / 1000).toFixed(1);
      this.#host.tell(`${name} ended after ${took} s ${how}`);
    };
    reply.then(
      ({ status }) => ended(`with status ${status}`),
      (cause: Error) => ended(`in an error: ${cause.message}`),
    );
    return cannot(
      `${name} takes longer than ${seconds} s (cli_timeout). It goes on; event.list and the daemon's log will say how it ended.\n`,
    );
  }
}
