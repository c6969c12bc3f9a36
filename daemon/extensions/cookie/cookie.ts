// The cookie extension: a Cookie header is parsed into a list that belongs to the task (a client request with its
// restarts, or a backend fetch with its retries), modified there, and written back as one string.
//
// It never touches a header itself. Caution: parsing an empty value keeps the previous list, and a cookie without a
// value is not a cookie: the next name begins where its name began.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { BoundedRegex } from '../../../queries/regex/bounded-regex.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { taskPriv } from '../../contract/priv.ts';
import { httpDate } from '../../http1/date.ts';
import { matches } from '../../vcl/runtime/regexes.ts';
import { byName, row } from '../extension-rows.ts';

const JAR = Object.freeze({});

function jarOf(ctx: VclContext): CookieJar {
  const priv = taskPriv(ctx, JAR);
  priv.value ??= new CookieJar();
  return priv.value as CookieJar;
}

/** Logs the Debug records of Varnish's module, which vsl_mask hides by default. */
function debug(ctx: VclContext, text: string): void {
  ctx.log.put(Tag.Debug, `${text}\0`);
}

function parse(ctx: VclContext, text: string | null): void {
  if (text === null || text === '') {
    debug(ctx, 'cookie: nothing to parse');
    return;
  }
  const jar = jarOf(ctx);
  jar.clear();
  debug(ctx, `cookie: parsed ${jar.parse(text)} cookies.`);
}

function set(ctx: VclContext, name: string | null, value: string | null): void {
  jarOf(ctx).set(name ?? '', value ?? '');
}

function formatDate(_ctx: VclContext, now: number, delta: number): string {
  return httpDate(now + delta);
}

function getRe(ctx: VclContext, re: BoundedRegex): string | null {
  for (const [name, value] of jarOf(ctx).entries()) {
    debug(ctx, `cookie: checking ${name}`);
    if (matches(ctx, name, re)) return value;
  }
  return null;
}

function filter(ctx: VclContext, list: string | null): void {
  const names = namesIn(list ?? '');
  jarOf(ctx).retain((n) => !names.has(n));
}

function keep(ctx: VclContext, list: string | null): void {
  const names = namesIn(list ?? '');
  jarOf(ctx).retain((n) => names.has(n));
}

function filterRe(ctx: VclContext, re: BoundedRegex): void {
  jarOf(ctx).retain((name, value) => {
    if (!matches(ctx, name, re)) return true;
    debug(ctx, `Removing matching cookie ${name} (value: ${value})`);
    return false;
  });
}

function keepRe(ctx: VclContext, re: BoundedRegex): void {
  jarOf(ctx).retain((name, value) => {
    if (matches(ctx, name, re)) return true;
    debug(ctx, `Removing cookie ${name} (value: ${value})`);
    return false;
  });
}

export const cookie: Extension = {
  name: 'cookie',
  help: 'reading and changing cookies',
  // biome-ignore format: a row is a line
  functions: byName(
    row('VOID parse(STRING cookieheader)', parse, 'Parses a Cookie header; previous cookies are discarded.'),
    row('VOID clean()', (ctx) => jarOf(ctx).clear(), 'Removes all cookies.'),
    row('VOID set(STRING cookiename, STRING value)', set, 'Sets a cookie.'),
    row('STRING get(STRING cookiename)', (ctx, name: string | null) => jarOf(ctx).get(name ?? ''),
      'The value of a cookie; unset when there is none.'),
    row('BOOL isset(STRING cookiename)', (ctx, name: string | null) => jarOf(ctx).get(name ?? '') !== null, 'Whether there is such a cookie.'),
    row('STRING get_re(REGEX expression)', getRe, 'The value of the first cookie whose name matches.'),
    row('VOID delete(STRING cookiename)', (ctx, name: string | null) => jarOf(ctx).retain((n) => n !== name), 'Removes a cookie.'),
    row('VOID filter(STRING filterstring)', filter, 'Removes the cookies of a list of names with commas between.'),
    row('VOID keep(STRING filterstring)', keep, 'Removes all others.'),
    row('VOID filter_re(REGEX expression)', filterRe, 'Removes the cookies whose names match.'),
    row('VOID keep_re(REGEX expression)', keepRe, 'Removes those whose names do not match.'),
    row('STRING get_string()', (ctx) => jarOf(ctx).text(ctx.vcl.changes.cookieEnd ? '' : ';'),
      'The cookies in the format of a Cookie header. Without a semicolon at the end where varnish_release is 9.0.'),
    row('STRING format_date(TIME now, DURATION timedelta)', formatDate, 'The time plus the duration, in the format of Expires in Set-Cookie.'),
    row('STRING format_rfc1123(TIME now, DURATION timedelta)', formatDate, 'The time plus the duration, in the format of Expires in Set-Cookie.'),
    // Not in Varnish: the same cookies in any order yield the same text, and so the same cache key.
    row('VOID sort()', (ctx) => jarOf(ctx).sort(), 'Sorts the cookies by their names.'),
  ),
};

// The cookies of one task, in order of arrival. A name occurs once; a later value replaces an earlier one. Names are
// case-sensitive and not validated: cookies are written back byte for byte.

const BLANK = /[ \t\n\v\f\r]/;

export class CookieJar {
  #cookies = new Map<string, string>();

  /** Adds the cookies of a Cookie header; returns the number of pairs found. A pair is everything up to "=", then
   * everything up to ";". Text without "=" before the end is dropped; text without "=" before ";" becomes part of
   * the next name, as in Varnish. */
  parse(text: string): number {
    let pairs = 0;
    let at = 0;
    while (at < text.length) {
      while (at < text.length && BLANK.test(text.charAt(at))) at++;
      const equals = text.indexOf('=', at);
      if (equals < 0) break;
      let end = text.indexOf(';', equals + 1);
      if (end < 0) end = text.length;
      this.set(text.slice(at, equals), text.slice(equals + 1, end));
      pairs++;
      at = end + 1;
    }
    return pairs;
  }

  clear(): void {
    this.#cookies.clear();
  }

  /** Ignored when the name or the value is empty. */
  set(name: string, value: string): void {
    if (name !== '' && value !== '') this.#cookies.set(name, value);
  }

  get(name: string): string | null {
    return this.#cookies.get(name) ?? null;
  }

  entries(): IterableIterator<[name: string, value: string]> {
    return this.#cookies.entries();
  }

  /** Removes every cookie for which `keep` returns false. */
  retain(keep: (name: string, value: string) => boolean): void {
    for (const [name, value] of this.#cookies) if (!keep(name, value)) this.#cookies.delete(name);
  }

  /** Sorts the cookies by the bytes of their names. */
  sort(): void {
    this.#cookies = new Map([...this.#cookies].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  /** "a=1; b=2" and an end, or the empty string. */
  text(end: string): string {
    const pairs = [...this.#cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length === 0 ? '' : `${pairs.join('; ')}${end}`;
  }
}

/** Names of a comma-separated list; leading whitespace is not part of a name, trailing whitespace is. */
export function namesIn(list: string): Set<string> {
  const names = list.split(',').map((n) => n.replace(/^[ \t\n\v\f\r]+/, ''));
  return new Set(names.filter((n) => n !== ''));
}
