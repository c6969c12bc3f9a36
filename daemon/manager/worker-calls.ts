// The calls that a worker has not replied to yet. Each is answered exactly once: by the worker, by its end, or with
// status 400 when it takes too long.

import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';

interface Pending {
  resolve(reply: CommandReply): void;
  timer: NodeJS.Timeout;
}

export class WorkerCalls {
  private readonly pending = new Map<number, Pending>();
  private next = 1;

  /** @param post sends the call with this id; @param late is called when no reply came in `ms` milliseconds */
  open(ms: number, post: (id: number) => void, late: () => void): Promise<CommandReply> {
    const id = this.next++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        resolve({ status: CLI.COMMS, body: 'CLI communication error (no answer in time)' });
        late();
      }, ms);
      this.pending.set(id, { resolve, timer });
      post(id);
    });
  }

  replied(id: number, { status, body }: CommandReply): void {
    const waiting = this.pending.get(id);
    if (waiting === undefined) return;
    this.pending.delete(id);
    clearTimeout(waiting.timer);
    waiting.resolve({ status, body });
  }

  /** The worker is gone: all get this reply. */
  endAll(reply: CommandReply): void {
    for (const { resolve, timer } of this.pending.values()) {
      clearTimeout(timer);
      resolve(reply);
    }
    this.pending.clear();
  }
}
