// One restartable time limit. A restart is cheap (a linked-list move in the timer queue), so it can happen on every
// read, and so is a pause between two exchanges: the timer keeps running and fires without effect. A limit of Infinity,
// or below 0, never fires. Special case: a timer is late if the process was busy, and the event may have arrived
// meanwhile: pending reads are handled before the limit counts as exceeded.

const MAX_MS = 0x7fffffff;

export class Deadline {
  private readonly expired: () => void;
  private timer: NodeJS.Timeout | null = null;
  private ms = 0;
  private active = false;

  constructor(expired: () => void) {
    this.expired = expired;
  }

  /** @param seconds until it fires; replaces a running limit */
  start(seconds: number): void {
    if (seconds < 0 || seconds * 1000 > MAX_MS) {
      this.stop();
      return;
    }
    const ms = Math.max(1, Math.ceil(seconds * 1000));
    this.active = true;
    if (this.timer !== null && this.ms === ms) {
      this.timer.refresh();
      return;
    }
    if (this.timer !== null) clearTimeout(this.timer);
    this.ms = ms;
    this.timer = setTimeout(this.fired, ms);
  }

  /** Restarts a running limit from its full time. */
  restart(): void {
    if (this.timer !== null) this.timer.refresh();
    else if (this.active) this.timer = setTimeout(this.fired, this.ms);
  }

  /** Suspends the limit; another of the same length is likely to follow. The caller must call stop() at the end. */
  rest(): void {
    this.active = false;
  }

  stop(): void {
    this.active = false;
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
  }

  private readonly fired = (): void => {
    this.timer = null;
    if (this.active) setImmediate(this.judge);
  };

  /** Runs after the reads of this turn. */
  private readonly judge = (): void => {
    if (!this.active || this.timer !== null) return;
    this.active = false;
    this.expired();
  };
}
