// When probes make their first poll: at once as long as there are few, spread over time when many begin together.
// Probes that had to wait make their second poll early, each by a share of its interval: from then on a thousand probes
// of one program are spread over the whole interval, and each keeps its own rhythm.

/** First polls that may happen at the same moment (chosen). */
const AT_ONCE = 16;
/** Seconds between the others (chosen). */
const APART = 0.002;
/** Largest share of an interval by which a second poll comes early (chosen). */
const EARLY = 0.9;
/** The golden ratio: its multiples modulo 1 are evenly spread, however many there are. */
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

  /** Seconds from the first poll of a probe to its second; `waited` is the result of first(). */
  second(interval: number, waited: number): number {
    if (waited <= 0) return interval;
    this.share = (this.share + GOLDEN) % 1;
    return interval * (1 - EARLY * this.share);
  }
}
