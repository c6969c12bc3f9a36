#!/usr/bin/env node
// proxystat: counters once as text, JSON or XML, their list, or the console's live view on a terminal.
// Exit codes: 0, 1 for every failure. Works while the worker is stopped: the daemon then has the last values.

import type { CounterInfo, CounterSubscription } from '../../protocol/messages.ts';
import type { CounterValue } from '../format/stat-text.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { leave } from '../tui/leave.ts';
import { attach, nobodyText, parsePatience, quietOnClosedPipe, writePidFile } from './attach.ts';
import { getopt } from './getopt.ts';

const USAGE = `Usage: proxystat <options>

Options:
 [-1]                      All counters once, as text
 [-f <glob>]               Include by glob, exclude with a leading ^
 [-h]                      This text
 [-I <glob>]               Include by glob
 [-j]                      All counters once, as JSON
 [-l]                      Names and descriptions
 [-n <dir>]                Working directory of the daemon; else its default places
 [-P <file>]               Write the process id, once attached
 [-r]                      Start the live view with raw gauges
 [-t <seconds|off>]        How long to try to attach
 [-V]                      Version
 [-X <glob>]               Exclude by glob
 [-x]                      All counters once, as XML
 [--optstring]             What getopt(3) takes, for wrapper scripts
`;

/** What getopt takes; `proxystat --optstring` prints it for wrapper scripts. */
const OPTSTRING = '1f:hI:jln:P:rt:VX:x';
/** When several forms are asked for the first of these counts, as with the field's tool. */
const FORMS = ['x', 'j', '1', 'l'] as const;

interface Arguments {
  form: (typeof FORMS)[number] | 'live';
  dir: string | undefined;
  patience: number;
  pidFile: string | undefined;
  filters: NonNullable<CounterSubscription['filters']>;
}

function parseArguments(
  argv: readonly string[],
): Arguments | 'help' | 'version' | 'optstring' | { message: string; usage: boolean } {
  const parsed = getopt(argv, OPTSTRING, ['optstring']);
  if (typeof parsed === 'string') return { message: `proxystat: ${parsed}\n`, usage: true };
  const out: Arguments = { form: 'live', dir: undefined, patience: 5, pidFile: undefined, filters: [] };
  for (const [flag, value] of parsed.options) {
    if (flag === 'h') return 'help';
    if (flag === 'V') return 'version';
    if (flag === 'optstring') return 'optstring';
    if (FORMS.some((form) => form === flag)) {
      out.form = FORMS.find((form) => form === flag || form === out.form) ?? out.form;
    } else if (flag === 'I') out.filters.push({ kind: 'include', glob: value });
    else if (flag === 'X') out.filters.push({ kind: 'exclude', glob: value });
    else if (flag === 'f') {
      const exclude = value.startsWith('^');
      out.filters.push({ kind: exclude ? 'exclude' : 'include', glob: exclude ? value.slice(1) : value });
    } else if (flag === 'n') out.dir = value;
    else if (flag === 'P') out.pidFile = value;
    else if (flag === 't') {
      out.patience = parsePatience(value);
      if (Number.isNaN(out.patience)) return { message: `-t: Invalid argument: ${value}\n`, usage: false };
    }
  }
  return parsed.rest.length > 0 ? { message: '', usage: true } : out;
}

/** One reading of the counters that pass the filters, with the worker's uptime beside it. */
async function readOnce(
  a: Arguments,
  waiting: () => void,
): Promise<{ counters: CounterValue[]; uptime: number } | string> {
  const client = await attach({ name: 'proxystat', dir: a.dir, patience: a.patience, waiting });
  if (a.pidFile !== undefined) writePidFile(a.pidFile);
  const one = (filters: Arguments['filters']): Promise<CounterValue[] | string> =>
    new Promise((resolve) => {
      let info: CounterInfo[] = [];
      let values: string[] = [];
      client.stat(
        { interval: 0, filters },
        {
          counters(list) {
            info = list;
          },
          values(_at, list) {
            values = list;
          },
          end(error) {
            if (error !== null) resolve(error.message);
            else resolve(info.map((c, i) => ({ ...c, value: values[i] ?? '0' })));
          },
        },
      );
    });
  const [counters, up] = await Promise.all([one(a.filters), one([{ kind: 'include', glob: 'MAIN.uptime' }])]);
  client.close();
  if (typeof counters === 'string') return counters;
  return { counters, uptime: typeof up === 'string' ? 0 : Number(up[0]?.value ?? 0) };
}

async function live(a: Arguments): Promise<number> {
  if (!process.stdout.isTTY || !process.stdin.isTTY) {
    process.stderr.write('proxystat: the live view needs a terminal; use -1, -j, -x or -l\n');
    return 1;
  }
  const { runConsole } = await import('../tui/main.tsx');
  return runConsole({ ...(a.dir === undefined ? {} : { dir: a.dir }), view: 'stats' });
}

async function main(): Promise<number> {
  const a = parseArguments(process.argv.slice(2));
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
    process.stderr.write(`proxystat (proxyd ${packageVersion()})\n`);
    return 0;
  }
  if ('message' in a) {
    process.stderr.write(`${a.message}${a.usage ? USAGE : ''}`);
    return 1;
  }
  quietOnClosedPipe();
  if (a.form === 'live') return live(a);
  guardTerminal([process.stdout, process.stderr]);
  let read: Awaited<ReturnType<typeof readOnce>>;
  try {
    read = await readOnce(a, () => {
      process.stderr.write('.');
    });
  } catch (error) {
    const { ConnectError } = await import('../client/client.ts');
    const nobody = error instanceof ConnectError && error.kind === 'unreachable';
    const why = nobody ? nobodyText(a.dir, error as Error) : (error as Error).message;
    process.stderr.write(`${why}\n`);
    return 1;
  }
  if (typeof read === 'string') {
    process.stderr.write(`proxystat: ${read}\n`);
    return 1;
  }
  const { statJson, statLines, statList, statXml } = await import('../format/stat-text.ts');
  const { counters, uptime } = read;
  const text =
    a.form === '1'
      ? statLines(counters, uptime)
      : a.form === 'j'
        ? statJson(counters, new Date())
        : a.form === 'x'
          ? statXml(counters, new Date())
          : statList(counters);
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  return 0;
}

leave(await main());
