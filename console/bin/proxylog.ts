#!/usr/bin/env node
// proxylog: the log of a running daemon, or of a recording, as text, NDJSON or binary.
//
// Exit codes: 0; 1 for every failure, 2 when the output file cannot be opened; 130 after SIGINT. It selects
// nothing itself while connected: the daemon does, and only matches travel. SIGHUP means a new output file in
// the background and the end in the foreground; SIGUSR1 shows what is incomplete.

import { guardTerminal } from '../format/terminal-text.ts';
import { quietOnClosedPipe } from './attach.ts';
import { ArgumentError, type LogArguments, OPTSTRING, parseLogArguments } from './log-arguments.ts';
import { LogOutput } from './log-output.ts';
import type { LogSource } from './log-source.ts';
import { inBackground, toBackground } from './proxylog-background.ts';

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
 [-n <dir>]                Working directory of the daemon; else its default places
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
 [--optstring]             What getopt(3) takes, for wrapper scripts
`;

async function open(a: LogArguments, output: LogOutput): Promise<LogSource> {
  if (a.input === undefined) {
    const { followDaemon } = await import('./proxylog-follow.ts');
    return followDaemon(a, output);
  }
  const { readRecording } = await import('./proxylog-recording.ts');
  return readRecording(a, output);
}

async function main(): Promise<number> {
  const a = await parseLogArguments(process.argv.slice(2));
  if (a === 'help') {
    process.stderr.write(USAGE);
    return 0;
  }
  if (a === 'optstring') {
    process.stdout.write(`${OPTSTRING}\n`);
    return 0;
  }
  if (a === 'version') {
    const { packageVersion } = await import('./version.ts');
    process.stderr.write(`proxylog (proxyd ${packageVersion()})\n`);
    return 0;
  }
  if (a instanceof ArgumentError) {
    if (a.message !== '') process.stderr.write(`${a.message}\n`);
    if (a.usage) process.stderr.write(USAGE);
    return 1;
  }
  if (a.daemonize && !inBackground()) return toBackground();
  guardTerminal([process.stdout, process.stderr]);
  quietOnClosedPipe();
  const output = LogOutput.open(a);
  if (output instanceof ArgumentError) {
    process.stderr.write(`${output.message}\n`);
    return 2;
  }
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGHUP', () => {
    if (!a.daemonize) process.exit(0);
    const problem = output.rotate();
    if (problem === null) return;
    process.stderr.write(`${problem.message}\n`);
    process.exit(1);
  });
  const source = await open(a, output);
  process.on('SIGUSR1', () => source.flush());
  const status = await source.done;
  await output.finish();
  return status;
}

process.exit(await main());
