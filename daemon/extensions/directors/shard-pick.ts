// Chooses the host of a shard director for a key: the order of hosts on the ring, the health of each, the requested
// alternative, and the two ways of sending some requests to the second choice (rampup of a host that has just
// recovered, warmup of the one that would follow).

import type { RingWalk } from './shard-ring.ts';

export type Healthy = 'CHOSEN' | 'IGNORE' | 'ALL';

export interface PickQuestion {
  walk: RingWalk;
  alt: number;
  healthy: Healthy;
  /** Upper bound of healthy hosts not yet visited. */
  healthyLeft: number;
  /** Share of requests that go to the next alternative; 0 for none. */
  warmup: number;
  rampup: boolean;
  isHealthy(host: number): boolean;
  /** Progress of the host's rampup: 0 to 1, and 1 outside it. */
  ramped(host: number): number;
  /** A random number in [0, 1). */
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

/** Skips `alt` hosts and returns the next healthy one. If there is none: the last healthy one of those skipped,
 * but never the very last of them (as in Varnish; with alt=1 none is left). */
function alternative(q: PickQuestion, skipOne: (q: PickQuestion) => number): number {
  let last = -1;
  for (let i = 0; i < q.alt; i++) {
    const skipped = skipOne(q);
    if (skipped >= 0 && i < q.alt - 1 && q.isHealthy(skipped)) last = skipped;
  }
  const host = nextHealthy(q);
  return host >= 0 ? host : last;
}

/** The first healthy host, or the second for the share of requests that rampup and warmup send there. A first host
 * in its rampup gets no warmup, even if the program disables rampup; the second may be in its own. */
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
