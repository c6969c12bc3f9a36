// The cookie extension: a Cookie header is parsed into a list that belongs to the task (a client request with its
// restarts, or a backend fetch with its retries), changed there, and written back as one string.
//
// It never touches a header itself. Caution: parsing nothing leaves what was parsed before, and a cookie without
// a value does not exist, so that the next name begins where its own began (jar.ts).

import { Tag } from '../../../protocol/tables/tags.ts';
import type { BoundedRegex } from '../../../queries/regex/bounded-regex.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { taskPriv } from '../../contract/priv.ts';
import { httpDate } from '../../http1/date.ts';
import { matches } from '../../vcl/runtime/regexes.ts';
import { byName, row } from '../extension-rows.ts';
import { CookieJar, namesIn } from './jar.ts';

const JAR = Object.freeze({});

function jarOf(ctx: VclContext): CookieJar {
  const priv = taskPriv(ctx, JAR);
  priv.value ??= new CookieJar();
  return priv.value as CookieJar;
}

/** What Varnish's daemon says about each step, under the tag that is masked unless asked for. */
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
    row('VOID parse(STRING cookieheader)', parse, 'Reads a header Cookie; what was set before is forgotten.'),
    row('VOID clean()', (ctx) => jarOf(ctx).clear(), 'Removes all cookies.'),
    row('VOID set(STRING cookiename, STRING value)', set, 'Sets a cookie.'),
    row('STRING get(STRING cookiename)', (ctx, name: string | null) => jarOf(ctx).get(name ?? ''),
      'The value of a cookie; unset when there is none.'),
    row('BOOL isset(STRING cookiename)', (ctx, name: string | null) => jarOf(ctx).get(name ?? '') !== null, 'Whether there is such a cookie.'),
    row('STRING get_re(REGEX expression)', getRe, 'The value of the first cookie whose name matches.'),
    row('VOID delete(STRING cookiename)', (ctx, name: string | null) => jarOf(ctx).retain((n) => n !== name), 'Removes a cookie.'),
    row('VOID filter(STRING filterstring)', filter, 'Removes the cookies of a list of names with commas between.'),
    row('VOID keep(STRING filterstring)', keep, 'Removes all but those.'),
    row('VOID filter_re(REGEX expression)', filterRe, 'Removes the cookies whose names match.'),
    row('VOID keep_re(REGEX expression)', keepRe, 'Removes those whose names do not match.'),
    row('STRING get_string()', (ctx) => jarOf(ctx).text(), 'The cookies as a header Cookie has them.'),
    row('STRING format_date(TIME now, DURATION timedelta)', formatDate, 'The time so much later, as Set-Cookie has it in Expires.'),
    row('STRING format_rfc1123(TIME now, DURATION timedelta)', formatDate, 'The time so much later, as Set-Cookie has it in Expires.'),
    // Beyond Varnish: the same cookies in any order become the same text, and so the same cache key.
    row('VOID sort()', (ctx) => jarOf(ctx).sort(), 'Sorts the cookies by their names.'),
  ),
};
