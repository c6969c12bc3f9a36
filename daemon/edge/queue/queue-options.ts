// How the queue is told to work, and what it tells.

import type { Provider } from '../providers/provider.ts';
import type { JournalOptions } from './journal.ts';
import type { EndedEntry, replaying } from './queue-entry.ts';
import type { Limiter, SendClock } from './sender.ts';

export interface QueueOptions {
  readonly directory: string;
  readonly fsync: 'always' | 'group';
  readonly provider: Provider;
  readonly limiter: Limiter;
  /** Entries, dead letters among them. */
  readonly maxEntries: number;
  readonly maxAttempts: number;
  /** Milliseconds. */
  readonly backoffMin: number;
  readonly backoffMax: number;
  readonly maxAge: number;
  readonly dryRun: boolean;
  event(event: QueueEvent): void;
  /** Where events are counted: a new record without it. */
  readonly totals?: QueueTotals;
  readonly clock?: SendClock;
  readonly random?: () => number;
  readonly files?: JournalOptions['files'];
  readonly compactAt?: number;
  /** Makes entries of the journal's records: for a test that counts the looks at them. */
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

/** Counted as it happens, over all queues that count there. */
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
  /** Why the queue paused itself. */
  readonly alarm: string | null;
  readonly dryRun: boolean;
  readonly depth: number;
  /** The last failures, youngest first. */
  readonly errors: readonly string[];
  /** What ended last, youngest first. */
  readonly recent: readonly EndedEntry[];
}
