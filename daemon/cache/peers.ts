// The other threads that serve the same cache, as its parts see them: whom to tell that something has come for which
// requests on their thread may wait. One thread alone has none.

import type { Oh } from './key-index.ts';
import type { Oc } from './objcore.ts';

export interface Peers {
  /** Number of this thread. */
  readonly thread: number;
  /** A request of this thread begins to wait for a key, and the last one no longer does. */
  waits(oh: Oh): void;
  waitsNoMore(oh: Oh): void;
  /** Whether a request of another thread may wait for it. */
  othersWait(oh: Oh): boolean;
  /** Those of other threads who wait for it are to look again. */
  rush(oh: Oh, alone: boolean): void;
  /** This thread reads an object that another one fetches, and no longer does. */
  reads(oc: Oc): void;
  readsNoMore(oc: Oc): void;
  /** An object of this thread's fetch has grown, is visible or is settled. */
  progress(oc: Oc): void;
  /** A thread fetches an object for one reader, which may have been held last by a request of this one. */
  readerLeft(thread: number, oc: Oc): void;
  /** There is work for the thread that does the cache's maintenance. */
  wakeMaintenance(): void;
}

const nothing = (): void => undefined;

export const ALONE: Peers = {
  thread: 0,
  waits: nothing,
  waitsNoMore: nothing,
  othersWait: () => false,
  rush: nothing,
  reads: nothing,
  readsNoMore: nothing,
  progress: nothing,
  readerLeft: nothing,
  wakeMaintenance: nothing,
};
