// The entries of the queue, indexed for the sender: which can be sent together, which are due first, which the network is
// processing. No operation gets slower with the number of other entries. All changes of entries go through here.
//
// An entry is counted from add() on, and offered once it is in the journal; withdraw it before its change is written.

import { KeyedHeap } from '../../keyed-heap.ts';
import { turns } from '../../turns/turns.ts';
import type { EntryState, QueueEntry } from './queue-entry.ts';

/** Entries that may share a call, in order of arrival. */
export type Lane = KeyedHeap<QueueEntry>;

export class QueueEntries {
  readonly #all = new Map<string, QueueEntry>();
  /** By kind, type and network. */
  readonly #lanes = new Map<string, { readonly isRules: boolean; readonly waiting: Lane }>();
  /** Entries that are due later. */
  readonly #later = new KeyedHeap<QueueEntry>();
  /** Entries that the network is processing, by request id. */
  readonly #polls = new Map<string, Set<QueueEntry>>();
  /** Request ids of entries offered since the last offeredPolls(). */
  #offeredPolls: string[] = [];
  /** All entries but dead letters, by the time of adding. */
  readonly #ages = new KeyedHeap<QueueEntry>();
  #inflight = 0;
  readonly #now: () => number;

  /** @param now returns milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#all.size;
  }

  get dead(): number {
    return this.#all.size - this.#ages.size;
  }

  /** Entries in flight or being processed by the network. */
  get inflight(): number {
    return this.#inflight;
  }

  get queued(): number {
    return this.#ages.size - this.#inflight;
  }

  /** When the oldest entry that is no dead letter was added. */
  get oldest(): number | undefined {
    return this.#ages.lowest;
  }

  get(id: string): QueueEntry | undefined {
    return this.#all.get(id);
  }

  /** All entries, in the order of the list. */
  values(): IterableIterator<QueueEntry> {
    return this.#all.values();
  }

  add(entry: QueueEntry): void {
    this.#all.set(entry.id, entry);
    this.#inflight += busy(entry.state);
    if (entry.state !== 'dead') this.#ages.add(entry, entry.added);
  }

  delete(entry: QueueEntry): void {
    if (this.#all.get(entry.id) !== entry) return;
    this.withdraw(entry);
    this.#inflight -= busy(entry.state);
    this.#ages.remove(entry);
    this.#all.delete(entry.id);
  }

  /** Changes an entry; withdraws it if it is offered. */
  change(entry: QueueEntry, changes: Partial<QueueEntry>): void {
    const isHere = this.#all.get(entry.id) === entry;
    const { state, added } = entry;
    if (isHere) this.withdraw(entry);
    Object.assign(entry, changes);
    if (!isHere) return;
    this.#inflight += busy(entry.state) - busy(state);
    const { added: now } = entry;
    if (added === now && (state === 'dead') === (entry.state === 'dead')) return;
    if (state !== 'dead') this.#ages.remove(entry);
    if (entry.state !== 'dead') this.#ages.add(entry, now);
  }

  /** Makes an entry available for sending when due, or for polling; no effect for one that is gone, dead or in
   * flight. */
  offer(entry: QueueEntry): void {
    if (this.#all.get(entry.id) !== entry) return;
    const { state, poll } = entry;
    if (state === 'queued' || state === 'retry') {
      if (entry.due <= this.#now()) this.#maySend(entry);
      else this.#later.add(entry, entry.due);
    } else if (state === 'polling') {
      const same = this.#polls.get(poll);
      if (same === undefined) this.#polls.set(poll, new Set([entry]));
      else same.add(entry);
      if (same === undefined) this.#offeredPolls.push(poll);
    }
  }

  withdraw(entry: QueueEntry): void {
    if (this.#later.remove(entry)) return;
    if (this.#lanes.get(laneOf(entry))?.waiting.remove(entry)) return;
    const same = this.#polls.get(entry.poll);
    if (same?.delete(entry) && same.size === 0) this.#polls.delete(entry.poll);
  }

  /** Makes due entries available; false if there is not enough time in this turn. */
  ripen(now: number): boolean {
    for (;;) {
      const entry = this.#later.first;
      if (entry === undefined || (this.#later.lowest as number) > now) return true;
      if (!turns.mayContinue()) return false;
      this.#later.remove(entry);
      this.#maySend(entry);
    }
  }

  /** When the next entry is due. */
  get nextDue(): number | undefined {
    return this.#later.lowest;
  }

  /** Lanes that are not empty, the one with the oldest first entry first. */
  lanes(what: 'rules' | 'others'): readonly Lane[] {
    const found = [...this.#lanes.values()].filter(
      ({ isRules, waiting }) => isRules === (what === 'rules') && waiting.size > 0,
    );
    return found.map(({ waiting }) => waiting).sort((a, b) => (a.lowest as number) - (b.lowest as number));
  }

  /** Entries of a request that the network is processing. */
  polling(poll: string): readonly QueueEntry[] {
    return [...(this.#polls.get(poll) ?? [])];
  }

  /** Request ids offered since the last call, which may need polling. */
  offeredPolls(): readonly string[] {
    const polls = this.#offeredPolls;
    this.#offeredPolls = [];
    return polls.filter((poll) => this.#polls.has(poll));
  }

  #maySend(entry: QueueEntry): void {
    const name = laneOf(entry);
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { isRules: entry.type === 'rule', waiting: new KeyedHeap() };
      this.#lanes.set(name, lane);
    }
    lane.waiting.add(entry, Number(entry.id));
  }
}

const busy = (state: EntryState): number => (state === 'inflight' || state === 'polling' ? 1 : 0);

const laneOf = ({ kind, type, network }: QueueEntry): string => `${kind} ${type} ${network}`;
