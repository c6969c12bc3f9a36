// std functions on strings and headers. Strings are byte strings.

import { strftime } from '../../../protocol/strftime.ts';
import { fnmatch } from '../../../queries/fnmatch.ts';
import type { VclContext } from '../../contract/context.ts';
import { softFail } from '../../contract/failure.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { calendarDate } from '../../vcl/runtime/calendar.ts';
import type { HeaderRef } from '../../vcl/runtime/headers.ts';
import { querysort } from '../../vcl/runtime/querysort.ts';
import { lowerCase, upperCase } from '../../vcl/runtime/string-values.ts';
import { byName, row } from '../extension-rows.ts';

/** Formats a time in UTC, which Varnish calls GMT; the empty string for a time outside all years. */
function formatTime(seconds: number, format: string): string {
  const calendar = calendarDate(seconds);
  if (calendar === null) return '';
  const { near, years } = calendar;
  // Adding 0 turns -0 into 0.
  return strftime(format, {
    seconds: Math.trunc(seconds) + 0,
    date: near,
    years,
    offsetMinutes: 0,
    zone: 'GMT',
  });
}

/** Joins the values of a repeated header into its first line, without log records. */
function join(http: HttpMessage, key: string, separator: string): void {
  const first = http.find(key);
  if (first < 0 || http.find(key, first + 1) < 0) return;
  const values: string[] = [];
  for (let i = first; i < http.n; i++) if (http.keys[i] === key) values.push(http.valueAt(i));
  const name = (http.lines[first] as string).slice(0, key.length);
  http.replaceAt(first, key, `${name}: ${values.join(separator)}`);
  http.removeWhere(first + 1, (i) => http.keys[i] === key);
}

/** Joins all repeated headers of a message (RFC 9110 section 5.3, RFC 9113 section 8.2.3 for Cookie), each into its first
 * line. Goes through the lines twice, however many names there are. */
function collectAll(_ctx: VclContext, http: HttpMessage): void {
  const firsts = new Map<string, number>();
  /** Values by place of the first line. */
  const repeated = new Map<number, string[]>();
  for (let i = 0; i < http.n; i++) {
    const key = http.keys[i] as string;
    if (key === 'set-cookie') continue;
    const first = firsts.get(key);
    if (first === undefined) {
      firsts.set(key, i);
      continue;
    }
    const values = repeated.get(first) ?? [http.valueAt(first)];
    values.push(http.valueAt(i));
    repeated.set(first, values);
  }
  if (repeated.size === 0) return;
  for (const [first, values] of repeated) {
    const key = http.keys[first] as string;
    const name = (http.lines[first] as string).slice(0, key.length);
    http.replaceAt(first, key, `${name}: ${values.join(key === 'cookie' ? '; ' : ', ')}`);
  }
  http.removeWhere(0, (i) => (firsts.get(http.keys[i] as string) ?? i) < i);
}

function collect(ctx: VclContext, hdr: HeaderRef, sep: string | null): void {
  const { http } = hdr;
  const obj = ctx.bo === null ? ctx.req?.obj : ctx.bo.stale;
  if (obj != null && http === obj.http) {
    softFail(ctx, 'std.collect(): header argument is immutable');
    return;
  }
  join(http, hdr.name.toLowerCase(), sep === null || sep === '' ? ', ' : sep);
}

function strstr(_ctx: VclContext, a: string | null, b: string | null): string | null {
  if (a === null || b === null) return null;
  const at = a.indexOf(b);
  return at < 0 ? null : a.slice(at);
}

function matchesPattern(
  ctx: VclContext,
  p: string | null,
  s: string | null,
  pathname: boolean,
  noescape: boolean,
  period: boolean,
): boolean {
  if (p === null || s === null) {
    softFail(ctx, `std.fnmatch(): ${p === null ? 'pattern' : 'subject'} is NULL`);
    return false;
  }
  return fnmatch(p, s, pathname, noescape, period);
}

// biome-ignore format: a row is a line
export const stringFunctions = byName(
  row('STRING toupper(STRANDS s)', (_c, s: string | null) => upperCase(s ?? ''), 'The text with small ASCII letters made capital.'),
  row('STRING tolower(STRANDS s)', (_c, s: string | null) => lowerCase(s ?? ''), 'The text with capital ASCII letters made small.'),
  row('STRING strstr(STRING s1, STRING s2)', strstr, 'The rest of s1 from where s2 begins in it; unset where it is not in it.'),
  row('STRING querysort(STRING)', querysort, 'The URL with the parameters of its query in order.'),
  row('VOID collect(HEADER hdr, STRING sep=", ")', collect, 'Joins all headers of the name into the first, with the separator between.'),
  row('VOID collect_all(HTTP message)', collectAll,
    'Joins the repeated headers of req, resp, bereq or beresp, each into its first line: Cookie with "; ", others with ", ", and Set-Cookie not at all.'),
  row('BOOL fnmatch(STRING pattern, STRING subject, BOOL pathname=1, BOOL noescape=0, BOOL period=0)', matchesPattern,
    'Whether a pattern of a shell (fnmatch(3)) matches the subject; the flags are those of the C function.'),
  row('STRING strftime(TIME time, STRING format)', (_c, t: number, format: string | null) => formatTime(t, format ?? ''),
    'The time as a text by a format of strftime(3), in UTC.'),
);
