// From a command line to its answer: words, table, argument counts, then the manager's or the worker's part.
//
// Every way in (console socket, text CLI, standard input, init file) comes through here, so they all answer
// alike. Never throws: a fault in a command is status 300 with its message.

import { MAX_COMMAND, parseCommand, QuotingError } from '../../protocol/cli-quoting.ts';
import { CLI } from '../../protocol/errors.ts';
import { type CommandName, commandRow } from '../../protocol/tables/commands.ts';
import { help } from './commands/help.ts';
import { paramReset, paramSet, paramShow } from './commands/param.ts';
import * as process_ from './commands/process.ts';
import * as vcl from './commands/vcl.ts';
import { type CliReply, type Command, cannot, type ManagerCore } from './core.ts';

const HINT = "Type 'help' for more info.\n";

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
const ANY_TIME: ReadonlySet<string> = new Set(['banner', 'help', 'ping', 'quit']);

/** Commands that wait a moment at the most: what only asks, and what an operator has when a start gets nowhere. */
const SOON: ReadonlySet<string> = new Set([
  'debug.listen_address',
  'listen.list',
  'panic.clear',
  'panic.show',
  'param.show',
  'pid',
  'start',
  'status',
  'stop',
  'storage.list',
]);

/** Commands whose arguments are conditions of three words with && between them. */
const EXPRESSIONS: ReadonlySet<string> = new Set(['ban', 'ban.count', 'ban.soft']);

/** A dash ahead of a command: it may fail. That concerns those who run a file of them; here it is read past. */
const MAY_FAIL = /^\s*-/;

/** Runs one command line, its here-document included. */
export async function dispatch(core: ManagerCore, line: string): Promise<CliReply> {
  if (line.length > MAX_COMMAND) return unreadable('The command is too long.');
  const words = parseCommand(line.replace(MAY_FAIL, ''));
  if (words instanceof QuotingError) return unreadable(`Syntax Error: ${words.message}`);
  if (words.length === 0) return unreadable('Empty CLI command.');
  try {
    const [name = ''] = words;
    if (SOON.has(name)) await core.supervisor.settledSoon();
    else if (!ANY_TIME.has(name)) await core.supervisor.settled();
    return truncate(await run(core, words), core.params.num('cli_limit'));
  } catch (cause) {
    return cannot(`Internal error: ${(cause as Error).message}`);
  }
}

function unreadable(why: string): CliReply {
  return { status: CLI.SYNTAX, body: `Unknown request.\n${HINT}${why}\n` };
}

/** An expression may come as one quoted word, as scripts have it: then its blanks separate all the same. */
function splitExpression(words: readonly string[]): readonly string[] {
  if (!EXPRESSIONS.has(words[0] as string)) return words;
  const conditions = (list: readonly string[]): boolean =>
    (list.length - (list[1] === '-j' ? 2 : 1)) % 4 === 3;
  const split = words.flatMap((word) => word.split(/\s+/));
  return !conditions(words) && conditions(split) ? split : words;
}

function run(core: ManagerCore, given: readonly string[]): CliReply | Promise<CliReply> {
  const words = splitExpression(given);
  const name = words[0] as string;
  const row = commandRow(name);
  if (row === undefined) {
    const capital = /^[A-Z]/.test(name);
    if (core.supervisor.state !== 'running' && !capital) return noWorker();
    const hint = capital ? 'all commands are in lower-case.\n' : '';
    return { status: CLI.UNKNOWN, body: `Unknown request.\n${HINT}${hint}` };
  }
  if (row.where === 'worker' && core.supervisor.state !== 'running') return noWorker();
  const json = words[1] === '-j';
  if (json && !row.json) return { status: CLI.UNIMPLEMENTED, body: 'JSON unimplemented\n' };
  const args = words.slice(json ? 2 : 1);
  if (args.length < row.min) return { status: CLI.TOO_FEW, body: 'Too few parameters\n' };
  if (row.max >= 0 && args.length > row.max) return { status: CLI.TOO_MANY, body: 'Too many parameters\n' };
  const handler = HANDLERS[name as CommandName];
  if (handler !== undefined) return handler(core, { words, args, json });
  return core.supervisor.call({ op: 'cli', argv: [...words] });
}

/** What only a worker could know while none runs: unknown, to the byte as scripts expect it. */
function noWorker(): CliReply {
  return {
    status: CLI.UNKNOWN,
    body: `Unknown request in manager process (child not running).\n${HINT.trimEnd()}`,
  };
}

const NEWLINE = 10;

/** Bodies beyond cli_limit (bytes) are cut, before the last byte unless that ends a line; the status says so. */
function truncate(reply: CliReply, limit: number): CliReply {
  if (reply.body.length * 3 <= limit) return reply;
  const body = Buffer.from(reply.body);
  if (body.length <= limit) return reply;
  const end = body[limit - 1] === NEWLINE ? limit : limit - 1;
  // A character that was cut in two goes too.
  const cut = body.toString('utf8', 0, end).replace(/\ufffd$/, '');
  return { status: reply.status === CLI.OK ? CLI.TRUNCATED : reply.status, body: cut };
}
