// The extension h2: the limit on rapid resets of the client's HTTP/2 connection. Follows vmod_h2(3) of Varnish 7.5 and
// later. A setting lasts until the end of the connection, also for requests that are under way.

import type { Http2Limits, VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';

type Setting = Exclude<keyof Http2Limits, 'rapidResetBudget'>;

/** Result where the client does not speak HTTP/2. */
const NONE = -1;
/** As those of the parameters. */
const LEAST: Readonly<Record<Setting, number>> = { rapidReset: 0, rapidResetLimit: 0, rapidResetPeriod: 1 };

const limits = (ctx: VclContext): Http2Limits | null => ctx.req?.session.http2 ?? null;

/** The value so far, and with a number a new one. */
function exchange(ctx: VclContext, setting: Setting, value?: number | null): number {
  const own = limits(ctx);
  if (own === null) return NONE;
  const before = own[setting];
  if (typeof value !== 'number') return before;
  const next = Math.max(value, LEAST[setting]);
  if (next === before) return before;
  own[setting] = next;
  // A limit that is set begins with the whole of it.
  const { rapidResetLimit } = own;
  own.rapidResetLimit = rapidResetLimit;
  return before;
}

const CLIENT = { places: 'client' };
const FORMER =
  'Returns the value before, or -1 without HTTP/2. A change gives the client its whole budget again.';

export const h2: Extension = {
  name: 'h2',
  help: 'the HTTP/2 connection of a client',
  // biome-ignore format: a row is a line
  functions: byName(
    row('BOOL is()', (ctx) => limits(ctx) !== null, 'Whether the client speaks HTTP/2.', CLIENT),
    row('DURATION rapid_reset([DURATION threshold])', (ctx, value?: number | null) => exchange(ctx, 'rapidReset', value),
      `How soon after its head a client’s reset of a request is a rapid one, on this connection; sets the parameter h2_rapid_reset for it. ${FORMER}`, CLIENT),
    row('INT rapid_reset_limit([INT number])', (ctx, value?: number | null) => exchange(ctx, 'rapidResetLimit', value),
      `How many rapid resets a period allows, on this connection; sets the parameter h2_rapid_reset_limit for it. 0 is no limit. ${FORMER}`, CLIENT),
    row('DURATION rapid_reset_period([DURATION duration])', (ctx, value?: number | null) => exchange(ctx, 'rapidResetPeriod', value),
      `The period of that limit, on this connection, at least one second; sets the parameter h2_rapid_reset_period for it. ${FORMER}`, CLIENT),
    row('REAL rapid_reset_budget()', (ctx) => limits(ctx)?.rapidResetBudget ?? NONE,
      'How many rapid resets the client has left before its connection is closed; -1 without HTTP/2.', CLIENT),
  ),
};
