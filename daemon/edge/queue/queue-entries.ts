// The entries of the queue, found by what is asked for next: what may be sent together, what is due first, what the network
// works on. None of it costs more for the others that there are. Every change of an entry goes through here.
//
// An entry counts from add() on and is offered once its append is over; who has something written of it withdraws it first.

import { KeyedHeap } from '../../keyed-heap.ts';
import type { QueueEntry } from './queue-entry.ts';

/** What may go into one call, in the order in which it came. */
export type Lane = KeyedHeap<QueueEntry>;

export class QueueEntries {
  readonly #all = new Map<string, QueueEntry>();
  /** By kind, type and network. */
  readonly #lanes = new Map<string, { readonly isRules: boolean; readonly waiting: Lane }>();
  /** What is due later. */
  readonly #later = new KeyedHeap<QueueEntry>();
  /** Entries that the network works on, by its request. */
  readonly #polls = new Map<string, Set<QueueEntry>>();
  /** Requests of entries that were offered since somebody asked. */
  #offeredPolls: string[] = [];
  /** All but dead letters, by when they were added. */
  readonly #ages = new KeyedHeap<QueueEntry>();
  #inflight = 0;

  get size(): number {
    return this.#all.size;
  }

  get dead(): number {
    return this.#all.size - this.#ages.size;
  }

  /** In flight, or worked on by the network. */
  get inflight(): number {
    return this.#inflight;
  }

  get queued(): number {
    return this.#ages.size - this.#inflight;
  }

  /** When the oldest was added that is no dead letter. */
  get oldest(): number | undefined {
    return this.#ages.lowest;
  }

  get(id: string): QueueEntry | undefined {
    return this.#all.get(id);
  }

  /** All of them, in the order of the list. */
  values(): IterableIterator<QueueEntry> {
    return this.#all.values();
  }

  add(entry: QueueEntry): void {
    this.#all.set(entry.id, entry);
    this.#count(entry, 1);
  }

  delete(entry: QueueEntry): void {
    if (this.#all.get(entry.id) !== entry) return;
    this.withdraw(entry);
    this.#count(entry, -1);
    this.#all.delete(entry.id);
  }

  /** One that is being offered is no longer. */
  change(entry: QueueEntry, changes: Partial<QueueEntry>): void {
    const isHere = this.#all.get(entry.id) === entry;
    if (isHere) {
      this.withdraw(entry);
      this.#count(entry, -1);
    }
    Object.assign(entry, changes);
    if (isHere) this.#count(entry, 1);
  }

  /** It may be sent when it is due, or asked about; what is gone, dead or in flight may not. */
  offer(entry: QueueEntry): void {
    if (this.#all.get(entry.id) !== entry) return;
    const { state, poll } = entry;
    if (state === 'queued' || state === 'retry') this.#later.add(entry, entry.due);
    else if (state === 'polling') {
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

  /** What is due by now may be sent. */
  ripen(now: number): void {
    for (;;) {
      const entry = this.#later.first;
      if (entry === undefined || (this.#later.lowest as number) > now) return;
      this.#later.remove(entry);
      const name = laneOf(entry);
      let lane = this.#lanes.get(name);
      if (lane === undefined) {
        lane = { isRules: entry.type === 'rule', waiting: new KeyedHeap() };
        this.#lanes.set(name, lane);
      }
      lane.waiting.add(entry, Number(entry.id));
    }
  }

  /** When the next one is due of those that are not yet. */
  get nextDue(): number | undefined {
    return this.#later.lowest;
  }

  /** With something in them, those first in which the first one waits. */
  lanes(what: 'rules' | 'others'): readonly Lane[] {
    const found = [...this.#lanes.values()].filter(
      ({ isRules, waiting }) => isRules === (what === 'rules') && waiting.size > 0,
    );
    return found.map(({ waiting }) => waiting).sort((a, b) => (a.lowest as number) - (b.lowest as number));
  }

  /** Entries of one request that the network works on. */
  polling(poll: string): readonly QueueEntry[] {
    return [...(this.#polls.get(poll) ?? [])];
  }

  /** Requests of which somebody may have to ask that were offered since the last call. */
  offeredPolls(): readonly string[] {
    const polls = this.#offeredPolls;
    this.#offeredPolls = [];
    return polls.filter((poll) => this.#polls.has(poll));
  }

  #count(entry: QueueEntry, by: 1 | -1): void {
    const { state } = entry;
    if (state === 'dead') return;
    if (by === 1) this.#ages.add(entry, entry.added);
    else this.#ages.remove(entry);
    if (state === 'inflight' || state === 'polling') this.#inflight += by;
  }
}

const laneOf = ({ kind, type, network }: QueueEntry): string => `${kind} ${type} ${network}`;
