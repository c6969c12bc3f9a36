#!/usr/bin/env node
// proxyncsa: access log lines, in the combined format by default, from a running daemon or a recording. Options,
// formats and messages are those of varnishncsa. Exit codes: 0; 1 for every failure; 130 after SIGINT.

import { readFileSync } from 'node:fs';
import type { LogTransaction } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { PROXYNCSA } from '../../protocol/tables/log-tools.ts';
import { changesOf, RELEASES, type Release } from '../../protocol/tables/release-changes.ts';
import type { Client } from '../client/client.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import type { Template } from '../ncsa/template.ts';
import { ArgumentError, type LogArguments } from './log-arguments.ts';
import { runLogTool, type ToolSink } from './log-tool.ts';

interface Own {
  /** latin1. */
  format: string | undefined;
  json: boolean;
  client: boolean;
  backend: boolean;
  esi: boolean;
  /** --release; the daemon's varnish_release if null. */
  release: Release | null;
}

const own: Own = {
  format: undefined,
  json: false,
  client: false,
  backend: false,
  esi: false,
  release: null,
};

function take(flag: string, value: string): ArgumentError | undefined {
  switch (flag) {
    case 'F':
      if (own.format !== undefined) return new ArgumentError('Format already set');
      own.format = Buffer.from(value, 'utf8').toString('latin1');
      return;
    case 'f':
      if (own.format !== undefined) return new ArgumentError('Format already set');
      return readFormat(value);
    case 'b':
      own.backend = true;
      return;
    case 'c':
      own.client = true;
      return;
    case 'E':
      own.client = true;
      own.esi = true;
      return;
    case 'release': {
      const found = RELEASES.find((release) => release === value);
      if (found === undefined)
        return new ArgumentError(`--release: one of ${RELEASES.join(', ')}, not '${value}'`);
      own.release = found;
      return;
    }
    default:
      own.json = true;
      return;
  }
}

function readFormat(path: string): ArgumentError | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch (error) {
    const directory = (error as NodeJS.ErrnoException).code === 'EISDIR';
    const what = directory ? "Can't read format from file" : "Can't open format file";
    return new ArgumentError(`${what} (${systemText(error)})`);
  }
  if (text === '') return new ArgumentError('Empty format file');
  const end = text.indexOf('\n');
  own.format = end < 0 ? text : text.slice(0, end);
  return;
}

async function check(a: LogArguments): Promise<ArgumentError | null> {
  const { grouping } = a.sub;
  if (grouping !== 'vxid' && grouping !== 'request') {
    return new ArgumentError(`Invalid grouping mode: ${grouping}`);
  }
  const template = await readTemplate();
  if (typeof template !== 'string') return null;
  return new ArgumentError(Buffer.from(template, 'latin1').toString('utf8'));
}

async function readTemplate(): Promise<Template | string> {
  const [{ DEFAULT_FORMAT }, { parseTemplate }] = await Promise.all([
    import('../ncsa/specifiers.ts'),
    import('../ncsa/template.ts'),
  ]);
  return parseTemplate(own.format ?? DEFAULT_FORMAT, own.json);
}

/** The parameter varnish_release of a daemon; 7.1 if it cannot be asked. */
async function releaseOf(client: Client): Promise<Release> {
  const { status, body } = await client.command('param.show varnish_release').catch(() => NO_ANSWER);
  return RELEASES.find((release) => status === 200 && body.includes(`Value is: ${release}`)) ?? '7.1';
}

const NO_ANSWER = { status: 0, body: '' } as const;

async function open(a: LogArguments): Promise<ToolSink | ArgumentError> {
  const [template, { groupLines }, { OutputFile }] = await Promise.all([
    readTemplate(),
    import('../ncsa/render-groups.ts'),
    import('../process/output-file.ts'),
  ]);
  if (typeof template === 'string') throw new Error(`the format was checked, yet: ${template}`);
  const cannotOpen = (error: unknown): ArgumentError =>
    new ArgumentError(`Can't open output file (${systemText(error)})`);
  guardTerminal([process.stdout]);
  const whole = a.sub.grouping === 'request';
  const newer = changesOf(own.release ?? '7.1').accessLogHeaders;
  const options = { ...own, client: own.client || !own.backend, whole, newer };
  // Have the daemon send only transactions that produce lines; with recordings the renderer decides, as in
  // varnishncsa.
  if (a.input === undefined && !whole && options.client !== options.backend) {
    if (options.client) a.sub.client = true;
    else a.sub.backend = true;
    if (options.esi) a.sub.esi = true;
  }
  try {
    // Readable by its owner and group: readers of access logs need not see the rest of the log.
    const output = new OutputFile(a.output, a.append, 0o640);
    return {
      write: (groups: readonly LogTransaction[][]) =>
        output.write(Buffer.from(groupLines(groups, template, options), 'latin1')),
      drain: (then) => output.drain(then),
      finish: () => output.finish(),
      async attached(client) {
        if (own.release === null) options.newer = changesOf(await releaseOf(client)).accessLogHeaders;
      },
      rotate() {
        try {
          output.reopen();
          return null;
        } catch (error) {
          return cannotOpen(error);
        }
      },
    };
  } catch (error) {
    return cannotOpen(error);
  }
}

runLogTool(
  { row: PROXYNCSA, own: { letters: 'bcEFfj', words: ['release'], take, check }, open },
  process.argv.slice(2),
).then(process.exit);
