// Rules for plain misses, where the earlier log tells why nothing usable was cached, and for whether the response is
// stored. The daemon keeps no such history: these rules are as reliable as the log is long, and their sentences say so.

import { clock, duration } from '../../../model/ui/numbers.ts';
import { banMatches } from './ban-match.ts';
import { addedBy, ago, isSameKey, purgeText, tookObject } from './purges.ts';
import type { Evidence, Facts } from './request-facts.ts';
import { uncacheable } from './uncacheable.ts';
import type { Case, Former, Rule, Searched } from './why-case.ts';

function missed(c: Case): boolean {
  return c.request.step('MISS') !== undefined;
}

/** The newest earlier request that fetched the same key, with its fetch. */
function newestFetch(c: Case, accept: (fetch: Facts) => boolean = () => true): Required<Former> | null {
  for (const { request, fetch } of c.former) {
    if (
      fetch !== null &&
      fetch.reason !== 'pass' &&
      fetch.reason !== 'pipe' &&
      isSameKey(c.request, request) &&
      accept(fetch)
    )
      return { request, fetch };
  }
  return null;
}

/** Vary headers whose values differ between this request and the one that fetched. */
function varied(c: Case, former: Former): string[] {
  const vary = former.fetch?.response.get('vary') ?? '';
  const asked = former.fetch ?? former.request;
  return vary
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && (c.request.request.get(name) ?? '') !== (asked.request.get(name) ?? ''));
}

function life(fetch: Facts): { ttl: number; grace: number; end: number; evidence: Evidence } | null {
  const last = fetch.lifetimes.at(-1);
  if (last === undefined) return null;
  const from = fetch.times.get('Beresp')?.at ?? fetch.at;
  return { ttl: last.ttl, grace: last.grace, end: from + last.ttl, evidence: last.evidence };
}

/** Epoch seconds of the final lookup: a request that waited on a busy object looks up again. */
function lookedUpAt(request: Facts): number {
  return request.times.get('Waitinglist')?.at ?? (request.at === 0 ? Number.POSITIVE_INFINITY : request.at);
}

/** Epoch seconds at which the response's cacheability was decided. */
function answeredAt(fetch: Facts): number {
  return fetch.times.get('Beresp')?.at ?? fetch.until;
}

/** Did this fetch store an object that the request could have hit? */
function isOfKept(c: Case, fetch: Facts): boolean {
  return (
    uncacheable(fetch) === null &&
    answeredAt(fetch) <= lookedUpAt(c.request) &&
    varied(c, { request: fetch, fetch }).length === 0
  );
}

export const MISS_RULES: readonly Rule[] = [
  {
    name: 'purged',
    explains: 'It was purged after it was last fetched.',
    try: (c) => {
      if (!missed(c)) return null;
      const stored = newestFetch(c, (fetch) => uncacheable(fetch) === null)?.fetch ?? null;
      const newest = newestFetch(c)?.fetch ?? null;
      const purge = c.purges.find(
        (p) =>
          p.kind !== 'ban' &&
          p.request.at <= c.request.at &&
          // Purges before the last fetch do not matter: it filled the cache again, or could have.
          (newest === null || p.request.at >= newest.at) &&
          tookObject(p, c.request, stored),
      );
      if (purge === undefined) return null;
      const by = `${ago(c.request.at, purge)} before, by request ${purge.request.vxid} (${purgeText(purge)})`;
      return {
        sentence: purge.soft
          ? `It had been made stale ${by}, and its grace was over or not used.`
          : `It had been purged ${by}.`,
        evidence: purge.evidence,
        hint: '',
      };
    },
  },
  {
    name: 'other-variant',
    explains: 'Only other variants (Vary) were cached.',
    try: (c) => {
      if (!missed(c)) return null;
      const stored = c.former.filter(
        (f) => f.fetch !== null && isSameKey(c.request, f.request) && uncacheable(f.fetch) === null,
      );
      const newest = stored[0];
      if (newest === undefined || newest.fetch === null) return null;
      // An earlier fetch of this variant means it has expired, a rule of its own.
      if (stored.some((f) => varied(c, f).length === 0)) return null;
      const names = varied(c, newest);
      const name = names[0] as string;
      const has = c.request.request.get(name);
      const had = (newest.fetch ?? newest.request).request.get(name);
      return {
        sentence: `The cache had other variants only: the response varies by ${names.join(' and ')}, which is ${has === undefined ? 'absent' : `"${has}"`} here and was ${had === undefined ? 'absent' : `"${had}"`} when ${newest.fetch.vxid} was fetched.`,
        evidence: [newest.fetch.header('response', 'vary'), c.request.header('request', name)].filter(
          (e): e is Evidence => e !== undefined,
        ),
        hint: `Normalise ${name} in vcl_recv to get fewer variants.`,
        apart: names.join(', '),
      };
    },
  },
  {
    name: 'not-kept',
    explains: 'The previous response was not cached.',
    try: (c) => {
      if (!missed(c)) return null;
      const newest = newestFetch(
        c,
        (f) => answeredAt(f) <= lookedUpAt(c.request) && varied(c, { request: f, fetch: f }).length === 0,
      );
      const cause = newest === null || newest.fetch === null ? null : uncacheable(newest.fetch);
      if (newest === null || newest.fetch === null || cause === null) return null;
      return {
        sentence: `The last response (${newest.fetch.vxid}, ${duration(Math.max(0, c.request.at - newest.fetch.until))} before) was not kept, because ${cause.because}.`,
        evidence: cause.evidence,
        hint: '',
        apart: cause.because,
      };
    },
  },
  {
    name: 'expired',
    explains: 'It had expired, and its grace was over.',
    try: (c) => {
      if (!missed(c)) return null;
      const newest = newestFetch(c, (f) => isOfKept(c, f));
      const had = newest === null || newest.fetch === null ? null : life(newest.fetch);
      if (newest === null || newest.fetch === null || had === null || had.end > c.request.at) return null;
      const ago = c.request.at - had.end;
      const grace =
        had.grace <= 0
          ? 'without grace'
          : ago > had.grace
            ? `its grace of ${duration(had.grace)} was over as well`
            : `its grace of ${duration(had.grace)} was not used`;
      return {
        sentence: `It had expired ${duration(ago)} before: fetched by ${newest.fetch.vxid} with a lifetime of ${duration(Math.max(0, had.ttl))}, ${grace}.`,
        evidence: [had.evidence],
        hint: 'Use a longer max-age or beresp.ttl; grace serves it during the refetch.',
      };
    },
  },
  {
    name: 'removed',
    explains: 'It should have been cached, but something removed it.',
    try: (c) => {
      if (!missed(c)) return null;
      const newest = newestFetch(c, (f) => isOfKept(c, f));
      const had = newest === null || newest.fetch === null ? null : life(newest.fetch);
      if (newest === null || newest.fetch === null || had === null) return null;
      const fetch = newest.fetch;
      const ban = c.bans.find(
        (b) =>
          b.spec !== '' &&
          b.at >= fetch.at &&
          b.at <= c.request.at &&
          banMatches(b.spec, c.request, fetch) !== 'no',
      );
      const left = duration(had.end - c.request.at);
      return {
        sentence:
          ban === undefined
            ? `The copy that ${fetch.vxid} fetched would be fresh for ${left} more, but was gone: evicted to make room, purged by a tag, or the worker was restarted; or the program asked for a miss.`
            : `The copy that ${fetch.vxid} fetched would be fresh for ${left} more, but the ${ban.soft ? 'soft ban' : 'ban'} "${ban.spec}"${addedBy(ban, c.purges, c.request.at)} ${ban.soft ? 'made it stale, and its grace was over or not used' : 'removed it'}.`,
        evidence: [had.evidence],
        hint: 'The Storage view (8) counts evictions, the Panics view (!) restarts.',
      };
    },
  },
  {
    name: 'busy',
    explains: 'Another request was fetching it, and this one did not wait.',
    try: (c) => {
      const miss = c.request.step('MISS');
      const fetch = newestFetch(c)?.fetch ?? null;
      if (miss === undefined || fetch === null || answeredAt(fetch) <= lookedUpAt(c.request)) return null;
      return {
        sentence: `It was not in the cache yet: ${fetch.vxid} was fetching it, and the request did not wait.`,
        evidence: [miss.evidence],
        hint: 'req.hash_ignore_busy is set.',
      };
    },
  },
  {
    name: 'never-seen',
    explains: 'No earlier request for it is in the log.',
    try: (c) => {
      const miss = c.request.step('MISS');
      if (miss === undefined) return null;
      const since = c.since > 0 ? clock(c.since, c.utc) : '';
      return {
        sentence: `It was not in the cache, and ${FOUND_NOTHING[c.searched](since)}.`,
        evidence: [miss.evidence],
        hint: '',
      };
    },
  },
];

/** The result of the search for an earlier fetch. `since`: the clock time of its oldest record; '' if unknown. */
const FOUND_NOTHING: Readonly<Record<Searched, (since: string) => string>> = {
  kept: (since) =>
    `no earlier fetch of it is in the console’s log${since === '' ? '' : `, which begins at ${since}`}`,
  part: () => 'no earlier fetch of it is known so far: the log is not fully searched yet',
  log: (since) =>
    `no earlier fetch of it is in the log${since === '' ? '' : `, which goes back to ${since} at least`}`,
};

export const STORAGE_RULES: readonly Rule[] = [
  {
    name: 'restarted',
    explains: 'The VCL restarted the request.',
    try: ({ request, restarts }) =>
      restarts === 0
        ? null
        : {
            sentence: `The program restarted the request ${restarts === 1 ? 'once' : `${restarts} times`}; these are the records of its last run.`,
            evidence: [request.first('Begin')].filter((e) => e !== undefined),
            hint: '',
          },
  },
  {
    name: 'next-is-no-hit',
    explains: 'The response is not kept.',
    try: ({ request, fetch }) => {
      if (fetch === null || fetch.reason === 'pass' || fetch.reason === 'pipe' || request === fetch)
        return null;
      if (fetch.first('FetchError') !== undefined) return null;
      const cause = uncacheable(fetch);
      if (cause === null) return null;
      return {
        sentence: `The next request will not be a hit either: the response is not cached, because ${cause.because}.`,
        evidence: cause.evidence,
        hint: '',
      };
    },
  },
  {
    name: 'next-is-hit',
    explains: 'The response is kept.',
    try: ({ request, fetch }) => {
      const last = fetch?.lifetimes.at(-1);
      if (fetch === null || last === undefined || request === fetch || fetch.reason === 'pass') return null;
      if (uncacheable(fetch) !== null) return null;
      return {
        sentence:
          last.ttl > 0
            ? `The response is kept for ${duration(last.ttl)}${last.grace > 0 ? `, and ${duration(last.grace)} of grace` : ''}: the next request is a hit.`
            : `The response is stale immediately, but kept for ${duration(last.grace + last.keep)} (grace and keep) for revalidation.`,
        evidence: [last.evidence],
        hint: '',
      };
    },
  },
];
