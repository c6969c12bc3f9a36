// Where a log tool's transactions come from and where they go, as its main program sees it: a source has an
// end, and a signal can ask it for what is incomplete; a sink can ask it to wait.

import type { LogTransaction } from '../../protocol/messages.ts';

export interface LogSource {
  /** Resolves with the exit status. */
  done: Promise<number>;
  /** Shows what is incomplete. */
  flush(): void;
}

export interface LogSink {
  /** Takes groups; false when the source should wait for drain(). */
  write(groups: readonly LogTransaction[][]): boolean;
  drain(then: () => void): void;
}
