// Invalidations by a request, as far as its records show: return (purge), purges from vcl_hit and vcl_miss, purges by
// surrogate key, bans over HTTP. A purge from vcl_hit leaves no record, as in Varnish: it is recognised by the method
// and the response, its count by the X-Invalidated header of the recipe invalidate.vcl.

import { duration } from '../../../model/ui/numbers.ts';
import { type BanFact, banMatches } from './ban-match.ts';
import type { Evidence, Facts } from './request-facts.ts';

export interface Purge {
  kind: 'url' | 'keys' | 'ban';
  soft: boolean;
  /** Surrogate keys separated by blanks, or the ban's expression; '' for the URL's own key, or if the log has none. */
  subject: string;
  /** Number of objects; null if the log does not have it. */
  count: number | null;
  /** The request that invalidated. */
  request: Facts;
  evidence: readonly Evidence[];
}

/** As logged by the extensions xkey, hashtwo and purge. */
const BY_KEYS = /^(?:xkey|hashtwo)\.(soft)?purge (.*): (\d+)$/s;
const ONE_VARIANT = /^purge\.(hard|soft)_variant: (\d+)$/;
/** Variants replaced by a fetch. */
const OTHERS = /^purge\.others: (\d+)$/;
const KEY_HEADERS = ['xkey', 'x-hashtwo', 'surrogate-key', 'cache-tag', 'x-cache-tags'];

/** Null if there is no sign of an invalidation. */
export function purgeOf(request: Facts): Purge | null {
  const recv = request.step('RECV');
  const method = request.first('ReqMethod');
  if (recv === undefined || method === undefined) return null;
  for (const notice of request.all('Notice')) {
    const keys = BY_KEYS.exec(notice.text);
    if (keys !== null)
      return {
        kind: 'keys',
        soft: keys[1] !== undefined,
        // A long list is truncated within its last key.
        subject: (keys[2] ?? '').replace(/\S*\.\.\.$/, '').trim(),
        count: Number(keys[3]),
        request,
        evidence: [notice],
      };
    const one = ONE_VARIANT.exec(notice.text);
    if (one !== null)
      return {
        kind: 'url',
        soft: one[1] === 'soft',
        subject: '',
        count: Number(one[2]),
        request,
        evidence: [notice],
      };
    const others = OTHERS.exec(notice.text);
    if (others !== null) {
      const count = Number(others[1]);
      return { kind: 'url', soft: false, subject: '', count, request, evidence: [notice] };
    }
  }
  if (recv.returned === 'purge')
    return { kind: 'url', soft: false, subject: '', count: null, request, evidence: [method, recv.evidence] };
  const status = request.first('RespStatus');
  if (status === undefined || request.status >= 300) return null;
  const soft = /^SOFT/i.test(method.text);
  const answered = request.steps.find((s) => /^(HIT|MISS|PASS)$/.test(s.state) && s.returned === 'synth');
  if (/PURGE$/i.test(method.text) && answered !== undefined) {
    const header = request.header('request', 'x-invalidated');
    const count =
      header === undefined ? Number.NaN : Number.parseInt(header.text.slice('x-invalidated:'.length), 10);
    return {
      kind: 'url',
      soft,
      subject: '',
      count: Number.isNaN(count) ? null : count,
      request,
      evidence: [method, answered.evidence, ...(header === undefined ? [] : [header])],
    };
  }
  if (/BAN$/i.test(method.text) && recv.returned === 'synth') {
    const asked = request.header('request', 'x-ban');
    const subject = request.request.get('x-ban') ?? '';
    return {
      kind: 'ban',
      soft,
      subject,
      count: null,
      request,
      evidence: [method, ...(asked === undefined ? [] : [asked]), status],
    };
  }
  return null;
}

/** Did it remove, or make stale, the object that `fetch` stored for the URL and host of `request`? */
export function tookObject(purge: Purge, request: Facts, fetch: Facts | null): boolean {
  if (purge.count === 0) return false;
  switch (purge.kind) {
    case 'url':
      return isSameKey(purge.request, request);
    case 'keys':
      return fetch !== null && keysOf(fetch).some((key) => keysIn(purge.subject).includes(key));
    case 'ban':
      return purge.subject !== '' && banMatches(purge.subject, request, fetch) === 'yes';
  }
}

/** The purges that are bans, in the form of ban.list. */
export function bansAmong(purges: readonly Purge[]): BanFact[] {
  return purges.flatMap((p) =>
    p.kind === 'ban' && p.subject !== '' ? [{ at: p.request.at, spec: p.subject, soft: p.soft }] : [],
  );
}

/** The request that added a ban, by expression and time; '' if the log has none. */
export function addedBy(ban: BanFact, purges: readonly Purge[], now: number): string {
  const found = purges.find(
    (p) =>
      p.kind === 'ban' &&
      ban.at >= p.request.at - CLOCK &&
      ban.at <= p.request.until + CLOCK &&
      (p.subject === '' || plain(p.subject) === plain(ban.spec)),
  );
  return found === undefined ? '' : `, which request ${found.request.vxid} added ${ago(now, found)} before`;
}

/** Tolerance in seconds for comparing times: some have microseconds, others milliseconds. */
const CLOCK = 0.01;

/** The administrator's soft ban that made an object stale at `end`, or undefined. */
export function staleByBan(
  bans: readonly BanFact[],
  end: number,
  request: Facts,
  fetch: Facts | null,
): BanFact | undefined {
  return bans.find(
    (b) => b.soft && Math.abs(b.at - end) <= CLOCK && banMatches(b.spec, request, fetch) !== 'no',
  );
}

/** Did this purge make an object stale at `end`? */
export function madeStale(purge: Purge, end: number): boolean {
  return purge.soft && end >= purge.request.at - CLOCK && end <= purge.request.until + CLOCK;
}

/** "purged by key art, 2 objects", for use in brackets. */
export function purgeText({ kind, soft, subject, count, request }: Purge): string {
  const name = request.first('ReqMethod')?.text ?? '';
  const what =
    kind === 'keys'
      ? ` by ${keysIn(subject).length === 1 ? 'key' : 'keys'} ${subject}`
      : kind === 'ban'
        ? ` ${subject}`
        : ` ${request.url}`;
  return `${soft && kind === 'keys' ? 'soft, ' : ''}${name}${what}${count === null ? '' : `, ${objects(count)}`}`;
}

export function objects(count: number): string {
  return count === 1 ? '1 object' : `${count} objects`;
}

export function ago(now: number, { request }: Purge): string {
  return duration(Math.max(0, now - request.at));
}

/** Did both have the same URL, at some point, and host? */
export function isSameKey(a: Facts, b: Facts): boolean {
  const urls = (facts: Facts): string[] =>
    facts.all(facts.type === 'bereq' ? 'BereqURL' : 'ReqURL').map((e) => e.text);
  const host = (facts: Facts): string => facts.request.get('host') ?? '';
  return host(a) === host(b) && urls(a).some((url) => urls(b).includes(url));
}

function keysOf(fetch: Facts): string[] {
  return KEY_HEADERS.flatMap((name) => keysIn(fetch.response.get(name) ?? ''));
}

function keysIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

function plain(spec: string): string {
  return spec.replace(/"/g, '').replace(/\s+/g, ' ').trim();
}
