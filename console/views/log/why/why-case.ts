// The case that the rules of why? judge: a request with its fetch, earlier requests of the same URL, purges, bans and
// the fragments of its page, read from groups of the log.

import type { LogTransaction } from '../../../../protocol/messages.ts';
import { isRestart, livesOf } from '../../../model/log/request-group.ts';
import type { BanFact } from './ban-match.ts';
import { type Fragment, fragmentsOf } from './fragments.ts';
import { bansAmong, type Purge, purgeOf } from './purges.ts';
import { type Evidence, Facts } from './request-facts.ts';

export interface Reason {
  /** The rule's name: stable, for tests and documentation. */
  rule: string;
  sentence: string;
  evidence: readonly Evidence[];
  /** Suggested next step; '' for none. */
  hint: string;
  /** Distinguishes reasons of the same rule: a header, why a response is not stored. */
  apart?: string;
}

export interface WhyContext {
  /** Earlier groups of the same URL, newest first. */
  earlier: readonly (readonly LogTransaction[])[];
  /** Earlier groups of any URL that may have invalidated the object, by surrogate key or ban. */
  elsewhere?: readonly (readonly LogTransaction[])[];
  /** Null if they were not queried. */
  bans: readonly BanFact[] | null;
  /** Epoch seconds since which `earlier` is complete; 0 if unknown. */
  since: number;
  /** The log searched for earlier requests: the records kept here (the default), the daemon's log with its end not
   * reached yet, or all of it. */
  searched?: Searched;
  /** Clock times in UTC; local time otherwise. */
  utc?: boolean;
}

export type Searched = 'kept' | 'part' | 'log';

/** An earlier request for the URL with its fetch, if any. */
export interface Former {
  request: Facts;
  fetch: Facts | null;
}

export interface Case {
  /** The request in question, after its restarts. */
  request: Facts;
  /** Its backend request, or null. */
  fetch: Facts | null;
  restarts: number;
  /** Fragments of the page; empty without includes. */
  fragments: readonly Fragment[];
  former: readonly Former[];
  /** Possible invalidations of the object before this request, newest first, including those before its own restarts. */
  purges: readonly Purge[];
  bans: readonly BanFact[];
  bansKnown: boolean;
  since: number;
  searched: Searched;
  utc: boolean;
}

export interface Rule {
  name: string;
  /** Description for the documentation. */
  explains: string;
  /** Null if the rule does not apply. */
  try(c: Case): Omit<Reason, 'rule'> | null;
}

export function readCase(group: readonly LogTransaction[], context: WhyContext): Case | null {
  const lives = livesIn(group);
  const last = lives.at(-1);
  if (last === undefined) return null;
  const purges = purgesIn(group, context);
  return {
    ...last,
    purges,
    fragments: fragmentsOf(group),
    restarts: group.filter(isRestart).length,
    former: [lives.slice(0, -1), ...context.earlier.map(livesIn)].flatMap((g) => g.toReversed()),
    bans: [...(context.bans ?? []), ...bansAmong(purges)],
    bansKnown: context.bans !== null,
    since: context.since,
    searched: context.searched ?? 'kept',
    utc: context.utc ?? false,
  };
}

function purgesIn(group: readonly LogTransaction[], context: WhyContext): Purge[] {
  const own = group.filter((tx) => tx !== requestsIn(group).at(-1));
  const found = new Map<number, Purge>();
  for (const tx of [own, ...context.earlier, ...(context.elsewhere ?? [])].flat()) {
    if (tx.type !== 'request' || found.has(tx.vxid)) continue;
    const purge = purgeOf(new Facts(tx));
    if (purge !== null) found.set(tx.vxid, purge);
  }
  return [...found.values()].sort((a, b) => b.request.at - a.request.at);
}

function requestsIn(group: readonly LogTransaction[]): LogTransaction[] {
  const first = group.find((tx) => tx.type === 'request');
  return first === undefined ? [] : livesOf(group, first);
}

/** A group's request and its restarts in order, each with its own backend request. */
export function livesIn(group: readonly LogTransaction[]): Former[] {
  const requests = requestsIn(group);
  const alone = requests.length === 0 ? group.find((tx) => tx.type === 'bereq') : undefined;
  if (alone !== undefined) {
    const facts = fetchFacts(group, alone);
    return [{ request: facts, fetch: facts }];
  }
  return requests.map((request) => {
    const fetch = group.find((tx) => tx.type === 'bereq' && tx.parent === request.vxid);
    return { request: new Facts(request), fetch: fetch === undefined ? null : fetchFacts(group, fetch) };
  });
}

/** A fetch after its retries, with the reason of the first. */
function fetchFacts(group: readonly LogTransaction[], first: LogTransaction): Facts {
  let last = first;
  for (const tx of group) if (tx.type === 'bereq' && tx.parent === last.vxid) last = tx;
  return new Facts({ ...last, reason: first.reason });
}
