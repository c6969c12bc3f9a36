// Hit rate over the last 10, 100 and 1000 samples: hits / (hits + misses) of the window, so that a quiet second weighs as
// little as it should; and the share served from the cache, in which passes, pipes and synthetic answers count too: where
// half of the requests pass, a hit rate of 99 % is half of the truth. After a restart of the worker the new value is the
// difference, also where it is larger than the one before. Without any lookup in the window there is no rate, which is not
// a rate of 0.

export const WINDOWS = [10, 100, 1000] as const;

export interface WindowRate {
  /** Samples in the window so far, at most the window. */
  n: number;
  /** Seconds that these samples cover. */
  seconds: number;
  /** 0..1, or null without lookups. */
  rate: number | null;
  /** Hits among all requests: 0..1, or null without any. */
  served: number | null;
  /** Bytes of bodies from cache hits among those of all responses: 0..1, or null without any or without the counter. */
  bytes: number | null;
}

export interface Lookups {
  hits: number;
  all: number;
  /** All that were answered, also without a lookup. */
  handled: number;
}

/** MAIN.s_resp_bodybytes_hit and MAIN.s_resp_bodybytes; both 0 where the first is missing. */
export interface BodyBytes {
  hit: bigint;
  all: bigint;
}

const NO_BYTES: BodyBytes = { hit: 0n, all: 0n };

/** Requests by outcome that no lookup decided. */
export const UNCACHED = ['MAIN.s_pass', 'MAIN.s_pipe', 'MAIN.s_synth'] as const;

const WRAP = 1n << 64n;

/**
 * The increase between two readings of a counter, 64 bits wide. `restarted`: it started again in between. One that goes
 * backwards from the upper half of its range has wrapped; any other has been restarted without a word.
 */
export function increase(before: bigint, after: bigint, restarted = false): bigint {
  if (restarted) return after;
  if (after >= before) return after - before;
  return before >= WRAP >> 1n ? after + WRAP - before : after;
}

export class HitRate {
  private readonly hits = new Float64Array(1000);
  private readonly lookups = new Float64Array(1000);
  private readonly handled = new Float64Array(1000);
  private readonly hitBytes = new Float64Array(1000);
  private readonly allBytes = new Float64Array(1000);
  private readonly seconds = new Float64Array(1000);
  private n = 0;
  private next = 0;
  private before: { hit: bigint; miss: bigint; other: bigint; bytes: BodyBytes } | null = null;

  /** Takes one reading of MAIN.cache_hit, MAIN.cache_miss and the sum of UNCACHED, `seconds` after the one before; what was
   * counted since then, null at first. */
  sample(
    hit: bigint,
    miss: bigint,
    seconds: number,
    restarted = false,
    other = 0n,
    bytes: BodyBytes = NO_BYTES,
  ): Lookups | null {
    const before = this.before;
    this.before = { hit, miss, other, bytes };
    if (before === null) return null;
    const h = Number(increase(before.hit, hit, restarted));
    const m = Number(increase(before.miss, miss, restarted));
    this.hits[this.next] = h;
    const handled = h + m + Number(increase(before.other, other, restarted));
    this.lookups[this.next] = h + m;
    this.handled[this.next] = handled;
    this.hitBytes[this.next] = Number(increase(before.bytes.hit, bytes.hit, restarted));
    this.allBytes[this.next] = Number(increase(before.bytes.all, bytes.all, restarted));
    this.seconds[this.next] = seconds;
    this.next = (this.next + 1) % 1000;
    if (this.n < 1000) this.n++;
    return { hits: h, all: h + m, handled };
  }

  window(size: number): WindowRate {
    const n = Math.min(size, this.n);
    let hits = 0;
    let lookups = 0;
    let handled = 0;
    let hitBytes = 0;
    let allBytes = 0;
    let seconds = 0;
    for (let i = 1; i <= n; i++) {
      const slot = (this.next - i + 1000) % 1000;
      hits += this.hits[slot] as number;
      lookups += this.lookups[slot] as number;
      handled += this.handled[slot] as number;
      hitBytes += this.hitBytes[slot] as number;
      allBytes += this.allBytes[slot] as number;
      seconds += this.seconds[slot] as number;
    }
    return {
      n,
      seconds,
      rate: lookups === 0 ? null : hits / lookups,
      served: handled === 0 ? null : hits / handled,
      bytes: allBytes === 0 ? null : hitBytes / allBytes,
    };
  }

  reset(): void {
    this.n = 0;
    this.next = 0;
    this.before = null;
  }
}
