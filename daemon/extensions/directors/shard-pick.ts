// Which host of a shard director serves a key: the order of hosts that the ring gives, the health of each, the
// alternative asked for, and the two ways of sending some requests to the second choice (rampup of a host that
// just came back, warmup of the one that would follow).

import type { RingWalk } from './shard-ring.ts';

export type Healthy = 'CHOSEN' | 'IGNORE' | 'ALL';

export interface PickQuestion {
  walk: RingWalk;
  alt: number;
  healthy: Healthy;
  /** So many healthy hosts are to come at the most. */
  healthyLeft: number;
  /** Share of requests for the next alternative; 0 is none. */
  warmup: number;
  rampup: boolean;
  isHealthy(host: number): boolean;
  /** How far the host is in its rampup: 0 to 1, and 1 when it is in none. */
  ramped(host: number): number;
  /** From 0 up to, not including, 1. */
  chance(): number;
}

/** Index of the host, or -1. */
export function pickHost(q: PickQuestion): number {
  if (q.healthy === 'IGNORE') return skip(q.walk, q.alt);
  if (q.alt === 0) return first(q);
  return q.healthy === 'ALL' ? nthHealthy(q) : healthyAfter(q);
}

function skip(walk: RingWalk, alt: number): number {
  let host = walk.next();
  for (let i = 0; i < alt; i++) {
    const further = walk.next();
    if (further < 0) break;
    host = further;
  }
  return host;
}

function nextHealthy(q: PickQuestion): number {
  while (q.healthyLeft > 0) {
    const host = q.walk.next();
    if (host < 0) break;
    if (!q.isHealthy(host)) continue;
    q.healthyLeft--;
    return host;
  }
  return -1;
}

/** healthy=ALL: counts healthy hosts only. */
function nthHealthy(q: PickQuestion): number {
  return alternative(q, nextHealthy);
}

/** healthy=CHOSEN: the hosts skipped may be sick. */
function healthyAfter(q: PickQuestion): number {
  return alternative(q, (of) => of.walk.next());
}

/**
 * Skips `alt` hosts and gives the next healthy one. When there is none: the last healthy one of those skipped, though
 * never the very last of them (so Varnish; with alt=1 there is none left to give).
 */
function alternative(q: PickQuestion, skipOne: (q: PickQuestion) => number): number {
  let last = -1;
  for (let i = 0; i < q.alt; i++) {
    const skipped = skipOne(q);
    if (skipped >= 0 && i < q.alt - 1 && q.isHealthy(skipped)) last = skipped;
  }
  const host = nextHealthy(q);
  return host >= 0 ? host : last;
}

/**
 * The first healthy host, or the second for the share of requests that rampup and warmup send there. A first host in
 * its rampup gets no warmup, even where the program wants no rampup either; the second may be in its own.
 */
function first(q: PickQuestion): number {
  const chosen = nextHealthy(q);
  if (chosen < 0) return -1;
  const ramped = q.ramped(chosen);
  if (ramped < 1) {
    if (!q.rampup) return chosen;
    const second = nextHealthy(q);
    if (second < 0 || q.ramped(second) < 1) return chosen;
    return q.chance() < ramped ? chosen : second;
  }
  if (q.warmup <= 0 || q.chance() >= q.warmup) return chosen;
  const second = nextHealthy(q);
  return second < 0 ? chosen : second;
}
