// One restartable time limit. Restarting is cheap (a linked-list move in the timer queue), so it can happen on
// every read. A limit of Infinity, or below 0, never fires.

const MAX_MS = 0x7fffffff;

export class Deadline {
  private readonly expired: () => void;
  private timer: NodeJS.Timeout | null = null;

  constructor(expired: () => void) {
    this.expired = expired;
  }

  /** @param seconds until it fires; replaces a limit that runs */
  start(seconds: number): void {
    this.stop();
    if (seconds < 0 || seconds * 1000 > MAX_MS) return;
    this.timer = setTimeout(this.expired, Math.max(1, Math.ceil(seconds * 1000)));
  }

  /** Gives a running limit its whole time again. */
  restart(): void {
    this.timer?.refresh();
  }

  stop(): void {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
  }
}
