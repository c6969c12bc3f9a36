// When probes make their first poll: at once as long as there are few, spread over time when many begin together.
// Those that had to wait come a second time early, each by a share of its interval: from there on a thousand probes of
// one program lie spread over all of it, and each keeps its own beat.

/** First polls that may happen at the same moment. */
const AT_ONCE = 16;
/** Seconds between the others. */
const APART = 0.002;
/** The most of an interval by which a second poll comes early. */
const EARLY = 0.9;
/** Multiples of it, modulo 1, lie evenly however many there are. */
const GOLDEN = 0.618033988749895;

export class ProbeSchedule {
  /** Time of the last slot given, in seconds of any one clock. */
  private slot = 0;
  private share = 0;

  /** Seconds from `now` until a probe that begins now may poll for the first time. */
  first(now: number): number {
    this.slot = Math.max(now, this.slot + APART);
    return Math.max(0, this.slot - now - AT_ONCE * APART);
  }

  /** Seconds from the first poll of a probe to its second; `waited` is what first() said. */
  second(interval: number, waited: number): number {
    if (waited <= 0) return interval;
    this.share = (this.share + GOLDEN) % 1;
    return interval * (1 - EARLY * this.share);
  }
}
