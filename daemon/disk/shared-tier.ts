// The disk tier of a worker with several threads. The first thread owns the files, the index and the journal, and does all
// reads and writes. The others search the index, which is in shared memory, and request an object that may be there from the
// first thread, which fills their busy object in the shared store.
//
// Events (an object completed, an invalidation) get a number under the lock of the cache, on any thread, and the first
// thread applies them in that order. Before it fills an object it waits for all events numbered so far, and checks again
// under the lock whether the object on disk may be used. So an object that was purged or replaced before the request is
// never loaded, even if the message about it was still in transit.

import type { KeyHash } from '../cache/key-hash.ts';
import { LookupQuery } from '../cache/lookup-query.ts';
import type { Oc } from '../cache/objcore.ts';
import type { NewObject, ObjectTier, TierLookups, TierOutcome } from '../cache/object-tier.ts';
import type { SoftPurge } from '../cache/soft-purge.ts';
import type { TierEvents } from '../cache/tier-events.ts';
import { HttpMessage } from '../http1/message.ts';
import type { Channel } from '../threads/channel.ts';
import { caller, responder } from '../threads/remote-call.ts';
import type { MemoryPart } from '../threads/shared-memory.ts';
import type { DiskReport } from './disk-check.ts';
import { DiskIndex } from './disk-index.ts';
import { hasherOf } from './disk-segments.ts';
import type { IndexView } from './disk-store.ts';
import type { DiskTier, Underway } from './disk-tier.ts';
import { EventOrder } from './event-order.ts';

const FIRST = 0;
/** Shared numbers: those of the newest event and the newest invalidation, written under the lock; then the result of space(). */
const EVENTS = 0;
const NEWEST = 1;
const FREE = 2;
const USED = 3;
const IS_OPEN = 4;
const NUMBERS = 5;
/** Shared words: complete objects that wait to be written by the first thread, and KiB of their bodies. */
const OBJECTS = 0;
const KIB = 1;
const WORDS = 2;
/** Limits for both (chosen), since these objects cannot be evicted; their bodies may also take only a part of the storage. */
const MOST_OBJECTS = 256;
const MOST_KIB = 4096;

/** A change in memory that the tier must follow. */
type TierEvent =
  | { readonly what: 'completed'; readonly object: NewObject; readonly oc: Oc; readonly kib: number }
  | {
      readonly what: 'invalidated';
      readonly of: 'key' | 'tag' | 'ban';
      readonly text: string;
      readonly soft: SoftPurge | null;
      readonly at: number;
      readonly sequence: number;
    };

interface EventMessage {
  readonly kind: 'disk.event';
  readonly number: number;
  readonly event: TierEvent;
}

/** Request of another thread whose lookup found nothing in memory. */
interface LoadRequest {
  readonly key: string;
  readonly hashIgnoreVary: boolean;
  readonly url: string;
  /** The request's headers, as in HttpMessage. */
  readonly keys: readonly string[];
  readonly lines: readonly string[];
  readonly names: number;
  readonly busy: Oc;
}
interface LoadReply {
  readonly isFilled: boolean;
  readonly text: string;
}

export interface SharedTierParts {
  readonly name: string;
  readonly objects: ObjectTier;
  readonly channel: Channel;
  readonly memory: MemoryPart;
  /** Seconds since 1970. */
  readonly now: () => number;
  /** Bytes of the smallest storage in memory; infinite when none has a limit. */
  readonly smallest: number;
}

export class SharedTier implements TierEvents, TierLookups {
  private readonly parts: SharedTierParts;
  private readonly objects: ObjectTier;
  private readonly numbers: Float64Array;
  private readonly words: Int32Array;
  private readonly mostKib: number;
  /** In the first thread. */
  private tier: DiskTier | null = null;
  private readonly order = new EventOrder();
  /** In the others; null without a store. */
  private index: DiskIndex | null = null;
  private hasher: KeyHash = hasherOf('');
  private readonly askLoad: (request: LoadRequest) => Promise<LoadReply>;
  private readonly askSettled: (number: number) => Promise<boolean>;

  constructor(parts: SharedTierParts) {
    const { channel, memory, smallest } = parts;
    this.parts = parts;
    this.objects = parts.objects;
    this.numbers = new Float64Array(memory.piece('numbers', NUMBERS * 8));
    this.words = memory.words(WORDS);
    this.mostKib = Math.min(MOST_KIB, Math.ceil(smallest / 8192));
    this.askLoad = caller<LoadRequest, LoadReply>(channel, 'disk.load', FIRST);
    this.askSettled = caller<number, boolean>(channel, 'disk.settled', FIRST);
  }

  /** Opens the tier in the first thread and serves it to the others. Call in the thread's first turn. */
  async own(open: (underway: Underway) => Promise<DiskTier>): Promise<DiskTier> {
    const { channel } = this.parts;
    const opened = open({
      isNone: () => this.newest === this.tier?.newest,
      received: () => this.order.reached(this.number),
    }).then((tier) => {
      this.tier = tier;
      this.numbers[NEWEST] = tier.newest;
      this.sample();
      return tier;
    });
    responder<null, IndexView | null>(channel, 'disk.open', async () => {
      const tier = await opened.catch(() => null);
      return tier?.store?.view ?? null;
    });
    responder<LoadRequest, LoadReply>(channel, 'disk.load', (request) => this.loadFor(request));
    responder<number, boolean>(channel, 'disk.settled', (number) => this.settledAt(number));
    channel.on<EventMessage>('disk.event', ({ number, event }) => this.receive(number, event));
    const tier = await opened;
    this.objects.connect(this);
    return tier;
  }

  /** Uses the first thread's tier in another thread. */
  async follow(): Promise<void> {
    const view = await caller<null, IndexView | null>(this.parts.channel, 'disk.open', FIRST)(null);
    if (view !== null) {
      this.index = new DiskIndex(view.most, view.memory);
      this.hasher = hasherOf(view.origin);
    }
    this.objects.connect(this);
  }

  get name(): string {
    return this.parts.name;
  }

  get newest(): number {
    return this.numbers[NEWEST] as number;
  }

  /** Number of the newest event. */
  private get number(): number {
    return this.numbers[EVENTS] as number;
  }

  completed(oc: Oc): void {
    const object = this.objects.newObject(oc);
    if (object === null) return;
    const kib = Math.ceil(this.objects.bodyBytes(oc) / 1024);
    const hasRoom = this.takeRoom(kib);
    if (hasRoom) this.objects.ref(oc);
    this.publish({ what: 'completed', object, oc: hasRoom ? oc : 0, kib });
  }

  invalidated(of: 'key' | 'tag' | 'ban', text: string, soft: SoftPurge | null = null): void {
    const sequence = this.newest + 1;
    this.numbers[NEWEST] = sequence;
    this.publish({ what: 'invalidated', of, text, soft, at: this.parts.now(), sequence });
  }

  settled(): Promise<boolean> {
    const { number } = this;
    return this.tier === null ? this.askSettled(number) : this.settledAt(number);
  }

  mayHave(key: string): boolean {
    if (this.tier !== null) return this.tier.mayHave(key);
    if (this.index === null || this.numbers[IS_OPEN] === 0) return false;
    this.hasher.hash(key);
    return this.index.hasKey(this.hasher.lo, this.hasher.hi);
  }

  async load(
    q: LookupQuery,
    busy: Oc,
    isWanted: () => boolean,
    outcome: TierOutcome = { text: '' },
  ): Promise<boolean> {
    if (this.tier !== null) return this.tier.load(q, busy, isWanted, outcome);
    const { http, key, hashIgnoreVary } = q;
    const { url, keys, lines, names, n } = http;
    // Not cancelled when the client leaves: other requests may wait for the object.
    const headers = { keys: keys.slice(0, n), lines: lines.slice(0, n), names };
    const { isFilled, text } = await this.askLoad({ key, hashIgnoreVary, url, ...headers, busy });
    outcome.text = text;
    return isFilled;
  }

  /** Commands run in the first thread. */
  async check(): Promise<DiskReport | null> {
    return this.tier?.check() ?? null;
  }

  async note(): Promise<string | null> {
    return this.tier?.note() ?? '';
  }

  async keepNote(text: string): Promise<void> {
    await this.order.reached(this.number);
    await this.tier?.keepNote(text);
  }

  async empty(): Promise<boolean> {
    const { tier } = this;
    if (tier === null) return false;
    return new Promise((resolve) => {
      this.objects.hold(() => {
        this.numbers[NEWEST] = this.newest + 1;
        this.inOrder(this.nextNumber(), () => resolve(tier.empty()));
      });
    });
  }

  space(): { freeSpace: number; usedSpace: number; happy: boolean } {
    if (this.tier !== null) return this.tier.space();
    const [, , freeSpace = 0, usedSpace = 0, isOpen] = this.numbers;
    return { freeSpace, usedSpace, happy: isOpen === 1 };
  }

  sample(): void {
    if (this.tier === null) return;
    const { freeSpace, usedSpace, happy } = this.tier.space();
    this.numbers[FREE] = freeSpace;
    this.numbers[USED] = usedSpace;
    this.numbers[IS_OPEN] = happy ? 1 : 0;
  }

  /** In the first thread, after the others have stopped. */
  async close(): Promise<void> {
    if (this.tier === null) return;
    await this.order.reached(this.number);
    await this.tier.close();
  }

  /** Numbers and sends an event; call under the lock. */
  private publish(event: TierEvent): void {
    const number = this.nextNumber();
    if (this.tier === null)
      this.parts.channel.send<EventMessage>(FIRST, { kind: 'disk.event', number, event });
    else this.receive(number, event);
  }

  private nextNumber(): number {
    const number = this.number + 1;
    this.numbers[EVENTS] = number;
    return number;
  }

  private receive(number: number, event: TierEvent): void {
    this.inOrder(number, () => this.apply(event));
  }

  /** Applies it after the lock is released: file operations must not block other threads. */
  private inOrder(number: number, apply: () => void): void {
    this.objects.after(() => this.order.add(number, apply));
  }

  private apply(event: TierEvent): void {
    const tier = this.tier as DiskTier;
    if (event.what === 'completed') {
      const { oc, object, kib } = event;
      tier.keep(oc, object);
      if (oc === 0) return;
      this.objects.deref(oc);
      Atomics.sub(this.words, OBJECTS, 1);
      Atomics.sub(this.words, KIB, kib);
      return;
    }
    tier.invalidated(event.of, event.text, event.soft, event.at);
    if (tier.store !== null && tier.newest !== event.sequence)
      throw new Error(`invalidation ${event.sequence} of the disk tier became ${tier.newest}`);
  }

  /** False when too much waits for the first thread. */
  private takeRoom(kib: number): boolean {
    const { words } = this;
    const before = Atomics.add(words, OBJECTS, 1);
    const kibBefore = Atomics.add(words, KIB, kib);
    if (before === 0 || (before < MOST_OBJECTS && kibBefore + kib <= this.mostKib)) return true;
    Atomics.sub(words, OBJECTS, 1);
    Atomics.sub(words, KIB, kib);
    return false;
  }

  private async settledAt(number: number): Promise<boolean> {
    await this.order.reached(number);
    return (await this.tier?.settled()) ?? false;
  }

  private async loadFor(request: LoadRequest): Promise<LoadReply> {
    const { busy } = request;
    const outcome = { text: 'not found' };
    const isFilled = (await this.tier?.load(queryOf(request), busy, () => true, outcome)) ?? false;
    if (!isFilled) this.objects.leave(busy);
    return { isFilled, text: outcome.text };
  }
}

function queryOf({ key, hashIgnoreVary, url, keys, lines, names }: LoadRequest): LookupQuery {
  const http = new HttpMessage(0);
  http.url = url;
  http.keys.push(...keys);
  http.lines.push(...lines);
  http.filled(keys.length, names);
  const q = new LookupQuery(http);
  q.key = key;
  q.hashIgnoreVary = hashIgnoreVary;
  return q;
}
