// Signals to the other threads that serve the same cache, where requests may wait for what changes here. Implemented by
// daemon/threads/thread-signals.ts, and by NO_SIGNALS for a single thread.

import type { Oh } from './key-index.ts';
import type { Oc } from './objcore.ts';

export interface CacheSignals {
  /** Number of this thread. */
  readonly thread: number;
  /** The first request of this thread parks on a key; the last one has left. */
  addWaiter(oh: Oh): void;
  removeWaiter(oh: Oh): void;
  /** Whether a request of another thread may be parked on the key. */
  hasRemoteWaiters(oh: Oh): boolean;
  /** Wakes the waiters of other threads. */
  rush(oh: Oh, alone: boolean): void;
  /** This thread starts to read an object that another one fetches; it has stopped. */
  addReader(oc: Oc): void;
  removeReader(oc: Oc): void;
  /** An object fetched by this thread has grown, became visible, finished or failed. */
  progress(oc: Oc): void;
  /** A request of this thread gave back what may be the last reference to a body that `thread` fetches for one reader. */
  readerLeft(thread: number, oc: Oc): void;
  /** There is work for the thread that runs the cache's maintenance. */
  wakeMaintenance(): void;
}

const nothing = (): void => undefined;

export const NO_SIGNALS: CacheSignals = {
  thread: 0,
  addWaiter: nothing,
  removeWaiter: nothing,
  hasRemoteWaiters: () => false,
  rush: nothing,
  addReader: nothing,
  removeReader: nothing,
  progress: nothing,
  readerLeft: nothing,
  wakeMaintenance: nothing,
};
