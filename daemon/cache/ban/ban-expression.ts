// A ban's expression: `field operator argument` joined by &&, parsed and tested against one object.
//
// Errors are Varnish's own sentences, since scripts match on them; nothing is ever half-parsed. The regular
// expression compiler comes from outside. Caution: a header that is absent matches != and nothing else, as in
// Varnish.

import { TIME_UNIT_NAMES, TIME_UNITS } from '../../../protocol/units.ts';
import type { HttpMessage } from '../../http1/message.ts';

/** `match` returns 1, 0, or -1 when the engine's limits were reached. */
export interface BanRegex {
  test(text: string): boolean;
  match?(text: string): number;
}

/** Compiles a pattern; throws an Error with the compiler's message. */
export type CompileRegex = (pattern: string) => BanRegex;

/** Characters of an expression. Each ban is kept in memory and matched against every object. */
const LONGEST = 16_384;

export type BanOperator = '==' | '!=' | '~' | '!~' | '>' | '>=' | '<' | '<=';

type BanTest =
  | {
      kind: 'text';
      field: 'req.url' | 'obj.status' | 'req.http' | 'obj.http';
      /** Lower-case header name of req.http and obj.http. */
      header: string;
      operator: BanOperator;
      argument: string;
      regex: BanRegex | null;
    }
  | {
      kind: 'time';
      field: 'obj.ttl' | 'obj.age' | 'obj.grace' | 'obj.keep' | 'obj.last_hit';
      operator: BanOperator;
      /** Seconds. */
      argument: number;
    }
  | {
      kind: 'flag';
      field: 'obj.uncacheable' | 'obj.hfm' | 'obj.hfp';
      operator: BanOperator;
      argument: boolean;
    };

export interface BanExpression {
  tests: BanTest[];
  /** As ban.list shows it; equal expressions have equal texts. */
  text: string;
  /** Whether it needs a request: such a ban is tested at lookups only. */
  usesRequest: boolean;
  /** Whether it has tests on the object. */
  usesObject: boolean;
  /** Whether it tests ttl, age or last_hit, which are those of the moment when the ban was made. */
  usesTime: boolean;
}

/** The head of an object under test; names in lower case. */
export interface BanHead {
  readonly status: number;
  get(name: string): string | null;
}

/** The object under test. Times in seconds; `ttl` is the remaining one. */
export interface BanSubject {
  readonly http: BanHead;
  readonly ttl: number;
  readonly age: number;
  /** Since the last hit, or since it was stored, as far as the LRU knows. */
  readonly unused: number;
  readonly grace: number;
  readonly keep: number;
  /** Whether it is a marker, for hit-for-miss or hit-for-pass. */
  readonly hitMiss: boolean;
  readonly hitPass: boolean;
}

/** Fields whose value changes as time goes by. */
const OF_MOMENT: ReadonlySet<string> = new Set(['obj.ttl', 'obj.age', 'obj.last_hit']);

const TEXT_OPERATORS: readonly string[] = ['==', '!=', '~', '!~'];
const TIME_OPERATORS: readonly string[] = ['==', '!=', '>', '>=', '<', '<='];
const FLAG_OPERATORS: readonly string[] = ['==', '!='];

/** Parses an expression already split into words, as on a command line. A string is the error. */
export function parseBan(words: readonly string[], compileRegex: CompileRegex): BanExpression | string {
  const tests: BanTest[] = [];
  const texts: string[] = [];
  if (words.length < 3) return 'Too few parameters';
  const length = words.reduce((sum, word) => sum + word.length + 1, -1);
  if (length > LONGEST) return `Expression too long: ${length} characters, at most ${LONGEST}`;
  if (words.length % 4 !== 3) return 'Wrong number of arguments';
  for (let i = 0; i < words.length; i += 4) {
    const [field, operator, argument, and] = words.slice(i, i + 4) as [string, string, string, string?];
    if (and !== undefined && and !== '&&') return `Found "${and}" expected &&`;
    const test = parseTest(field, operator, argument, compileRegex);
    if (typeof test === 'string') return test;
    tests.push(test);
    texts.push(
      `${field} ${operator} ${test.kind === 'time' ? durationText(test.argument) : shown(argument)}`,
    );
  }
  return {
    tests,
    text: texts.join(' && '),
    usesRequest: tests.some((test) => test.field === 'req.url' || test.field === 'req.http'),
    usesObject: tests.some((test) => test.field !== 'req.url' && test.field !== 'req.http'),
    usesTime: tests.some((test) => OF_MOMENT.has(test.field)),
  };
}

/** Parses an expression from one text, as ban() in a program has it: words between blanks. Quotes are ordinary characters, so
 * that an ETag can be compared as it is. A string is the error. */
export function parseBanText(text: string, compileRegex: CompileRegex): BanExpression | string {
  if (text.length > 2 * LONGEST) return `Expression too long: ${text.length} characters, at most ${LONGEST}`;
  const words = text.split(/[ \t\n\v\f\r]+/).filter((word) => word !== '');
  for (let i = 0; ; i += 4) {
    const wrong = gapIn(words, i);
    if (wrong === null) continue;
    // An error in a condition comes before an error after it.
    const whole = words.slice(0, words[i + 2] === undefined ? Math.max(0, i - 1) : i + 3);
    const parsed = whole.length === 0 ? '' : parseBan(whole, compileRegex);
    return wrong === '' || (typeof parsed === 'string' && parsed !== '') ? parsed : wrong;
  }
}

/** The error of an incomplete condition at word `i`, or of what follows it; '' at the end of the text, null when another
 * condition follows. */
function gapIn(words: readonly string[], i: number): string | null {
  if (words[i] === undefined) return 'No ban conditions found.';
  if (words[i + 1] === undefined) return 'Expected comparison operator.';
  if (words[i + 2] === undefined) return 'Expected second operand.';
  if (words[i + 3] === undefined) return '';
  return words[i + 3] === '&&' ? null : `Expected && between conditions, found "${words[i + 3]}"`;
}

/** Whether all tests hold for an object; `request` is null where there is none. `since`: seconds from the ban to the moment
 * of the subject's ttl, age and last hit. */
export function banMatches(
  ban: BanExpression,
  subject: BanSubject,
  request: HttpMessage | null,
  since = 0,
): boolean {
  for (const test of ban.tests) {
    if (!holds(test, subject, request, since)) return false;
  }
  return true;
}

function holds(test: BanTest, subject: BanSubject, request: HttpMessage | null, since: number): boolean {
  switch (test.kind) {
    case 'time':
      return timeHolds(test, subject, since);
    case 'flag':
      return (flagOf(test.field, subject) === test.argument) === (test.operator === '==');
    default:
      return textHolds(test, subject, request);
  }
}

/** URL and host of the requests for an object; null where not known. */
export interface KnownRequest {
  readonly url: string | null;
  readonly host: string | null;
}

/** Whether all tests hold for an object, as far as is known without a request: null is maybe. */
export function judge(ban: BanExpression, subject: BanSubject, request: KnownRequest): boolean | null {
  let sure = true;
  for (const test of ban.tests) {
    if (test.kind !== 'text' || test.field === 'obj.status' || test.field === 'obj.http') {
      if (!holds(test, subject, null, 0)) return false;
    } else {
      const host = test.header === 'host' ? request.host : null;
      const value = test.field === 'req.url' ? request.url : host;
      if (value === null) sure = false;
      else if (!compares(test, value)) return false;
    }
  }
  return sure ? true : null;
}

/** Quotes an argument that is not one plain word, as it would have to be typed. */
function shown(argument: string): string {
  return /[ \t\n\v\f\r]/.test(argument) || argument === '' ? JSON.stringify(argument) : argument;
}

function parseTest(
  field: string,
  operator: string,
  argument: string,
  compileRegex: CompileRegex,
): BanTest | string {
  switch (field) {
    case 'obj.ttl':
    case 'obj.age':
    case 'obj.grace':
    case 'obj.keep':
    case 'obj.last_hit': {
      if (!TIME_OPERATORS.includes(operator)) {
        return `expected conditional (==, !=, >, >=, < or <=) got "${operator}"`;
      }
      const seconds = duration(argument);
      if (Number.isNaN(seconds)) return `expected duration <n.nn>[ms|s|m|h|d|w|y] got "${argument}"`;
      return { kind: 'time', field, operator: operator as BanOperator, argument: seconds };
    }
    case 'obj.uncacheable':
    case 'obj.hfm':
    case 'obj.hfp':
      if (!FLAG_OPERATORS.includes(operator)) return `expected conditional (== or !=) got "${operator}"`;
      if (argument !== 'true' && argument !== 'false')
        return `expected boolean (true or false) got "${argument}"`;
      return { kind: 'flag', field, operator: operator as BanOperator, argument: argument === 'true' };
    case 'req.url':
    case 'obj.status':
      return textTest(field, '', operator, argument, compileRegex);
    default: {
      const prefix = field.startsWith('req.http.')
        ? 'req.http'
        : field.startsWith('obj.http.')
          ? 'obj.http'
          : null;
      if (prefix === null) return `Unknown or unsupported field "${field}"`;
      return textTest(prefix, field.slice(9).toLowerCase(), operator, argument, compileRegex);
    }
  }
}

function textTest(
  field: 'req.url' | 'obj.status' | 'req.http' | 'obj.http',
  header: string,
  operator: string,
  argument: string,
  compileRegex: CompileRegex,
): BanTest | string {
  if (!TEXT_OPERATORS.includes(operator)) return `expected conditional (==, !=, ~ or !~) got "${operator}"`;
  let regex: BanRegex | null = null;
  if (operator.endsWith('~')) {
    try {
      regex = compileRegex(argument);
    } catch (error) {
      return `Regex compile error: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return { kind: 'text', field, header, operator: operator as BanOperator, argument, regex };
}

function timeOf(field: (BanTest & { kind: 'time' })['field'], subject: BanSubject, since: number): number {
  switch (field) {
    case 'obj.ttl':
      return subject.ttl + since;
    case 'obj.age':
      return subject.age - since;
    case 'obj.last_hit':
      return subject.unused - since;
    case 'obj.grace':
      return subject.grace;
    default:
      return subject.keep;
  }
}

function flagOf(field: (BanTest & { kind: 'flag' })['field'], { hitMiss, hitPass }: BanSubject): boolean {
  if (field === 'obj.hfm') return hitMiss;
  return field === 'obj.hfp' ? hitPass : hitMiss || hitPass;
}

function timeHolds(test: BanTest & { kind: 'time' }, subject: BanSubject, since: number): boolean {
  const value = timeOf(test.field, subject, since);
  switch (test.operator) {
    case '==':
      return value === test.argument;
    case '!=':
      return value !== test.argument;
    case '>':
      return value > test.argument;
    case '>=':
      return value >= test.argument;
    case '<':
      return value < test.argument;
    default:
      return value <= test.argument;
  }
}

function textHolds(
  test: BanTest & { kind: 'text' },
  subject: BanSubject,
  request: HttpMessage | null,
): boolean {
  let value: string | null;
  if (test.field === 'obj.status') value = String(subject.http.status);
  else if (test.field === 'obj.http') value = subject.http.get(test.header);
  else if (request === null) return false;
  else value = test.field === 'req.url' ? request.url : request.get(test.header);
  return compares(test, value);
}

function compares(test: BanTest & { kind: 'text' }, value: string | null): boolean {
  switch (test.operator) {
    case '==':
      return value === test.argument;
    case '!=':
      return value !== test.argument;
    // When the engine reached its limits, both operators hold: rather ban one object too many.
    case '~':
      return value !== null && matchOf(test.regex, value) !== 0;
    default:
      return value !== null && matchOf(test.regex, value) !== 1;
  }
}

function matchOf(regex: BanRegex | null, value: string): number {
  if (regex === null) return 0;
  if (regex.match !== undefined) return regex.match(value);
  return regex.test(value) ? 1 : 0;
}

/** As ban expressions write them: "1.5h". */
const DURATION = new RegExp(`^(-?(?:\\d+\\.?\\d*|\\.\\d+))\\s*(${TIME_UNIT_NAMES})$`);

/** Seconds; NaN when the text is no duration. */
function duration(text: string): number {
  const parts = DURATION.exec(text);
  if (parts === null) return Number.NaN;
  return Number(parts[1]) * (TIME_UNITS.get(parts[2] as string) as number);
}

/** In the largest unit of which it is a whole number, as Varnish lists them. */
export function durationText(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  if (ms > 0 && ms < 1000) return `${ms}ms`;
  for (const unit of ['y', 'w', 'd', 'h', 'm'] as const) {
    const size = (TIME_UNITS.get(unit) as number) * 1000;
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}
