// proxylog's command line: the options of the field's log tool, turned into a subscription and where the
// output goes. Queries and filters are tried here, so that a mistake is told before anything is connected.
//
// Awkward: what is wrong with one option is told where it stands, what is wrong between options after all of
// them, the query last; scripts compare the one message they get.

import { readFileSync, statSync } from 'node:fs';
import type { LogSubscription } from '../../protocol/messages.ts';
import { parsePatience, systemText } from './attach.ts';
import { getopt } from './getopt.ts';
import {
  parseCount,
  parseGrouping,
  parseLimit,
  parseRate,
  parseTimeout,
  splitRegexFilter,
} from './log-values.ts';

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

/** What getopt takes; `proxylog --optstring` prints it for wrapper scripts. */
export const OPTSTRING = 'aAbcCdDEg:hi:I:k:L:n:P:Q:q:r:R:t:T:uvVw:x:X:';

export async function parseLogArguments(
  argv: readonly string[],
): Promise<LogArguments | ArgumentError | 'help' | 'version' | 'optstring'> {
  const parsed = getopt(argv, OPTSTRING, ['json', 'optstring']);
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
    if (problem !== undefined) return problem;
    if (flag === 'C') keepCase(filters);
    if (!'iIxX'.includes(flag)) continue;
    const [{ compileRecordFilters }, { Effort }] = await Promise.all([
      import('../../queries/record-filter.ts'),
      import('../../queries/text-pattern.ts'),
    ]);
    const tried = compileRecordFilters(filters.slice(-1), sub.caseless === true, Effort.alone());
    if ('error' in tried) return new ArgumentError(tried.error);
  }
  if (parsed.rest.length > 0) return new ArgumentError('', true);
  if (queries.length > 0) sub.query = queries.join('');
  if (filters.length > 0) sub.filters = filters;
  if (out.output !== undefined && !out.ascii && !out.json) sub.recording = true;
  if (out.daemonize) {
    if (out.output === undefined) return new ArgumentError('Missing -w option');
    if (out.output === '-') return new ArgumentError('Daemon cannot write to stdout');
  }
  if (out.input !== undefined && out.dir !== undefined) {
    return new ArgumentError('Only one of -n and -r options may be used');
  }
  if (out.daemonize && out.input === '-') return new ArgumentError('Daemon cannot read from stdin');
  // The query language is worth loading only where there is something to check: a one-shot should be quick.
  if (sub.query === undefined) return out;
  const { LogSelection } = await import('../../queries/log-selection.ts');
  const selection = LogSelection.create(sub);
  if (selection instanceof LogSelection) return out;
  return new ArgumentError(
    `Query expression error:\n${selection.detail}${selection.detail === '' ? '' : '\n'}`,
  );
}

/** -C speaks of the expressions behind it: those before it go on as they are. */
function keepCase(filters: NonNullable<LogSubscription['filters']>): void {
  for (const f of filters) {
    if ('regex' in f && !f.regex.startsWith('(?-i)')) f.regex = `(?-i)${f.regex}`;
  }
}

/** Queries are lines of one text. A file's own last newline separates already. */
function addQuery(queries: string[], text: string, fromFile: boolean): void {
  const last = queries.at(-1);
  if (last !== undefined && last !== '\n') queries.push('\n');
  if (fromFile && text.endsWith('\n')) queries.push(text.slice(0, -1), '\n');
  else queries.push(text);
}

function take(
  flag: string,
  value: string,
  out: LogArguments,
  queries: string[],
  filters: NonNullable<LogSubscription['filters']>,
): ArgumentError | 'help' | 'version' | 'optstring' | undefined {
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
    case 'g': {
      const grouping = parseGrouping(value);
      if (grouping === 'ambiguous' || grouping === 'unknown') {
        const what = grouping === 'ambiguous' ? 'Ambiguous' : 'Unknown';
        return new ArgumentError(`${what} grouping type: ${value}`);
      }
      sub.grouping = grouping;
      return;
    }
    case 'optstring':
      return 'optstring';
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
    case 'k': {
      const count = parseCount(value);
      if (Number.isNaN(count)) return new ArgumentError(`-k: Invalid number '${value}'`);
      sub.max = count;
      return;
    }
    case 'L': {
      const limit = parseLimit(value);
      if (typeof limit === 'string') return new ArgumentError(`-L: ${limit}`);
      sub.limit = Math.min(limit, 1_000_000);
      return;
    }
    case 'T': {
      const timeout = parseTimeout(value);
      if (typeof timeout === 'string') return new ArgumentError(`-T: ${timeout}`);
      sub.timeout = timeout;
      return;
    }
    case 'R': {
      const rate = parseRate(value);
      if (typeof rate === 'string') return new ArgumentError(`-R: ${rate}`);
      sub.rate = rate;
      return;
    }
    case 't':
      out.patience = parsePatience(value);
      return Number.isNaN(out.patience) ? new ArgumentError(`-t: Invalid argument: ${value}`) : undefined;
    case 'q':
      addQuery(queries, value, false);
      return;
    case 'Q':
      try {
        // What is no file has no text; the field's tool then names an error that is none.
        if (!statSync(value).isFile()) return new ArgumentError(`-Q ${value}: Success`);
        addQuery(queries, readFileSync(value, 'utf8'), true);
        return;
      } catch (error) {
        return new ArgumentError(`-Q ${value}: ${systemText(error)}`);
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
      // -u: output is never held back.
      return;
  }
}
