// Options, events and figures of the queue.

import type { Provider } from '../providers/provider.ts';
import type { JournalOptions } from './journal.ts';
import type { EndedEntry, replaying } from './queue-entry.ts';
import type { Limiter, SendClock } from './sender.ts';

export interface QueueOptions {
  readonly directory: string;
  readonly fsync: 'always' | 'group';
  readonly provider: Provider;
  readonly limiter: Limiter;
  /** Entries, including dead letters. */
  readonly maxEntries: number;
  readonly maxAttempts: number;
  /** Milliseconds. */
  readonly backoffMin: number;
  readonly backoffMax: number;
  readonly maxAge: number;
  readonly dryRun: boolean;
  event(event: QueueEvent): void;
  /** The counters to increment; a new record if absent. */
  readonly totals?: QueueTotals;
  readonly clock?: SendClock;
  readonly random?: () => number;
  readonly files?: JournalOptions['files'];
  readonly compactAt?: number;
  /** Replays the journal's records; replaced by a test that counts accesses. */
  readonly replay?: typeof replaying;
}

/** A change of state, for the log. */
export interface QueueEvent {
  readonly id: string;
  readonly origin: string;
  readonly state: string;
  readonly purgeId?: string;
  readonly detail?: string;
}

export interface AddResult {
  readonly id: string;
  readonly state: 'queued' | 'rejected' | 'dry-run';
  readonly reason?: string;
}

/** Incremented as things happen, by all queues that share it. */
export interface QueueTotals {
  acked: number;
  retried: number;
  ratelimited: number;
  auth_paused: number;
}

export interface QueueCounters extends QueueTotals {
  queued: number;
  inflight: number;
  dead: number;
  /** Seconds. */
  oldest_age: number;
}

export interface QueueStatus {
  readonly paused: boolean;
  /** Why the queue paused itself; null otherwise. */
  readonly alarm: string | null;
  readonly dryRun: boolean;
  readonly depth: number;
  /** Recent failures, latest first. */
  readonly errors: readonly string[];
  /** Recently ended entries, latest first. */
  readonly recent: readonly EndedEntry[];
}
