// The verdict on a request that was not a hit: the first reason that the rules of "why?" give for its lookup. If the
// sample has no explanation, near misses are searched: the same path cached with another query string, or the same
// URL under another host.

import type { Evidence, Unserved, Verdict } from '../../model/traffic/unserved.ts';
import { uncacheable } from '../log/why/uncacheable.ts';
import { lookupReason, why } from '../log/why/why.ts';
import { livesIn } from '../log/why/why-case.ts';

export function judge(request: Unserved, evidence: Evidence): Verdict {
  const reason = lookupReason(
    why(request.group, {
      earlier: evidence.earlier.map((one) => one.group),
      elsewhere: evidence.purges.map((one) => one.group),
      bans: null,
      since: 0,
    }),
  );
  if (reason === null) return { cause: 'unknown', detail: '', sentence: 'No rule explains it.' };
  if (reason.rule === 'never-seen') {
    const near = nearMiss(request, evidence);
    if (near !== null) return near;
    // The rule's sentence assumes a log of all requests; this is a sample.
    return {
      cause: reason.rule,
      detail: '',
      sentence: 'It was not in the cache, and no earlier fetch of it is known.',
    };
  }
  return { cause: reason.rule, detail: reason.apart ?? '', sentence: reason.sentence };
}

function nearMiss(request: Unserved, { beside, hit, hitBeside }: Evidence): Verdict | null {
  if (hit)
    return {
      cause: 'gone',
      detail: '',
      sentence: 'It was a hit earlier; the object was fetched before the console started.',
    };
  const other = beside.find((one) => isKept(one, request.at)) ?? hitBeside;
  if (other === null) return null;
  const seen = `${other.host}${other.url}`;
  return other.host === request.host
    ? {
        cause: 'other-query',
        detail: '',
        sentence: `The cache had the same path with another query string: ${seen}.`,
      }
    : {
        cause: 'other-host',
        detail: '',
        sentence: `The cache had the same URL under another Host: ${seen}.`,
      };
}

/** Did the fetch store a response that is still fresh at `now`? */
function isKept({ group }: Unserved, now: number): boolean {
  return livesIn(group).some(({ fetch }) => {
    if (fetch === null || fetch.reason === 'pass' || fetch.reason === 'pipe') return false;
    const last = fetch.lifetimes.at(-1);
    return last !== undefined && uncacheable(fetch) === null && fetch.at + last.ttl > now;
  });
}
