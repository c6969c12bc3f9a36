#!/usr/bin/env node
// proxyadm: one admin command, a script of them on standard input, or the console on a terminal.
//
// Exit codes: 0, 1 the command failed or the options are wrong, 2 no connection or a wrong value. The answer goes to
// standard output whatever its status. --readonly is kept twice: here, for every kind of daemon, and by a manager that was
// asked to. Caution: options end at the first word, so that `vcl.list -j` keeps its -j;
// several words are joined by blanks and not quoted again, because scripts bring their own quotes.

import { CommandLines } from '../../protocol/cli-quoting.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { changingCommand, notOnlyReading, refusedChange } from '../../protocol/reading.ts';
import { PROXYADM } from '../../protocol/tables/tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { sayEnd } from '../process/command-end.ts';
import { HUNG_UP, leave } from '../process/leave.ts';
import { keepOutputManners, writeOut } from '../process/standard-output.ts';
import { type Arguments, parseArguments, ValueError } from './proxyadm-arguments.ts';

/** A connection by either protocol. */
interface Connection {
  /** The commands of somebody else's daemon may be others. */
  foreign?: true;
  command(line: string): Promise<CommandReply>;
  close(): void;
}

const CONNECT_SECONDS = 5;
const AGAIN_MS = 100;

async function open(a: Arguments): Promise<Connection> {
  if (a.varnish !== undefined) {
    const [{ VarnishCommands }, { parseVarnishTarget }] = await Promise.all([
      import('../varnish/varnish-commands.ts'),
      import('../client/varnish-target.ts'),
    ]);
    // As varnishadm by itself, which waits so long for an answer and for its Varnish.
    const seconds = Math.ceil(Math.min(a.timeout ?? CONNECT_SECONDS, MAX_SECONDS));
    const commands = new VarnishCommands(parseVarnishTarget(a.varnish), seconds);
    return {
      foreign: true,
      command: async (line) => {
        const reply = await commands.command(line);
        if (reply.status === 0) throw new Error(reply.body);
        return reply;
      },
      close: () => commands.close(),
    };
  }
  const { connect, ConnectError } = await import('../client/client.ts');
  const { dir, address, secretFile, readonly } = a;
  const timeout = Math.min(a.timeout ?? CONNECT_SECONDS, MAX_SECONDS);
  const end = performance.now() + timeout * 1000;
  for (;;) {
    try {
      return await connect({ dir, address, secretFile, timeout, name: 'proxyadm', readonly });
    } catch (cause) {
      if (!(cause instanceof ConnectError)) throw cause;
      // The text CLI speaks first, which is no answer to an upgrade: try it the other way.
      if (address !== undefined && cause.kind === 'protocol') {
        const { TextCliClient } = await import('../client/text-cli-client.ts');
        const client = await TextCliClient.connect(address, secretFile, timeout);
        return { foreign: true, command: (line) => client.command(line), close: () => client.close() };
      }
      // A daemon that is only just starting will have its socket in a moment.
      const nobody = address === undefined && cause.kind === 'unreachable';
      if (!nobody || performance.now() + AGAIN_MS > end) throw cause;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** What a timer takes. */
const MAX_SECONDS = 2_000_000;

function limited(reply: Promise<CommandReply>, seconds: number | undefined): Promise<CommandReply> {
  if (seconds === undefined || seconds > MAX_SECONDS) return reply;
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([reply, late]).finally(() => clearTimeout(timer));
}

/** What --readonly has against a line; null without it, and for what only reads. */
function refusal(a: Arguments, { foreign }: Connection, line: string): CommandReply | null {
  if (!a.readonly) return null;
  const name = foreign === true ? notOnlyReading(line) : changingCommand(line);
  return name === null ? null : refusedChange(name);
}

const TRUNCATED = 201;
const CLOSED = 500;

function succeeded(status: number): boolean {
  return status === 200 || status === TRUNCATED;
}

/** Of -p the head and the body, and no newline behind it. */
function print(a: Arguments, { status, body }: CommandReply): void {
  if (a.pass) {
    const head = `${String(status).padEnd(3)} ${String(Buffer.byteLength(body)).padEnd(8)}\n`;
    writeOut(`${head}${body}`);
  } else writeOut(`${body}\n${status === TRUNCATED ? '[response was truncated]\n' : ''}`);
}

function complain(a: Arguments, { status }: CommandReply): void {
  if (!a.pass && !succeeded(status)) process.stderr.write(`Command failed with error code ${status}\n`);
}

/** Why there is no connection. */
async function whyNot({ dir, address }: Arguments, cause: Error): Promise<string> {
  if (address !== undefined) {
    const lead = `${address}: `;
    const reason = cause.message.startsWith(lead) ? cause.message.slice(lead.length) : cause.message;
    return `Connection failed (${address}): ${reason}`;
  }
  const [{ ConnectError }, { whyUnreachable }] = await Promise.all([
    import('../client/client.ts'),
    import('../client/unreachable.ts'),
  ]);
  const nobody = cause instanceof ConnectError && cause.kind === 'unreachable';
  return nobody ? whyUnreachable(dir, cause) : cause.message;
}

async function runScript(a: Arguments, connection: Connection): Promise<number> {
  const lines = new CommandLines();
  /** Something was refused: a script for --readonly is none of those that expect to end well whatever happens. */
  let refusals = 0;
  /** The exit code, null while there may be more. */
  const run = async (commands: string[]): Promise<number | null> => {
    for (const line of commands) {
      const refused = refusal(a, connection, line);
      if (refused !== null) refusals++;
      const reply = refused ?? (await limited(connection.command(line), a.timeout));
      print(a, reply);
      if (refused !== null && !a.strict) complain(a, reply);
      if (reply.status === CLOSED) return ended();
      if (a.strict && !succeeded(reply.status)) {
        complain(a, reply);
        return 1;
      }
    }
    return null;
  };
  const ended = (): number => (refusals === 0 ? 0 : 1);
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) {
    const code = await run(lines.push(chunk as string));
    if (code !== null) return code;
  }
  return (await run(lines.end())) ?? ended();
}

async function main(): Promise<number> {
  const a = parseArguments(process.argv.slice(2));
  if ('kind' in a) return sayEnd(PROXYADM, a);
  if (a.words.length === 0 && process.stdin.isTTY && process.stdout.isTTY && !a.pass) {
    const { runConsole } = await import('../tui/main.tsx');
    const { dir, address, secretFile, varnish, readonly, replay, reader } = a;
    return (
      (await runConsole({
        ...(dir === undefined ? {} : { dir }),
        ...(address === undefined ? {} : { address }),
        ...(secretFile === undefined ? {} : { secretFile }),
        ...(varnish === undefined ? {} : { varnish }),
        ...(replay === undefined ? {} : { replay }),
        readonly,
        reader,
      })) ?? 0
    );
  }
  guardTerminal([process.stdout, process.stderr]);
  let connection: Connection;
  try {
    connection = await open(a);
  } catch (cause) {
    process.stderr.write(`${await whyNot(a, cause as Error)}\n`);
    return 2;
  }
  try {
    if (a.words.length === 0) return await runScript(a, connection);
    const line = a.words.join(' ');
    const reply = refusal(a, connection, line) ?? (await limited(connection.command(line), a.timeout));
    print(a, reply);
    complain(a, reply);
    return succeeded(reply.status) ? 0 : 1;
  } catch (cause) {
    // Varnish's tool connects for each command, and the message says why it did not.
    const lost = a.varnish === undefined ? 'Connection lost: ' : '';
    process.stderr.write(`${lost}${(cause as Error).message}\n`);
    return 2;
  } finally {
    connection.close();
  }
}

function exit(code: number): void {
  // What a pipe still holds is written before the end.
  if (code === HUNG_UP || process.stdout.writableLength === 0) leave(code);
  else process.stdout.once('drain', () => process.exit(code));
}

keepOutputManners('proxyadm');
process.on('SIGINT', () => process.exit(130));
main().then(exit, (cause: unknown) => {
  if (!(cause instanceof ValueError)) throw cause;
  // A wrong value needs no reminder of all the flags.
  process.stderr.write(`${cause.message}\n`);
  process.exit(2);
});
