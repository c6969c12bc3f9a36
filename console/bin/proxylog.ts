#!/usr/bin/env node
// proxylog: the log of a running daemon, or of a recording, as text, NDJSON or binary.
//
// Exit codes: 0, 1 for every failure, 130 after SIGINT. It selects nothing itself while connected: the daemon
// does, and only matches travel. Awkward: with a live daemon -P is written only once the subscription is in
// place, and when the daemon goes away the tool waits and attaches again, as operators expect of a log tool.

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { decodeLogFrame } from '../../protocol/log-frame.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import type { Client } from '../client/client.ts';
import { attach, quietOnClosedPipe, writePidFile } from './attach.ts';
import { ArgumentError, type LogArguments, parseLogArguments, reason } from './log-arguments.ts';
import { LogOutput } from './log-output.ts';

const USAGE = `Usage: proxylog <options>

Options:
 [-a]                      Append to the file of -w
 [-A]                      Text into the file of -w
 [-b]                      Backend side only
 [-c]                      Client side only
 [-C]                      Regular expressions ignore case
 [-d]                      What the log holds now, then exit
 [-D]                      Go to the background
 [-E]                      Client side with ESI subrequests
 [-g <session|request|vxid|raw>] Grouping (default: vxid)
 [-h]                      This text
 [-i <taglist>]            Include tags
 [-I <[taglist:]regex>]    Include by regex
 [-k <num>]                Exit after this many transactions
 [-L <limit>]              Incomplete transactions to keep
 [-n <dir>]                Working directory of the daemon
 [-P <file>]               Write the process id, once attached
 [-Q <file>]               Query from a file
 [-q <query>]              Query
 [-r <filename>]           Read a binary file, - for standard input
 [-R <limit[/duration]>]   Limit the rate of output
 [-t <seconds|off>]        How long to try to attach
 [-T <seconds>]            How long a transaction may stay incomplete
 [-u]                      Unbuffered output (always so)
 [-v]                      Transaction id and side on every line
 [-V]                      Version
 [-w <filename>]           Write to a file, binary unless -A
 [-x <taglist>]            Exclude tags
 [-X <[taglist:]regex>]    Exclude by regex
 [--json]                  One JSON object per transaction and line
`;

/** Splits a frame's transactions into groups. */
function groupsOf(transactions: readonly LogTransaction[]): LogTransaction[][] {
  const groups: LogTransaction[][] = [];
  for (const tx of transactions) {
    const last = groups.at(-1);
    if (last === undefined || tx.first === true) groups.push([tx]);
    else last.push(tx);
  }
  return groups;
}

async function followDaemon(a: LogArguments, output: LogOutput): Promise<number> {
  let patience = a.patience;
  for (let first = true; ; first = false) {
    let client: Client;
    try {
      client = await attach({ name: 'proxylog', dir: a.dir, patience });
    } catch (error) {
      process.stderr.write(`proxylog: could not attach to proxyd: ${(error as Error).message}\n`);
      return 1;
    }
    if (!first) process.stderr.write('Log reacquired\n');
    const end = await subscribe(a, client, output, first);
    if (end !== 'lost') return end;
    process.stderr.write('Log abandoned\n');
    if (a.sub.once === true) return 1;
    patience = Number.POSITIVE_INFINITY;
  }
}

function subscribe(
  a: LogArguments,
  client: Client,
  output: LogOutput,
  first: boolean,
): Promise<number | 'lost'> {
  return new Promise((resolve) => {
    client.log(a.sub, {
      ready() {
        if (first && a.pidFile !== undefined) writePidFile(a.pidFile);
      },
      frame(data) {
        const frame = decodeLogFrame(data);
        if (frame === null || output.write(groupsOf(frame.transactions))) return;
        client.pause();
        output.drain(() => client.resume());
      },
      lost(records, why) {
        if (why !== 'rate') process.stderr.write(`Log overrun: ${records} records lost (${why})\n`);
      },
      end(error) {
        if (client.closed) {
          resolve('lost');
          return;
        }
        if (error !== null) process.stderr.write(`proxylog: ${error.detail ?? error.message}\n`);
        client.close();
        resolve(error === null ? 0 : 1);
      },
    });
  });
}

async function readFile(a: LogArguments, output: LogOutput): Promise<number> {
  const [{ Grouper }, { LogSelection }, { LogFileDecoder }] = await Promise.all([
    import('../../queries/group.ts'),
    import('../../queries/log-selection.ts'),
    import('../../queries/log-file.ts'),
  ]);
  const path = a.input as string;
  const selection = LogSelection.create(a.sub);
  if (!(selection instanceof LogSelection)) return 1;
  let groups: LogTransaction[][] = [];
  const now = (): number => Date.now() / 1000;
  const grouper = new Grouper(a.sub, (group) => {
    const shown = selection.take(group, now());
    if (shown !== null) groups.push(shown);
  });
  const decoder = new LogFileDecoder();
  const input: Readable = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 1 << 20 });
  if (a.pidFile !== undefined) writePidFile(a.pidFile);
  try {
    for await (const piece of input) {
      const records = decoder.push(piece as Buffer);
      if (records === null) {
        process.stderr.write(`Not a VSL file: ${path}\n`);
        return 1;
      }
      grouper.push(records, now());
      grouper.expire(now());
      if (groups.length > 0 && !output.write(groups)) await new Promise<void>((go) => output.drain(go));
      groups = [];
      if (selection.done) break;
    }
  } catch (error) {
    process.stderr.write(`Cannot open ${path}: ${reason(error)}\n`);
    return 1;
  }
  if (decoder.valid) return 0;
  process.stderr.write('VSL file read error: EOF\n');
  return 1;
}

/** Starts the same command without -D in a session of its own. */
async function toBackground(): Promise<number> {
  const { spawn } = await import('node:child_process');
  const args = process.argv.slice(1).flatMap((arg) => {
    if (!/^-[a-zA-Z]*D/.test(arg)) return [arg];
    return arg === '-D' ? [] : [arg.replace('D', '')];
  });
  spawn(process.execPath, args, { detached: true, stdio: 'ignore' }).unref();
  return 0;
}

async function main(): Promise<number> {
  const a = await parseLogArguments(process.argv.slice(2));
  if (a === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (a === 'version') {
    const { packageVersion } = await import('./version.ts');
    process.stdout.write(`proxylog (proxyd ${packageVersion()})\n`);
    return 0;
  }
  if (a instanceof ArgumentError) {
    if (a.message !== '') process.stderr.write(`${a.message}\n`);
    if (a.usage) process.stderr.write(USAGE);
    return 1;
  }
  if (a.daemonize) return toBackground();
  quietOnClosedPipe();
  const output = LogOutput.open(a);
  if (output instanceof ArgumentError) {
    process.stderr.write(`${output.message}\n`);
    return 1;
  }
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGHUP', () => {
    if (a.output === undefined || a.output === '-') process.exit(0);
    output.rotate();
  });
  const status = a.input === undefined ? await followDaemon(a, output) : await readFile(a, output);
  await output.finish();
  return status;
}

process.exit(await main());
