#!/usr/bin/env node
// proxy-gather: a diagnostic archive of a daemon and its surroundings as one tar.gz, and what it contains on stdout.
// Exit codes: 0, 1 when the archive could not be written or an argument is wrong. A daemon that is down is no failure.

import { hostname } from 'node:os';
import { gzipSync } from 'node:zlib';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { findDaemon } from '../client/find-daemon.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { gather } from '../gather/gather.ts';
import { Subject } from '../gather/subject.ts';
import { tarArchive } from '../gather/tar.ts';
import { systemText } from './attach.ts';
import { getopt } from './getopt.ts';
import { packageVersion } from './version.ts';

const USAGE = `Usage: proxy-gather <options>

Collects what it takes to find out what ails a daemon: versions, flags, parameters, programs, counters,
a sample of the log, backends, bans, panics, limits of the system. Secrets are masked; look through it
before you give it away all the same.

Options:
 [-h]                      This text
 [-n <dir>]                Working directory of the daemon; else its default places
 [-o <file>]               The archive; a name with host and time in this directory unless given
 [-t <seconds>]            How long to watch counters and log, 10 unless given
 [-V]                      Version
`;

interface Arguments {
  dir: string | undefined;
  file: string | undefined;
  seconds: number;
}

function parseArguments(argv: readonly string[]): Arguments | 'help' | 'version' | { message: string } {
  const parsed = getopt(argv, 'hn:o:t:V');
  if (typeof parsed === 'string') return { message: `${parsed}\n${USAGE}` };
  const out: Arguments = { dir: undefined, file: undefined, seconds: 10 };
  for (const [flag, value] of parsed.options) {
    if (flag === 'h') return 'help';
    if (flag === 'V') return 'version';
    if (flag === 'n') out.dir = value;
    else if (flag === 'o') out.file = value;
    else if (flag === 't') {
      out.seconds = Number(value);
      if (!(out.seconds >= 0 && out.seconds <= 3600)) return { message: `-t: Invalid argument: ${value}\n` };
    }
  }
  return parsed.rest.length > 0 ? { message: USAGE } : out;
}

async function reach(a: Arguments): Promise<Subject> {
  const { dir } = findDaemon(a.dir);
  const { connect } = await import('../client/client.ts');
  try {
    return new Subject(dir, await connect({ dir, name: 'proxy-gather', timeout: 5 }), '');
  } catch (cause) {
    return new Subject(dir, null, (cause as Error).message);
  }
}

async function main(): Promise<number> {
  guardTerminal([process.stdout, process.stderr]);
  const a = parseArguments(process.argv.slice(2));
  if (a === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (a === 'version') {
    process.stdout.write(`proxy-gather (proxyd ${packageVersion()})\n`);
    return 0;
  }
  if ('message' in a) {
    process.stderr.write(`proxy-gather: ${a.message}`);
    return 1;
  }
  const subject = await reach(a);
  if (subject.client === null)
    process.stderr.write(`proxy-gather: no daemon answers: ${subject.unreachable}\n`);
  const now = new Date();
  const parts = await gather(subject, {
    version: packageVersion(),
    seconds: a.seconds,
    progress: (what) => process.stderr.write(`proxy-gather: ${what}\n`),
  });
  subject.client?.close();
  const top = `proxy-gather-${hostname()
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, 20)}-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const contents = parts.map((p) => `${p.file.padEnd(28)} ${p.what}\n`).join('');
  const entries = [{ file: 'CONTENTS.txt', text: contents }, ...parts].map(({ file, text }) => ({
    name: `${top}/${file}`,
    data: Buffer.from(text, 'utf8'),
  }));
  const file = a.file ?? `${top}.tar.gz`;
  try {
    // It may hold more than its maker knows: for its owner alone.
    writeOwn(file, gzipSync(tarArchive(entries, Math.floor(now.getTime() / 1000))), 0o600);
  } catch (cause) {
    process.stderr.write(`proxy-gather: ${file}: ${systemText(cause)}\n`);
    return 1;
  }
  process.stdout.write(`${contents}\n${file}\n`);
  return 0;
}

process.exit(await main());
