// proxylog's command line: the options of the field's log tool, turned into a subscription and where the
// output goes. Queries and filters are tried here, so that a mistake is told before anything is connected.

import { readFileSync } from 'node:fs';
import type { LogSubscription } from '../../protocol/messages.ts';
import { parsePatience } from './attach.ts';
import { getopt } from './getopt.ts';

export interface LogArguments {
  sub: LogSubscription;
  dir: string | undefined;
  patience: number;
  verbose: boolean;
  json: boolean;
  input: string | undefined;
  output: string | undefined;
  append: boolean;
  ascii: boolean;
  daemonize: boolean;
  pidFile: string | undefined;
}

/** What went wrong, and whether the usage text belongs to it. */
export class ArgumentError {
  readonly message: string;
  readonly usage: boolean;
  constructor(message: string, usage = false) {
    this.message = message;
    this.usage = usage;
  }
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

export async function parseLogArguments(
  argv: readonly string[],
): Promise<LogArguments | ArgumentError | 'help' | 'version'> {
  const parsed = getopt(argv, 'aAbcCdDEg:hi:I:k:L:n:N:P:Q:q:r:R:t:T:uvVw:x:X:', ['json']);
  if (typeof parsed === 'string') return new ArgumentError(`proxylog: ${parsed}`, true);
  const sub: LogSubscription = { grouping: 'vxid', from: 'tail' };
  const out: LogArguments = {
    sub,
    dir: undefined,
    patience: 5,
    verbose: false,
    json: false,
    input: undefined,
    output: undefined,
    append: false,
    ascii: false,
    daemonize: false,
    pidFile: undefined,
  };
  const queries: string[] = [];
  const filters: NonNullable<LogSubscription['filters']> = [];
  for (const [flag, value] of parsed.options) {
    const problem = take(flag, value, out, queries, filters);
    if (problem === 'help' || problem === 'version' || problem instanceof ArgumentError) return problem;
  }
  if (parsed.rest.length > 0) return new ArgumentError('', true);
  if (queries.length > 0) sub.query = queries.join('\n');
  if (filters.length > 0) sub.filters = filters;
  if (out.input !== undefined && out.dir !== undefined) {
    return new ArgumentError('Only one of -n and -r options may be used');
  }
  if (out.daemonize && (out.output === undefined || out.output === '-'))
    return new ArgumentError('Missing -w option');
  if (sub.grouping === 'raw' && sub.rate !== undefined && filters.length > 0) {
    return new ArgumentError('-R cannot be used with -i, -I, -x or -X in raw grouping mode');
  }
  // The query language is worth loading only where there is something to check: a one-shot should be quick.
  if (sub.query === undefined && filters.length === 0) return out;
  const { LogSelection } = await import('../../queries/log-selection.ts');
  const selection = LogSelection.create(sub);
  if (selection instanceof LogSelection) return out;
  if (selection.code === 'bad-filter') return new ArgumentError(selection.detail);
  return new ArgumentError(
    `Query expression error:\n${selection.detail}${selection.detail === '' ? '' : '\n'}`,
  );
}

/** The argument of -I and -X: [taglist:]regex. A colon preceded by nothing is an empty tag list. */
function splitRegexFilter(argument: string): { tags: string; regex: string } {
  const colon = argument.indexOf(':');
  return colon < 0
    ? { tags: '*', regex: argument }
    : { tags: argument.slice(0, colon), regex: argument.slice(colon + 1) };
}

function take(
  flag: string,
  value: string,
  out: LogArguments,
  queries: string[],
  filters: NonNullable<LogSubscription['filters']>,
): ArgumentError | 'help' | 'version' | undefined {
  const { sub } = out;
  switch (flag) {
    case 'a':
      out.append = true;
      return;
    case 'A':
      out.ascii = true;
      return;
    case 'b':
      sub.backend = true;
      return;
    case 'c':
      sub.client = true;
      return;
    case 'C':
      sub.caseless = true;
      return;
    case 'd':
      sub.from = 'head';
      sub.once = true;
      return;
    case 'D':
      out.daemonize = true;
      return;
    case 'E':
      sub.client = true;
      sub.esi = true;
      return;
    case 'g':
      if (value !== 'session' && value !== 'request' && value !== 'vxid' && value !== 'raw') {
        return new ArgumentError(`Unknown grouping type: ${value}`);
      }
      sub.grouping = value;
      return;
    case 'h':
      return 'help';
    case 'V':
      return 'version';
    case 'i':
      filters.push({ kind: 'include-tags', tags: value });
      return;
    case 'x':
      filters.push({ kind: 'exclude-tags', tags: value });
      return;
    case 'I':
      filters.push({ kind: 'include-regex', ...splitRegexFilter(value) });
      return;
    case 'X':
      filters.push({ kind: 'exclude-regex', ...splitRegexFilter(value) });
      return;
    case 'k':
      if (!/^\d+$/.test(value) || Number(value) < 1)
        return new ArgumentError(`-k: Invalid number '${value}'`);
      sub.max = Number(value);
      return;
    case 'L':
      if (!/^[+-]?\d+$/.test(value)) return new ArgumentError('-L: Syntax error');
      if (Number(value) < 1) return new ArgumentError('-L: Range error');
      sub.limit = Math.min(Number(value), 1_000_000);
      return;
    case 'T':
      if (!/^[+-]?\d+(\.\d*)?$/.test(value)) return new ArgumentError('-T: Syntax error');
      if (Number(value) < 0) return new ArgumentError('-T: Range error');
      sub.timeout = Number(value);
      return;
    case 'R': {
      const rate = parseRate(value);
      if (typeof rate === 'string') return new ArgumentError(rate);
      sub.rate = rate;
      return;
    }
    case 't':
      out.patience = parsePatience(value);
      return Number.isNaN(out.patience) ? new ArgumentError(`-t: Invalid argument: ${value}`) : undefined;
    case 'q':
      queries.push(value);
      return;
    case 'Q':
      try {
        queries.push(readFileSync(value, 'utf8'));
        return;
      } catch (error) {
        return new ArgumentError(`-Q ${value}: ${reason(error)}`);
      }
    case 'n':
      out.dir = value;
      return;
    case 'P':
      out.pidFile = value;
      return;
    case 'r':
      out.input = value;
      return;
    case 'w':
      out.output = value;
      return;
    case 'v':
      out.verbose = true;
      return;
    case 'json':
      out.json = true;
      return;
    default:
      // -u and -N: output is never held back, and there is no other file to read the log from.
      return;
  }
}

function parseRate(text: string): { count: number; period: number } | string {
  const [count, period, more] = text.split('/') as [string, string?, string?];
  if (!/^\d+$/.test(count) || Number(count) < 1) return '-R: Range error';
  if (period === undefined) return { count: Number(count), period: 1 };
  const m = /^(\d*(?:\.\d*)?)(ms|s|m|h|d|w|y)$/.exec(period);
  const seconds =
    m === null ? Number.NaN : (m[1] === '' ? 1 : Number(m[1])) * (UNITS[m[2] as string] as number);
  if (more !== undefined || !(seconds > 0)) return '-R: Syntax error: Invalid duration';
  return { count: Number(count), period: seconds };
}

/** The system's words for a failed file operation. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'No such file or directory',
    EACCES: 'Permission denied',
    EISDIR: 'Is a directory',
    ENOSPC: 'No space left on device',
    ENOTDIR: 'Not a directory',
  };
  return words[code ?? ''] ?? message;
}
