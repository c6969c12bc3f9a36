// The calls that a worker has not replied to yet. Each is answered exactly once: by the worker or by its end.

import type { CommandReply } from '../../protocol/messages.ts';

interface Pending {
  resolve(reply: CommandReply): void;
  /** What there is of the body already. */
  body: string;
  timer: NodeJS.Timeout;
}

export class WorkerCalls {
  private readonly pending = new Map<number, Pending>();
  private next = 1;

  /** @param post sends the call with this id; @param late is called each `ms` milliseconds while there is no reply */
  open(ms: number, post: (id: number) => void, late: () => void): Promise<CommandReply> {
    const id = this.next++;
    return new Promise((resolve) => {
      this.pending.set(id, { resolve, body: '', timer: setInterval(late, ms) });
      post(id);
    });
  }

  replied(id: number, { status, body }: CommandReply): void {
    const waiting = this.pending.get(id);
    if (waiting === undefined) return;
    this.pending.delete(id);
    clearInterval(waiting.timer);
    waiting.resolve({ status, body: waiting.body + body });
  }

  part(id: number, text: string): void {
    const waiting = this.pending.get(id);
    if (waiting !== undefined) waiting.body += text;
  }

  /** The worker is gone: all get this reply. */
  endAll(reply: CommandReply): void {
    for (const { resolve, timer } of this.pending.values()) {
      clearInterval(timer);
      resolve(reply);
    }
    this.pending.clear();
  }
}
