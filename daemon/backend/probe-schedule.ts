// When probes make their first poll: at once as long as there are few, spread over time when many begin together.
// Each keeps its own beat from there, so a thousand probes of one program never poll in step.

/** First polls that may happen at the same moment. */
const AT_ONCE = 16;
/** Seconds between the others. */
const APART = 0.002;

export class ProbeSchedule {
  /** Time of the last slot given, in seconds of any one clock. */
  private slot = 0;

  /** Seconds from `now` until a probe that begins now may poll for the first time. */
  first(now: number): number {
    this.slot = Math.max(now, this.slot + APART);
    return Math.max(0, this.slot - now - AT_ONCE * APART);
  }
}
