// The worker's cache as the reader of the stream uses it, and the place in the stream that is kept with one on disk.

import type { FleetEvent, FleetRefusal } from '../link.ts';

/** The worker's cache. */
export interface FleetCache {
  /** When the present cache was empty, in milliseconds since 1970; null without a worker. */
  since(): number | null;
  /** Applies events and returns the refused ones; without a worker there is nothing to do. */
  apply(events: readonly FleetEvent[]): Promise<readonly FleetRefusal[]>;
  hold(on: boolean): Promise<void>;
  flush(why: string): Promise<void>;
  /** Null of a cache that ends with its worker. */
  readonly kept: KeptPlace | null;
}

/** A message of the stream that was applied, as were all before it. */
export interface StreamPlace {
  /** Of the stream. */
  readonly created: string;
  readonly seq: number;
  /** When it arrived; 0 when unknown. */
  readonly at: number;
}

/** The place of a cache that outlives its worker, kept with it. Its apply(), hold() and flush() reject without a worker, and when what
 * they did may not survive. */
export interface KeptPlace {
  /** Null when it is unknown, "new" of a cache that began empty. Rejects without a worker. */
  read(): Promise<StreamPlace | 'new' | null>;
  write(place: StreamPlace): Promise<void>;
}
