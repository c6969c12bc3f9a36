// The end of a worker that was asked to stop: it finishes all that it has begun (`drain`), then it gets its order to go (`stop`),
// and one that does not go is killed. Whoever has no more patience may hurry it at any time.

import type { WorkerProcess } from './worker-process.ts';

/** Milliseconds in which a worker exits after its order to go, or when it has had its time (chosen). */
const EXIT_MS = 5000;

export interface StoppingHost {
  log(level: 'debug' | 'info' | 'warning', text: string): void;
  happened(text: string): void;
}

export class Stopping {
  private readonly worker: WorkerProcess;
  private readonly seconds: number;
  private readonly host: StoppingHost;
  /** Requests and fetches under way, by thread. */
  private readonly waits = new Map<number, number>();
  private kill: NodeJS.Timeout | null = null;
  private isTold = false;
  private hasSaid = false;

  /** @param seconds in which it may finish what was begun; 0: it has to go at once */
  constructor(worker: WorkerProcess, seconds: number, host: StoppingHost) {
    this.worker = worker;
    this.seconds = seconds;
    this.host = host;
    worker.child.once('exit', () => {
      this.isTold = true;
      this.expectExit(null);
    });
    if (seconds <= 0) {
      this.hurry();
      return;
    }
    this.expectExit(seconds * 1000 + EXIT_MS);
    void worker.call({ op: 'drain', seconds }).then(({ body }) => this.drained(Number(body)));
  }

  /** The work that it waits for, in words; empty for none. */
  get text(): string {
    const total = this.total;
    return total === 0 ? '' : `waiting for ${count(total)}`;
  }

  /** A thread has reported what it still finishes. */
  waitsFor(thread: number, requests: number): void {
    this.waits.set(thread, requests);
    if (this.hasSaid || this.total === 0) return;
    this.hasSaid = true;
    const text = `Child (${this.worker.pid}) stops, ${this.text} (at most ${this.seconds} s: stop_timeout)`;
    this.host.log('info', text);
    this.host.happened(text);
  }

  /** Nothing is waited for any more. */
  hurry(): void {
    if (this.isTold) return;
    this.isTold = true;
    this.expectExit(EXIT_MS);
    void this.worker.call({ op: 'stop' });
  }

  private get total(): number {
    let total = 0;
    for (const each of this.waits.values()) total += each;
    return total;
  }

  private drained(left: number): void {
    if (left > 0 && !this.isTold) {
      const text = `Child (${this.worker.pid}) was stopped with ${count(left)} under way after ${this.seconds} s (stop_timeout)`;
      this.host.log('warning', text);
      this.host.happened(text);
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
