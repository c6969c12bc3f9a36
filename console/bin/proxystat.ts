#!/usr/bin/env node
// proxystat: counters as text, JSON or XML, their list, or the console's live view on a terminal; without a terminal,
// text. Exit codes: 0; 1 for every failure. Works while the worker is stopped: the daemon has its last values.

import { type Ending, readCommandLine } from '../../protocol/command-line.ts';
import { packageVersion } from '../../protocol/files/package-files.ts';
import type { CounterInfo, CounterSubscription } from '../../protocol/messages.ts';
import { PROXYSTAT } from '../../protocol/tables/tools.ts';
import type { CounterValue } from '../format/stat-text.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { attach, parseAttachTimeout, writePidFile } from '../process/attach.ts';
import { keepCompiledCode } from '../process/code-cache.ts';
import { printEnding } from '../process/command-end.ts';
import { leave } from '../process/leave.ts';
import { flushOut, keepOutputManners, writeOut } from '../process/standard-output.ts';

/** In order of precedence if several formats are given, as in varnishstat. */
const FORMS = ['x', 'j', '1', 'l'] as const;

interface Arguments {
  form: (typeof FORMS)[number] | 'live';
  dir: string | undefined;
  attachTimeout: number;
  pidFile: string | undefined;
  /** The live view even without a terminal, which is then refused. */
  curses: boolean;
  /** Unscaled gauges in the live view. */
  raw: boolean;
  filters: NonNullable<CounterSubscription['filters']>;
}

function parseArguments(argv: readonly string[]): Arguments | Ending | { wrongValue: string } {
  const line = readCommandLine(PROXYSTAT, argv, packageVersion());
  const out: Arguments = {
    form: 'live',
    dir: undefined,
    attachTimeout: 5,
    pidFile: undefined,
    curses: false,
    raw: false,
    filters: [],
  };
  for (const [flag, value] of line.options) {
    if (FORMS.some((form) => form === flag)) {
      out.form = FORMS.find((form) => form === flag || form === out.form) ?? out.form;
    } else if (flag === 'I') out.filters.push({ kind: 'include', glob: value });
    else if (flag === 'X') out.filters.push({ kind: 'exclude', glob: value });
    else if (flag === 'f') {
      const exclude = value.startsWith('^');
      out.filters.push({ kind: exclude ? 'exclude' : 'include', glob: exclude ? value.slice(1) : value });
    } else if (flag === 'r') out.raw = true;
    else if (flag === 'c') out.curses = true;
    else if (flag === 'n') out.dir = value;
    else if (flag === 'P') out.pidFile = value;
    else if (flag === 't') {
      out.attachTimeout = parseAttachTimeout(value);
      if (Number.isNaN(out.attachTimeout)) return { wrongValue: `-t: Invalid argument: ${value}` };
    }
  }
  if (line.end !== null) return line.end;
  const [word] = line.words;
  return word === undefined ? out : { kind: 'mistake', message: `unexpected argument '${word}'` };
}

/** One sample of the counters selected by the filters, with the worker's uptime. */
async function readOnce(
  a: Arguments,
  waiting: () => void,
): Promise<{ counters: CounterValue[]; uptime: number } | string> {
  const client = await attach({ name: 'proxystat', dir: a.dir, timeout: a.attachTimeout, waiting });
  const problem = a.pidFile === undefined ? null : writePidFile(a.pidFile);
  if (problem !== null) {
    client.close();
    return problem;
  }
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
  keepCompiledCode(process.env);
  const { runConsole } = await import('../tui/main.tsx');
  const problem = a.pidFile === undefined ? null : writePidFile(a.pidFile);
  if (problem !== null) {
    process.stderr.write(`proxystat: ${problem}\n`);
    return 1;
  }
  const { filters, raw } = a;
  return runConsole({
    ...(a.dir === undefined ? {} : { dir: a.dir }),
    view: 'stats',
    counters: { filters, raw },
  });
}

async function main(): Promise<number> {
  const a = parseArguments(process.argv.slice(2));
  if ('kind' in a) return printEnding(PROXYSTAT, a);
  if ('wrongValue' in a) {
    process.stderr.write(`${a.wrongValue}\n`);
    return 1;
  }
  keepOutputManners('proxystat');
  const isTerminal = process.stdout.isTTY === true && process.stdin.isTTY === true;
  if (a.form === 'live' && isTerminal) return live(a);
  if (a.curses && a.form === 'live') {
    process.stderr.write('proxystat: the live view (-c) needs a terminal\n');
    return 1;
  }
  guardTerminal([process.stdout, process.stderr]);
  let read: Awaited<ReturnType<typeof readOnce>>;
  try {
    read = await readOnce(a, () => {
      process.stderr.write('.');
    });
  } catch (error) {
    const { ConnectError } = await import('../client/client.ts');
    const { whyUnreachable } = await import('../client/unreachable.ts');
    const isUnreachable = error instanceof ConnectError && error.kind === 'unreachable';
    const why = isUnreachable ? whyUnreachable(a.dir, error) : (error as Error).message;
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
    a.form === 'l'
      ? statList(counters)
      : a.form === 'j'
        ? statJson(counters, new Date())
        : a.form === 'x'
          ? statXml(counters, new Date())
          : statLines(counters, uptime);
  // varnishstat is silent; its status and output are kept for scripts.
  if (counters.length === 0)
    process.stderr.write('proxystat: no counter matches -f, -I and -X; -l lists their names\n');
  writeOut(text);
  await flushOut();
  return 0;
}

main().then(leave);
