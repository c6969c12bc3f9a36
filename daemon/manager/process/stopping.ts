// The stop of a worker: it finishes the requests under way (`drain`), then it is ordered to exit (`stop`), and it is killed
// if it does not. hurry() skips the first step at any time.

import type { WorkerProcess } from './worker-process.ts';

/** Milliseconds that a worker has to exit after `stop`, or after the time for `drain` (chosen). */
const EXIT_MS = 5000;

/** Logs a text and records it as an event. */
type Report = (level: 'info' | 'warning', text: string) => void;

export class Stopping {
  private readonly worker: WorkerProcess;
  private readonly seconds: number;
  private readonly report: Report;
  /** Requests and fetches under way, by thread. */
  private readonly waits = new Map<number, number>();
  private kill: NodeJS.Timeout | null = null;
  private isOrdered = false;
  private hasReported = false;

  /** @param seconds that it may take to finish requests; 0: none */
  constructor(worker: WorkerProcess, seconds: number, report: Report) {
    this.worker = worker;
    this.seconds = seconds;
    this.report = report;
    worker.child.once('exit', () => {
      this.isOrdered = true;
      this.expectExit(null);
    });
    if (seconds <= 0) {
      this.hurry();
      return;
    }
    this.expectExit(seconds * 1000 + EXIT_MS);
    void worker.call({ op: 'drain', seconds }).then(({ body }) => this.drained(Number(body)));
  }

  /** The requests that it waits for, as a text; empty for none. */
  get text(): string {
    const total = this.total;
    return total === 0 ? '' : `waiting for ${count(total)}`;
  }

  /** A thread has reported the requests that it still serves. */
  waitsFor(thread: number, requests: number): void {
    this.waits.set(thread, requests);
    if (this.hasReported || this.total === 0) return;
    this.hasReported = true;
    this.report(
      'info',
      `Child (${this.worker.pid}) stops, ${this.text} (at most ${this.seconds} s: stop_timeout)`,
    );
  }

  /** Does not wait for requests any longer. */
  hurry(): void {
    if (this.isOrdered) return;
    this.isOrdered = true;
    this.expectExit(EXIT_MS);
    void this.worker.call({ op: 'stop' });
  }

  private get total(): number {
    let total = 0;
    for (const each of this.waits.values()) total += each;
    return total;
  }

  private drained(left: number): void {
    if (left > 0 && !this.isOrdered) {
      this.report(
        'warning',
        `Child (${this.worker.pid}) was stopped with ${count(left)} under way after ${this.seconds} s (stop_timeout)`,
      );
    }
    this.hurry();
  }

  private expectExit(ms: number | null): void {
    if (this.kill !== null) clearTimeout(this.kill);
    this.kill = ms === null ? null : setTimeout(() => this.worker.kill(), ms);
  }
}

function count(requests: number): string {
  return requests === 1 ? '1 request' : `${requests} requests`;
}
