// The end of a thread's traffic: no more connections, no more requests, and those under way are waited for. Ends by
// itself when nothing is left, else when its time is over; what is left then is the caller's.

import type { Session } from '../net/session.ts';
import type { SessionList } from '../net/session-list.ts';
import { turns } from '../turns/turns.ts';

/** Milliseconds between two looks at what is left (chosen: scripts stop and start, and a look costs microseconds). */
const LOOK = 10;
/** Milliseconds between two reports (chosen). */
const REPORT = 500;

export interface DrainParts {
  readonly sessions: SessionList<Session>;
  /** Requests and fetches that use a program. */
  transactions(): number;
  stopListening(): void;
  /** Called now and then with what is left, if it has changed. */
  report(requests: number): void;
}

export class Drain {
  private readonly parts: DrainParts;

  constructor(parts: DrainParts) {
    this.parts = parts;
  }

  /** Requests of clients that are not over, else fetches. */
  get left(): number {
    let requests = 0;
    this.parts.sessions.each((session) => {
      requests += session.running;
    });
    return requests > 0 ? requests : this.parts.transactions();
  }

  private get isOver(): boolean {
    return this.parts.sessions.count === 0 && this.parts.transactions() === 0;
  }

  /** Resolves with what is left. */
  async run(seconds: number): Promise<number> {
    const { parts } = this;
    const end = performance.now() + seconds * 1000;
    // Connections that wait to be accepted, and then what their clients have sent, come first.
    await turns.next();
    parts.stopListening();
    await turns.next();
    parts.sessions.each((session) => session.shutdown());
    let reported = 0;
    let tellAt = 0;
    while (!this.isOver) {
      const now = performance.now();
      if (now >= end) break;
      const { left } = this;
      if (left !== reported && now >= tellAt) {
        reported = left;
        tellAt = now + REPORT;
        parts.report(left);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK, end - now)));
    }
    return this.left;
  }
}
