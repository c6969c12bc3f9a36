// Fetches that wait for one of the connections of a backend that are all in use (.max_connections, .wait_limit,
// .wait_timeout). They go in turn. A place that this thread frees is passed on at once; one that another thread frees, the
// end of the patience and a backend that has become sick are found by looking, since nobody tells.

/** The backend, as its queue sees it. */
export interface QueuedBackend {
  /** Takes a place, if one is free. */
  enter(): boolean;
  readonly isUsable: boolean;
  /** Epoch seconds. */
  now(): number;
}

/** How waiting ended: with a place, which is taken, or without one. */
export type WaitEnd = 'entered' | 'too-long' | 'sick';

interface Waiter {
  /** Epoch seconds. */
  readonly until: number;
  readonly done: (end: WaitEnd) => void;
}

/** Milliseconds between looks. */
const LOOK = 10;

export class ConnectionQueue {
  private readonly waiters: Waiter[] = [];
  private readonly backend: QueuedBackend;
  private timer: NodeJS.Timeout | null = null;

  constructor(backend: QueuedBackend) {
    this.backend = backend;
  }

  get length(): number {
    return this.waiters.length;
  }

  /** @param timeout seconds */
  wait(timeout: number): Promise<WaitEnd> {
    return new Promise((done) => {
      this.waiters.push({ until: this.backend.now() + timeout, done });
      this.timer ??= setInterval(() => this.look(), LOOK);
    });
  }

  /** A place may be free. */
  passOn(): void {
    while (this.waiters.length > 0 && this.backend.enter()) this.next('entered');
    this.rest();
  }

  private look(): void {
    const { waiters, backend } = this;
    while (!backend.isUsable && waiters.length > 0) this.next('sick');
    this.passOn();
    // The first to come gives up first: all have the same patience, unless a parameter has changed meanwhile.
    const now = backend.now();
    for (let first = waiters[0]; first !== undefined && first.until <= now; first = waiters[0]) {
      this.next('too-long');
    }
    this.rest();
  }

  private next(end: WaitEnd): void {
    this.waiters.shift()?.done(end);
  }

  /** Nobody waits: nothing to look for. */
  private rest(): void {
    if (this.waiters.length > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}
