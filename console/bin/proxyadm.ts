#!/usr/bin/env node
// proxyadm: one admin command, a script of them on standard input, or the console on a terminal.
//
// Exit codes: 0, 1 the command failed, 2 no connection. The answer goes to standard output whatever its
// status. Awkward: options end at the first word, so that `vcl.list -j` keeps its -j; several words are joined
// by blanks and not quoted again, because scripts bring their own quotes.

import { CommandLines } from '../../protocol/cli-quoting.ts';
import type { CommandReply } from '../client/client.ts';
import { type Arguments, parseArguments, USAGE, UsageError } from './proxyadm-arguments.ts';

/** A connection by either protocol. */
interface Connection {
  command(line: string): Promise<CommandReply>;
  close(): void;
}

async function open(a: Arguments): Promise<Connection> {
  const { connect, ConnectError } = await import('../client/client.ts');
  const { dir, address, secretFile } = a;
  const timeout = a.timeout ?? 5;
  try {
    return await connect({ dir, address, secretFile, timeout, name: 'proxyadm' });
  } catch (cause) {
    // The text CLI speaks first, which is no answer to an upgrade: try it the other way.
    if (address === undefined || !(cause instanceof ConnectError) || cause.kind !== 'protocol') throw cause;
    const { TextCliClient } = await import('../client/text-cli-client.ts');
    return TextCliClient.connect(address, secretFile, timeout);
  }
}

function limited(reply: Promise<CommandReply>, seconds: number | undefined): Promise<CommandReply> {
  if (seconds === undefined) return reply;
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([reply, late]).finally(() => clearTimeout(timer));
}

function succeeded(status: number): boolean {
  return status === 200 || status === 201;
}

function print(a: Arguments, { status, body }: CommandReply): void {
  if (a.pass) {
    const head = `${String(status).padEnd(3)} ${String(Buffer.byteLength(body)).padEnd(8)}\n`;
    process.stdout.write(`${head}${body}\n`);
    return;
  }
  process.stdout.write(`${body}\n`);
  if (!succeeded(status)) process.stderr.write(`Command failed with error code ${status}\n`);
}

async function runScript(a: Arguments, connection: Connection): Promise<number> {
  const lines = new CommandLines();
  if (a.pass) print(a, await limited(connection.command('banner'), a.timeout));
  const run = async (commands: string[]): Promise<boolean> => {
    for (const line of commands) {
      if (line.trim() === '' && !a.pass) continue;
      const reply = await limited(connection.command(line), a.timeout);
      print(a, reply);
      if (reply.status === 500 || (a.strict && !succeeded(reply.status))) return false;
    }
    return true;
  };
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) {
    if (!(await run(lines.push(chunk as string)))) return a.strict ? 1 : 0;
  }
  return (await run(lines.end())) || !a.strict ? 0 : 1;
}

async function main(): Promise<number> {
  const a = parseArguments(process.argv.slice(2));
  if (a === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (a === 'version') {
    const { packageVersion } = await import('./version.ts');
    process.stdout.write(`proxyadm (proxyd-${packageVersion()})\n`);
    return 0;
  }
  if (a.words.length === 0 && process.stdin.isTTY && process.stdout.isTTY && !a.pass) {
    process.env.NODE_ENV ??= 'production';
    const { runConsole } = await import('../tui/main.tsx');
    const { dir, address, secretFile, readonly } = a;
    return (
      (await runConsole({
        ...(dir === undefined ? {} : { dir }),
        ...(address === undefined ? {} : { address }),
        ...(secretFile === undefined ? {} : { secretFile }),
        readonly,
      })) ?? 0
    );
  }
  let connection: Connection;
  try {
    connection = await open(a);
  } catch (cause) {
    process.stderr.write(`Could not get hold of proxyd, is it running?\n(${(cause as Error).message})\n`);
    return 2;
  }
  try {
    if (a.words.length === 0) return await runScript(a, connection);
    const reply = await limited(connection.command(a.words.join(' ')), a.timeout);
    print(a, reply);
    return succeeded(reply.status) ? 0 : 1;
  } catch (cause) {
    process.stderr.write(`Connection lost: ${(cause as Error).message}\n`);
    return 2;
  } finally {
    connection.close();
  }
}

function exit(code: number): void {
  // What a pipe still holds is written before the end.
  if (process.stdout.writableLength === 0) process.exit(code);
  process.stdout.once('drain', () => process.exit(code));
}

process.stdout.on('error', (cause: NodeJS.ErrnoException) => process.exit(cause.code === 'EPIPE' ? 0 : 1));
process.on('SIGINT', () => process.exit(130));
main().then(exit, (cause: unknown) => {
  if (!(cause instanceof UsageError)) throw cause;
  process.stderr.write(`proxyadm: ${cause.message}\n${USAGE}`);
  process.exit(1);
});
