// proxylog -r: prints a recording from a file or standard input in the same format as live. Groups are printed when
// their last transaction ends; unfinished ones are dropped, as in varnishlog.

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { LogTransaction } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { LogFileDecoder } from '../../queries/binary-log.ts';
import { Grouper } from '../../queries/group.ts';
import { LogSelection } from '../../queries/log-selection.ts';
import { writePidFile } from '../process/attach.ts';
import type { LogArguments } from './log-arguments.ts';
import type { LogSink, LogSource } from './log-source.ts';
import { signalReady } from './proxylog-background.ts';

export function readRecording(a: LogArguments, output: LogSink): LogSource {
  const selection = LogSelection.create(a.sub);
  if (!(selection instanceof LogSelection))
    throw new Error('arguments were checked, yet the selection fails');
  let groups: LogTransaction[][] = [];
  const grouper = new Grouper(a.sub, (group) => {
    const shown = selection.take(group, now());
    if (shown !== null) groups.push(shown);
  });
  const read = async (): Promise<number> => {
    const path = a.input as string;
    const problem = a.pidFile === undefined ? null : writePidFile(a.pidFile);
    if (problem !== null) return fail(problem);
    signalReady();
    const decoder = new LogFileDecoder();
    const input: Readable = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 1 << 18 });
    try {
      for await (const piece of input) {
        const records = decoder.push(piece as Buffer);
        if (records === null) return fail(`Not a VSL file: ${path}`);
        grouper.push(records, now());
        grouper.expire(now());
        if (groups.length > 0 && !output.write(groups)) await new Promise<void>((go) => output.drain(go));
        groups = [];
        if (selection.done) return 0;
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return fail(
        code === 'EISDIR'
          ? `VSL file read error: ${systemText(error)}`
          : `Cannot open ${path}: ${systemText(error)}`,
      );
    }
    if (selection.undecided > 0) {
      process.stderr.write(
        `${selection.undecided} records left out: matching them took too long; use a simpler expression\n`,
      );
    }
    if (!decoder.valid) return fail('VSL file read error: EOF');
    // varnishlog ends silently here; a recording truncated by a full disk deserves a message.
    if (decoder.left > 0) {
      process.stderr.write(`VSL file read error: ${decoder.left} bytes of a cut record at the end\n`);
    }
    return 0;
  };
  return {
    done: read(),
    flush() {
      grouper.flush();
      output.write(groups);
      groups = [];
    },
  };
}

function now(): number {
  return Date.now() / 1000;
}

function fail(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}
