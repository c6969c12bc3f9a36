#!/usr/bin/env node
// proxy-gather: writes a diagnostic archive of a daemon and its environment as tar.gz, and prints its contents. Exit
// codes: 0; 1 if the archive could not be written or an argument is wrong. A daemon that is down is not a failure.

import { hostname } from 'node:os';
import { gzipSync } from 'node:zlib';
import { type Ending, readCommandLine } from '../../protocol/command-line.ts';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { packageVersion } from '../../protocol/files/package-files.ts';
import { systemText } from '../../protocol/system-text.ts';
import { PROXY_GATHER } from '../../protocol/tables/tools.ts';
import { findDaemon } from '../client/find-daemon.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { gather } from '../gather/gather.ts';
import { Subject } from '../gather/subject.ts';
import { printEnding } from '../process/command-end.ts';
import { flushOut, keepOutputManners, writeOut } from '../process/standard-output.ts';

interface Arguments {
  dir: string | undefined;
  file: string | undefined;
  seconds: number;
}

function parseArguments(argv: readonly string[]): Arguments | Ending | { wrongValue: string } {
  const line = readCommandLine(PROXY_GATHER, argv, packageVersion());
  const out: Arguments = { dir: undefined, file: undefined, seconds: 10 };
  for (const [flag, value] of line.options) {
    if (flag === 'n') out.dir = value;
    else if (flag === 'o') out.file = value;
    else if (flag === 't') {
      out.seconds = Number(value);
      if (!(out.seconds >= 0 && out.seconds <= 3600)) {
        return { wrongValue: `-t: Invalid argument: ${value}: give seconds, from 0 to 3600` };
      }
    }
  }
  if (line.end !== null) return line.end;
  const [word] = line.words;
  return word === undefined ? out : { kind: 'mistake', message: `unexpected argument '${word}'` };
}

async function reach(a: Arguments): Promise<Subject> {
  const { dir } = findDaemon(a.dir);
  const { connect } = await import('../client/client.ts');
  try {
    return new Subject(dir, await connect({ dir, name: 'proxy-gather', timeout: 5, readonly: true }), '');
  } catch (cause) {
    return new Subject(dir, null, (cause as Error).message);
  }
}

async function main(): Promise<number> {
  keepOutputManners('proxy-gather');
  guardTerminal([process.stdout, process.stderr]);
  const a = parseArguments(process.argv.slice(2));
  if ('kind' in a) return printEnding(PROXY_GATHER, a);
  if ('wrongValue' in a) {
    process.stderr.write(`proxy-gather: ${a.wrongValue}\n`);
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
  const { tarArchive } = await import('../gather/tar.ts');
  const file = a.file ?? `${top}.tar.gz`;
  try {
    // May contain more than its creator knows: readable by the owner only.
    writeOwn(file, gzipSync(await tarArchive(entries, now)), 0o600);
  } catch (cause) {
    process.stderr.write(`proxy-gather: cannot write ${file}: ${systemText(cause)}\n`);
    return 1;
  }
  writeOut(`${contents}\n${file}\n`);
  await flushOut();
  return 0;
}

main().then(process.exit);
