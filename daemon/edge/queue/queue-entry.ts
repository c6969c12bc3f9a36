// An entry of the purge queue, as listed and as stored in the journal.

import type { EdgeKind, EdgeNetwork, EdgeTarget, EdgeType } from '../providers/provider.ts';

/** `polling`: the network has accepted a request by rule and is processing it. */
export type EntryState = 'queued' | 'inflight' | 'polling' | 'retry' | 'dead';

export interface QueueEntry {
  readonly id: string;
  kind: EdgeKind;
  readonly type: EdgeType;
  readonly network: EdgeNetwork;
  readonly target: string;
  /** The origin: "vxid 17" or "admin"; several are separated by commas after a merge. */
  origin: string;
  state: EntryState;
  /** Failed calls. */
  attempts: number;
  /** Milliseconds since 1970. */
  readonly added: number;
  /** Earliest time of the next attempt. */
  due: number;
  /** The result of the last call. */
  detail: string;
  /** The id of a content-control request in progress; '' for none. */
  poll: string;
}

/** An entry that has left the queue: acked, dropped, or dry-run. */
export interface EndedEntry extends Omit<QueueEntry, 'state'> {
  readonly state: string;
  /** The id given by the network; '' without one. */
  readonly purgeId: string;
  /** Milliseconds since 1970. */
  readonly ended: number;
}

/** Records of the journal. */
export type JournalRecord =
  | { readonly put: QueueEntry }
  | { readonly end: string }
  /** A request by rule was sent at this time; their number per day is limited. */
  | { readonly rule: number }
  /** The next id. */
  | { readonly next: number };

/** Identifies the target for merging. */
export function targetKey({ network, type, target }: EdgeTarget): string {
  return `${network} ${type} ${target}`;
}

export interface Replayed {
  readonly entries: Map<string, QueueEntry>;
  readonly rules: number[];
  next: number;
}

/** Replays records, in steps. Entries that were in flight are queued again: purges may be sent twice. */
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
