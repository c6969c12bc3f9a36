#!/usr/bin/env node
// proxyadm: one admin command, a script of commands on standard input, or the console on a terminal. Exit codes: 0; 1
// if the command failed or options are wrong; 2 without a connection or for a wrong value. The reply goes to standard
// output whatever its status. --readonly is enforced twice: here, for every kind of daemon, and by the manager.
// Options end at the first word, so that `vcl.list -j` keeps its -j; words are joined by blanks without quoting,
// since scripts quote themselves.

import { CommandLines } from '../../protocol/cli-quoting.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { changingCommand, notOnlyReading, refusedChange } from '../../protocol/reading.ts';
import { PROXYADM } from '../../protocol/tables/tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { keepCompiledCode } from '../process/code-cache.ts';
import { printEnding } from '../process/command-end.ts';
import { HUNG_UP, leave } from '../process/leave.ts';
import { keepOutputManners, writeOut } from '../process/standard-output.ts';
import { type Arguments, parseArguments, ValueError } from './proxyadm-arguments.ts';

/** A connection by either protocol. */
interface Connection {
  /** Another product's daemon, whose commands may differ. */
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
    // varnishadm's own timeout covers both the connection and the reply.
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
      // A text CLI sends its banner first, which is an invalid upgrade response: retry with the text protocol.
      if (address !== undefined && cause.kind === 'protocol') {
        const { TextCliClient } = await import('../client/text-cli-client.ts');
        const client = await TextCliClient.connect(address, secretFile, timeout);
        return { foreign: true, command: (line) => client.command(line), close: () => client.close() };
      }
      // A daemon that is still starting creates its socket in a moment.
      const isUnreachable = address === undefined && cause.kind === 'unreachable';
      if (!isUnreachable || performance.now() + AGAIN_MS > end) throw cause;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** Maximum of a timer. */
const MAX_SECONDS = 2_000_000;

function limited(reply: Promise<CommandReply>, seconds: number | undefined): Promise<CommandReply> {
  if (seconds === undefined || seconds > MAX_SECONDS) return reply;
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([reply, late]).finally(() => clearTimeout(timer));
}

/** Why --readonly rejects a line; null without it, and for read-only commands. */
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

/** With -p the status line and the body, without a trailing newline. */
function print(a: Arguments, { status, body }: CommandReply): void {
  if (a.pass) {
    const head = `${String(status).padEnd(3)} ${String(Buffer.byteLength(body)).padEnd(8)}\n`;
    writeOut(`${head}${body}`);
  } else writeOut(`${body}\n${status === TRUNCATED ? '[response was truncated]\n' : ''}`);
}

function complain(a: Arguments, { status }: CommandReply): void {
  if (!a.pass && !succeeded(status)) process.stderr.write(`Command failed with error code ${status}\n`);
}

/** The reason for a failed connection, as text. */
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
  const isUnreachable = cause instanceof ConnectError && cause.kind === 'unreachable';
  return isUnreachable ? whyUnreachable(dir, cause) : cause.message;
}

async function runScript(a: Arguments, connection: Connection): Promise<number> {
  const lines = new CommandLines();
  /** After a command rejected by --readonly, a script exits with failure. */
  let refusals = 0;
  /** The exit code; null if the script continues. */
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
  if ('kind' in a) return printEnding(PROXYADM, a);
  if (a.words.length === 0 && process.stdin.isTTY && process.stdout.isTTY && !a.pass) {
    keepCompiledCode(process.env);
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
    // varnishadm connects per command, and its message has the reason.
    const lost = a.varnish === undefined ? 'Connection lost: ' : '';
    process.stderr.write(`${lost}${(cause as Error).message}\n`);
    return 2;
  } finally {
    connection.close();
  }
}

function exit(code: number): void {
  // Flush pending output to pipes before exiting.
  if (code === HUNG_UP || process.stdout.writableLength === 0) leave(code);
  else process.stdout.once('drain', () => process.exit(code));
}

keepOutputManners('proxyadm');
process.on('SIGINT', () => process.exit(130));
main().then(exit, (cause: unknown) => {
  if (!(cause instanceof ValueError)) throw cause;
  // Do not print the usage for a wrong value.
  process.stderr.write(`${cause.message}\n`);
  process.exit(2);
});
