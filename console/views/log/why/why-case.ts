// The case that the rules of why? judge: a request with its fetch, earlier requests of the same URL, purges, bans and
// the fragments of its page, read from groups of the log.

import type { LogTransaction } from '../../../../protocol/messages.ts';
import { isRestart, livesOf } from '../../../model/request-group.ts';
import type { BanFact } from './ban-match.ts';
import { type Fragment, fragmentsOf } from './fragments.ts';
import { bansAmong, type Purge, purgeOf } from './purges.ts';
import { type Evidence, Facts } from './request-facts.ts';

export interface Reason {
  /** The rule's name: stable, for tests and documentation. */
  rule: string;
  sentence: string;
  evidence: readonly Evidence[];
  /** What to look at next; '' for nothing. */
  hint: string;
  /** What sets it apart from others of its rule: a header, why a response is not kept. */
  apart?: string;
}

export interface WhyContext {
  /** Groups of the same URL before this one, the newest first. */
  earlier: readonly (readonly LogTransaction[])[];
  /** Groups of any URL before this one that may have invalidated its object: by surrogate key, by a ban. */
  elsewhere?: readonly (readonly LogTransaction[])[];
  /** Null when nobody asked for them. */
  bans: readonly BanFact[] | null;
  /** Epoch seconds from which on `earlier` is complete. */
  since: number;
}

/** A former request of the URL with its fetch, if it had one. */
export interface Former {
  request: Facts;
  fetch: Facts | null;
}

export interface Case {
  /** The request asked about: of restarts the last. */
  request: Facts;
  /** Its backend request, null without. */
  fetch: Facts | null;
  restarts: number;
  /** Of the page that it is; empty for what includes nothing. */
  fragments: readonly Fragment[];
  former: readonly Former[];
  /** What may have invalidated the object before this request, the newest first: its own earlier lives among them. */
  purges: readonly Purge[];
  bans: readonly BanFact[];
  bansKnown: boolean;
  since: number;
}

export interface Rule {
  name: string;
  /** What the rule explains, for the documentation. */
  explains: string;
  /** Null when the rule does not apply. */
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

/** The lives of a group's request in order, each with its own backend request. */
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

/** A fetch as the last of its retries ended, with the reason of the first. */
function fetchFacts(group: readonly LogTransaction[], first: LogTransaction): Facts {
  let last = first;
  for (const tx of group) if (tx.type === 'bereq' && tx.parent === last.vxid) last = tx;
  return new Facts({ ...last, reason: first.reason });
}
