// An entry of the purge queue, as it is listed and as the journal has it.

import type { EdgeKind, EdgeNetwork, EdgeTarget, EdgeType } from '../providers/provider.ts';

/** `polling`: the network has taken a request by rule and works on it. */
export type EntryState = 'queued' | 'inflight' | 'polling' | 'retry' | 'dead';

export interface QueueEntry {
  readonly id: string;
  kind: EdgeKind;
  readonly type: EdgeType;
  readonly network: EdgeNetwork;
  readonly target: string;
  /** Who asked for it: "vxid 17" or "admin"; several with commas where they were folded into one. */
  origin: string;
  state: EntryState;
  /** Calls that failed. */
  attempts: number;
  /** Milliseconds of the epoch. */
  readonly added: number;
  /** Not before. */
  due: number;
  /** What the last call brought. */
  detail: string;
  /** A request of content control that is under way; '' for none. */
  poll: string;
}

/** An entry that is no longer in the queue: acked, dropped, or dry-run. */
export interface EndedEntry extends Omit<QueueEntry, 'state'> {
  readonly state: string;
  /** The network's; '' without one. */
  readonly purgeId: string;
  /** Milliseconds of the epoch. */
  readonly ended: number;
}

/** Records of the journal. */
export type JournalRecord =
  | { readonly put: QueueEntry }
  | { readonly end: string }
  /** A request by rule was sent at this moment, of which a day has so many. */
  | { readonly rule: number }
  /** The next id. */
  | { readonly next: number };

/** What folds: the same thing to clear. */
export function targetKey({ network, type, target }: EdgeTarget): string {
  return `${network} ${type} ${target}`;
}

export interface Replayed {
  readonly entries: Map<string, QueueEntry>;
  readonly rules: number[];
  next: number;
}

/** The state that records add up to, step by step. Entries that were in flight are queued again: purges may be sent twice. */
export function* replaying(records: Iterable<unknown>): Generator<undefined, Replayed> {
  const state: Replayed = { entries: new Map(), rules: [], next: 1 };
  for (const record of records as Iterable<JournalRecord>) {
    if ('put' in record) {
      const entry = { ...record.put };
      if (entry.state === 'inflight') entry.state = 'queued';
      state.entries.set(entry.id, entry);
      state.next = Math.max(state.next, Number(entry.id) + 1);
    } else if ('end' in record) state.entries.delete(record.end);
    else if ('rule' in record) state.rules.push(record.rule);
    else state.next = Math.max(state.next, record.next);
    yield;
  }
  return state;
}
