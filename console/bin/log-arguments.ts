// Command line of the tools that read the log, parsed into a subscription and an output. Queries and filters are
// compiled here, so that mistakes are reported before connecting. Order of errors, which scripts depend on: those of
// single options in order, then combinations of options, the query, the time limit of -t. A tool's own options are
// handed to it in order with the others.

import { readFileSync, statSync } from 'node:fs';
import { type Ending, readCommandLine } from '../../protocol/command-line.ts';
import { packageVersion } from '../../protocol/files/package-files.ts';
import type { LogSubscription } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import type { ToolRow } from '../../protocol/tables/tool-row.ts';
import { parseAttachTimeout } from '../process/attach.ts';
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
  attachTimeout: number;
  verbose: boolean;
  json: boolean;
  input: string | undefined;
  output: string | undefined;
  append: boolean;
  ascii: boolean;
  daemonize: boolean;
  pidFile: string | undefined;
}

/** A usage error; the text is printed as is. */
export class ArgumentError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Options of tools other than proxylog. */
export interface OwnOptions {
  /** Letters that proxylog lacks or that have another meaning here. */
  letters: string;
  /** Its long names. */
  words?: readonly string[];
  /** Handles one of them; returns an error, or undefined. */
  take(flag: string, value: string): ArgumentError | undefined;
  /** Checks combinations of options. */
  check?(a: LogArguments): Promise<ArgumentError | null>;
}

export async function parseLogArguments(
  tool: ToolRow,
  argv: readonly string[],
  own?: OwnOptions,
): Promise<LogArguments | ArgumentError | Ending> {
  const line = readCommandLine(tool, argv, packageVersion());
  const sub: LogSubscription = { grouping: 'vxid', from: 'tail' };
  const out: LogArguments = {
    sub,
    dir: undefined,
    attachTimeout: 5,
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
  for (const [flag, value] of line.options) {
    const isOwn = own !== undefined && isOwnOption(own, flag);
    const problem = isOwn ? own.take(flag, value) : take(flag, value, out, queries, filters);
    if (problem !== undefined) return problem;
    if (isOwn) continue;
    if (flag === 'C') keepCase(filters);
    if (flag.length > 1 || !'iIxX'.includes(flag)) continue;
    const [{ compileRecordFilters }, { Effort }] = await Promise.all([
      import('../../queries/record-filter.ts'),
      import('../../queries/text-pattern.ts'),
    ]);
    const tried = compileRecordFilters(filters.slice(-1), sub.caseless === true, Effort.alone());
    if ('error' in tried) return new ArgumentError(tried.error);
  }
  if (line.end !== null) return line.end;
  const [word] = line.words;
  if (word !== undefined) return { kind: 'mistake', message: `unexpected argument '${word}'` };
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
  const problem = (await own?.check?.(out)) ?? null;
  if (problem !== null) return problem;
  const wrong = await queryMistake(sub);
  if (wrong !== null) return wrong;
  // Recordings need no connection.
  if (out.input !== undefined || !Number.isNaN(out.attachTimeout)) return out;
  const [, text] = line.options.findLast(([flag]) => flag === 't') ?? [];
  return new ArgumentError(`-t: Invalid argument: ${text}`);
}

function isOwnOption({ letters, words = [] }: OwnOptions, flag: string): boolean {
  return flag.length > 1 ? words.includes(flag) : letters.includes(flag);
}

/** The query language is loaded only if there is something to check: one-shots should start fast. */
async function queryMistake(sub: LogSubscription): Promise<ArgumentError | null> {
  if (sub.query === undefined) return null;
  const { LogSelection } = await import('../../queries/log-selection.ts');
  const selection = LogSelection.create(sub);
  if (selection instanceof LogSelection) return null;
  return new ArgumentError(
    `Query expression error:\n${selection.detail}${selection.detail === '' ? '' : '\n'}`,
  );
}

/** -C applies to the expressions after it; those before it keep their case. */
function keepCase(filters: NonNullable<LogSubscription['filters']>): void {
  for (const f of filters) {
    if ('regex' in f && !f.regex.startsWith('(?-i)')) f.regex = `(?-i)${f.regex}`;
  }
}

/** Queries are joined by newlines; the last newline of a file already separates. */
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
): ArgumentError | undefined {
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
      out.attachTimeout = parseAttachTimeout(value);
      return;
    case 'q':
      addQuery(queries, value, false);
      return;
    case 'Q':
      try {
        // Only regular files can be read; varnishlog prints a misleading error in this case.
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
      // -u: output is never buffered anyway.
      return;
  }
}
