// From a command line to its answer: words, table, argument counts, then the manager's or the worker's part.
//
// Every way in (console socket, text CLI, standard input, init file) comes through here, so they all answer
// alike. Never throws: a fault in a command is status 300 with its message.

import { parseCommand, QuotingError } from '../../protocol/cli-quoting.ts';
import { CLI } from '../../protocol/errors.ts';
import { type CommandName, commandRow } from '../../protocol/tables/commands.ts';
import { help } from './commands/help.ts';
import { paramReset, paramSet, paramShow } from './commands/param.ts';
import * as process_ from './commands/process.ts';
import * as vcl from './commands/vcl.ts';
import { type CliReply, type Command, cannot, type ManagerCore, ok } from './core.ts';

const HINT = "Type 'help' for more info.\n";
const TRUNCATED = '\n[response was truncated]\n';

const HANDLERS: Partial<Record<CommandName, Command>> = {
  auth: process_.auth,
  banner: process_.banner,
  'debug.listen_address': process_.listenList,
  help,
  'listen.list': process_.listenList,
  'panic.clear': process_.panicClear,
  'panic.show': process_.panicShow,
  'param.reset': paramReset,
  'param.set': paramSet,
  'param.show': paramShow,
  pid: process_.pid,
  ping: process_.ping,
  quit: process_.quit,
  start: process_.start,
  status: process_.status,
  stop: process_.stop,
  'storage.list': process_.storageList,
  'vcl.deps': vcl.vclDeps,
  'vcl.discard': vcl.vclDiscard,
  'vcl.inline': vcl.vclInline,
  'vcl.label': vcl.vclLabel,
  'vcl.list': vcl.vclList,
  'vcl.load': vcl.vclLoad,
  'vcl.show': vcl.vclShow,
  'vcl.state': vcl.vclState,
  'vcl.use': vcl.vclUse,
};

/** Commands that do not wait for a worker that is starting. */
const ANY_TIME: ReadonlySet<string> = new Set(['banner', 'help', 'pid', 'ping', 'quit', 'status']);

/** Runs one command line, its here-document included. */
export async function dispatch(core: ManagerCore, line: string): Promise<CliReply> {
  const words = parseCommand(line);
  if (words instanceof QuotingError) {
    return { status: CLI.SYNTAX, body: `Unknown request.\n${HINT}Syntax Error: ${words.message}\n` };
  }
  if (words.length === 0) return ok();
  try {
    if (!ANY_TIME.has(words[0] as string)) await core.supervisor.settled();
    return truncate(await run(core, words), core.params.num('cli_limit'));
  } catch (cause) {
    return cannot(`Internal error: ${(cause as Error).message}`);
  }
}

function run(core: ManagerCore, words: readonly string[]): CliReply | Promise<CliReply> {
  const name = words[0] as string;
  const row = commandRow(name);
  if (row === undefined) {
    if (core.supervisor.state !== 'running') return noWorker();
    const hint = /^[A-Z]/.test(name) ? 'all commands are in lower-case.\n' : '';
    return { status: CLI.UNKNOWN, body: `Unknown request.\n${HINT}${hint}` };
  }
  const json = words[1] === '-j';
  if (json && !row.json) return { status: CLI.UNIMPLEMENTED, body: 'JSON unimplemented\n' };
  const args = words.slice(json ? 2 : 1);
  if (args.length < row.min) return { status: CLI.TOO_FEW, body: 'Too few parameters\n' };
  if (row.max >= 0 && args.length > row.max) return { status: CLI.TOO_MANY, body: 'Too many parameters\n' };
  const handler = HANDLERS[name as CommandName];
  if (handler !== undefined) return handler(core, { words, args, json });
  if (core.supervisor.state !== 'running') return noWorker();
  return core.supervisor.call({ op: 'cli', argv: [...words] });
}

/** What only a worker could know while none runs: unknown, to the byte as scripts expect it. */
function noWorker(): CliReply {
  return {
    status: CLI.UNKNOWN,
    body: `Unknown request in manager process (child not running).\n${HINT.trimEnd()}`,
  };
}

/** Bodies beyond cli_limit (bytes) are cut and say so. */
function truncate(reply: CliReply, limit: number): CliReply {
  if (reply.body.length * 3 <= limit || Buffer.byteLength(reply.body) <= limit) return reply;
  const cut = Buffer.from(reply.body).subarray(0, limit).toString('utf8');
  return { status: reply.status === CLI.OK ? CLI.TRUNCATED : reply.status, body: cut + TRUNCATED };
}
