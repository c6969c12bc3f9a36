// The cookie extension: a Cookie header is parsed into a list that belongs to the task (a client request with its
// restarts, or a backend fetch with its retries), changed there, and written back as one string.
//
// It never touches a header itself. Caution: parsing nothing leaves what was parsed before, and a cookie without
// a value does not exist, so that the next name begins where its own began (jar.ts).

import { Tag } from '../../../protocol/tables/tags.ts';
import type { BoundedRegex } from '../../../queries/regex/bounded-regex.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { taskPriv } from '../../contract/priv.ts';
import { httpDate } from '../../http1/date.ts';
import { matches } from '../../vcl/runtime/regexes.ts';
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

const formatDate: ExtensionFunction = {
  signature: 'STRING format_date(TIME now, DURATION timedelta)',
  help: 'The time so much later, as Set-Cookie has it in Expires.',
  call: (_c, now: number, delta: number) => httpDate(now + delta),
};

export const cookie: Extension = {
  name: 'cookie',
  help: 'reading and changing cookies',
  functions: {
    parse: {
      signature: 'VOID parse(STRING cookieheader)',
      help: 'Reads a header Cookie; what was set before is forgotten.',
      call: (ctx, text: string | null) => {
        if (text === null || text === '') {
          debug(ctx, 'cookie: nothing to parse');
          return;
        }
        const jar = jarOf(ctx);
        jar.clear();
        debug(ctx, `cookie: parsed ${jar.parse(text)} cookies.`);
      },
    },
    clean: { signature: 'VOID clean()', help: 'Removes all cookies.', call: (ctx) => jarOf(ctx).clear() },
    set: {
      signature: 'VOID set(STRING cookiename, STRING value)',
      help: 'Sets a cookie.',
      call: (ctx, name: string | null, value: string | null) => jarOf(ctx).set(name ?? '', value ?? ''),
    },
    get: {
      signature: 'STRING get(STRING cookiename)',
      help: 'The value of a cookie; unset when there is none.',
      call: (ctx, name: string | null) => jarOf(ctx).get(name ?? ''),
    },
    isset: {
      signature: 'BOOL isset(STRING cookiename)',
      help: 'Whether there is such a cookie.',
      call: (ctx, name: string | null) => jarOf(ctx).get(name ?? '') !== null,
    },
    get_re: {
      signature: 'STRING get_re(REGEX expression)',
      help: 'The value of the first cookie whose name matches.',
      call: (ctx, re: BoundedRegex) => {
        for (const [name, value] of jarOf(ctx).entries()) {
          debug(ctx, `cookie: checking ${name}`);
          if (matches(ctx, name, re)) return value;
        }
        return null;
      },
    },
    delete: {
      signature: 'VOID delete(STRING cookiename)',
      help: 'Removes a cookie.',
      call: (ctx, name: string | null) => jarOf(ctx).retain((n) => n !== name),
    },
    filter: {
      signature: 'VOID filter(STRING filterstring)',
      help: 'Removes the cookies of a list of names with commas between.',
      call: (ctx, list: string | null) => {
        const names = namesIn(list ?? '');
        jarOf(ctx).retain((n) => !names.has(n));
      },
    },
    keep: {
      signature: 'VOID keep(STRING filterstring)',
      help: 'Removes all but those.',
      call: (ctx, list: string | null) => {
        const names = namesIn(list ?? '');
        jarOf(ctx).retain((n) => names.has(n));
      },
    },
    filter_re: {
      signature: 'VOID filter_re(REGEX expression)',
      help: 'Removes the cookies whose names match.',
      call: (ctx, re: BoundedRegex) =>
        jarOf(ctx).retain((name, value) => {
          if (!matches(ctx, name, re)) return true;
          debug(ctx, `Removing matching cookie ${name} (value: ${value})`);
          return false;
        }),
    },
    keep_re: {
      signature: 'VOID keep_re(REGEX expression)',
      help: 'Removes those whose names do not match.',
      call: (ctx, re: BoundedRegex) =>
        jarOf(ctx).retain((name, value) => {
          if (matches(ctx, name, re)) return true;
          debug(ctx, `Removing cookie ${name} (value: ${value})`);
          return false;
        }),
    },
    get_string: {
      signature: 'STRING get_string()',
      help: 'The cookies as a header Cookie has them.',
      call: (ctx) => jarOf(ctx).text(),
    },
    format_date: formatDate,
    format_rfc1123: {
      ...formatDate,
      signature: 'STRING format_rfc1123(TIME now, DURATION timedelta)',
      help: 'The time so much later, as Set-Cookie has it in Expires.',
    },
    // Beyond Varnish: the same cookies in any order become the same text, and so the same cache key.
    sort: {
      signature: 'VOID sort()',
      help: 'Sorts the cookies by their names.',
      call: (ctx) => jarOf(ctx).sort(),
    },
  },
};
