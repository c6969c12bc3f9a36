// The queue of purges for an edge network. What add() has answered for is in the journal and is sent until the network
// has taken it, or an operator finds it among the dead letters. Operations are idempotent: after a crash some are sent
// twice, none is lost. What is asked for changes an entry once the journal has it: until then the entry is left alone by
// everybody else, and after a wait it is looked up again. Between choosing an entry and recording what becomes of it
// nobody waits.

import type { EdgeTarget, Provider } from '../providers/provider.ts';
import { Journal, type JournalOptions } from './journal.ts';
import { type EndedEntry, type JournalRecord, type QueueEntry, replay, targetKey } from './queue-entry.ts';
import { type Limiter, type SendClock, Sender } from './sender.ts';

export type { QueueEntry } from './queue-entry.ts';

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

/** Dead letters that go into the journal together: one sync for all, and few enough for one turn of the event loop
 * (chosen). */
const TOGETHER = 1000;
/** Origins that an entry names. */
const MAX_ORIGIN = 200;
const ERRORS = 10;
const RECENT = 50;

const systemClock: SendClock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export class PurgeQueue {
  readonly #options: QueueOptions;
  readonly #clock: SendClock;
  readonly #entries: Map<string, QueueEntry>;
  /** Entries that wait, by what they clear. */
  readonly #waiting = new Map<string, QueueEntry>();
  /** Appends of entries that are under way. */
  readonly #unwritten = new Map<string, Promise<void>>();
  readonly #settling = new Map<string, ((state: string) => void)[]>();
  #journal: Journal | null = null;
  #next: number;
  readonly #sender: Sender;
  readonly #errors: string[] = [];
  readonly #recent: EndedEntry[] = [];
  readonly #totals: QueueTotals;
  #dryRun: boolean;

  private constructor(options: QueueOptions, records: readonly unknown[]) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#totals = options.totals ?? { acked: 0, retried: 0, ratelimited: 0, auth_paused: 0 };
    this.#dryRun = options.dryRun;
    const { entries, rules, next } = replay(records);
    this.#entries = entries;
    this.#next = next;
    for (const entry of entries.values()) {
      if (entry.state === 'queued' || entry.state === 'retry') this.#waiting.set(targetKey(entry), entry);
    }
    this.#sender = new Sender(
      {
        provider: options.provider,
        limiter: options.limiter,
        clock: this.#clock,
        random: options.random ?? Math.random,
        maxAttempts: options.maxAttempts,
        backoffMin: options.backoffMin,
        backoffMax: options.backoffMax,
        maxAge: options.maxAge,
        dryRun: () => this.#dryRun,
        ready: () => [...this.#entries.values()].filter((entry) => !this.#unwritten.has(entry.id)),
        taken: (entry) => this.#waiting.delete(targetKey(entry)),
        waits: (entry) => this.#waiting.set(targetKey(entry), entry),
        changed: (entry, purgeId) => this.#changed(entry, purgeId),
        ended: (entry, state, purgeId) => this.#ended(entry, state, purgeId),
        sentRule: (at) => this.#note({ rule: at }),
        count: (what) => {
          this.#totals[what]++;
        },
      },
      rules,
    );
  }

  /** Opens the journal of a directory and begins to send what is in it. Rejects with what is wrong there. */
  static async open(options: QueueOptions): Promise<PurgeQueue> {
    let queue: PurgeQueue | null = null;
    const { journal, records } = await Journal.open({
      directory: options.directory,
      fsync: options.fsync,
      snapshot: () => queue?.snapshot() ?? [],
      ...(options.files === undefined ? {} : { files: options.files }),
      ...(options.compactAt === undefined ? {} : { compactAt: options.compactAt }),
    });
    queue = new PurgeQueue(options, records);
    queue.#journal = journal;
    queue.#sender.kick();
    return queue;
  }

  /** Resolves once the journal has all of it; what it cannot have is rejected, each with the reason. */
  add(targets: readonly EdgeTarget[], origin: string): Promise<AddResult[]> {
    return Promise.all(targets.map((target) => this.#addOne(target, origin)));
  }

  /** Resolves with the last state of an entry: acked, dead, dry-run, dropped; at once for one that is gone. */
  settled(id: string): Promise<string> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return Promise.resolve('acked');
    if (entry.state === 'dead') return Promise.resolve('dead');
    return new Promise((done) => {
      const others = this.#settling.get(id);
      if (others === undefined) this.#settling.set(id, [done]);
      else others.push(done);
    });
  }

  list(): readonly QueueEntry[] {
    return [...this.#entries.values()].filter(({ state }) => state !== 'dead');
  }

  dead(): readonly QueueEntry[] {
    return [...this.#entries.values()].filter(({ state }) => state === 'dead');
  }

  /** Also one of those that ended last. */
  show(id: string): QueueEntry | EndedEntry | null {
    return this.#entries.get(id) ?? this.#recent.find((entry) => entry.id === id) ?? null;
  }

  status(): QueueStatus {
    const { paused, alarm } = this.#sender;
    const depth = this.list().length;
    return { paused, alarm, dryRun: this.#dryRun, depth, errors: this.#errors, recent: this.#recent };
  }

  counters(): QueueCounters {
    const { acked, retried, ratelimited, auth_paused } = this.#totals;
    const counters = {
      ...{ queued: 0, inflight: 0, dead: 0, oldest_age: 0 },
      ...{ acked, retried, ratelimited, auth_paused },
    };
    let oldest = this.#clock.now();
    for (const { state, added } of this.#entries.values()) {
      if (state === 'dead') {
        counters.dead++;
        continue;
      }
      if (state === 'inflight' || state === 'polling') counters.inflight++;
      else counters.queued++;
      oldest = Math.min(oldest, added);
    }
    counters.oldest_age = Math.floor((this.#clock.now() - oldest) / 1000);
    return counters;
  }

  pause(): void {
    this.#sender.pause(null);
  }

  resume(): void {
    this.#sender.resume();
  }

  setDryRun(on: boolean): void {
    this.#dryRun = on;
  }

  /** Sends a dead letter, or "all", again; how many. Rejects when the journal cannot be written: what it has is sent, the
   * others are dead letters as before. */
  async retry(id: string): Promise<number> {
    while (this.#unwritten.has(id)) await this.#quiet(id);
    const ids = id === 'all' ? this.dead().map((entry) => entry.id) : [id];
    let count = 0;
    for (let at = 0; at < ids.length; at += TOGETHER) {
      const some = ids.slice(at, at + TOGETHER);
      try {
        count += await this.#retrySome(some);
      } catch (cause) {
        throw new Error(`${unwritable(cause)}; sent again: ${count}`, { cause });
      }
    }
    return count;
  }

  async #retrySome(ids: readonly string[]): Promise<number> {
    const chosen = ids.flatMap((id) => {
      const entry = this.#entries.get(id);
      return entry?.state === 'dead' && !this.#unwritten.has(id) ? [entry] : [];
    });
    if (chosen.length === 0) return 0;
    const now = this.#clock.now();
    const again = chosen.map((entry) => ({
      ...entry,
      state: 'queued' as const,
      attempts: 0,
      due: now,
      added: now,
    }));
    await this.#record(again);
    let count = 0;
    for (const [i, entry] of chosen.entries()) {
      // Dropped meanwhile: the journal has that behind this.
      if (this.#entries.get(entry.id) !== entry) continue;
      Object.assign(entry, again[i]);
      this.#waiting.set(targetKey(entry), entry);
      count++;
    }
    this.#sender.kick();
    return count;
  }

  /** Forgets an entry that is not in flight; how many. Rejects when the journal cannot be written: the entry stays. */
  async drop(id: string): Promise<number> {
    // From the call on nothing is folded into it: what comes later is not what is dropped.
    let entry = this.#entries.get(id);
    if (entry !== undefined) this.#waitsNoMore(entry);
    while (this.#unwritten.has(id)) await this.#quiet(id);
    entry = this.#entries.get(id);
    if (entry === undefined || entry.state === 'inflight') return 0;
    // While the journal is written it is neither sent nor sent again.
    this.#waitsNoMore(entry);
    this.#entries.delete(id);
    try {
      await this.#append({ end: id });
    } catch (cause) {
      this.#entries.set(id, entry);
      const key = targetKey(entry);
      const waits = entry.state === 'queued' || entry.state === 'retry';
      if (waits && !this.#waiting.has(key)) this.#waiting.set(key, entry);
      this.#sender.kick();
      throw new Error(unwritable(cause), { cause });
    }
    this.#ended(entry, 'dropped', '', false);
    return 1;
  }

  /** Ends calls that are under way; their entries are sent again by whoever opens the directory next. */
  async close(): Promise<void> {
    await this.#sender.close();
    await this.#journal?.close();
  }

  /** All that there is; asked for when nothing is being written, so that it is what the journal has. */
  snapshot(): readonly JournalRecord[] {
    const day = this.#clock.now() - 86_400_000;
    return [
      { next: this.#next },
      ...this.#sender.rules.filter((at) => at > day).map((rule) => ({ rule })),
      ...[...this.#entries.values()].map((put) => ({ put })),
    ];
  }

  /** What is waiting for the same already answers for both: a delete does what an invalidate would. */
  async #addOne(target: EdgeTarget, origin: string): Promise<AddResult> {
    const key = targetKey(target);
    try {
      for (;;) {
        const same = this.#waiting.get(key);
        if (same === undefined) return await this.#enter(target, origin);
        const writing = this.#unwritten.get(same.id);
        if (writing !== undefined) await writing;
        else if (target.kind !== 'delete' || same.kind === 'delete') return this.#fold(same, origin);
        else {
          await this.#record([{ ...same, kind: 'delete' }]);
          if (this.#entries.get(same.id) === same) same.kind = 'delete';
          this.#sender.kick();
        }
      }
    } catch (cause) {
      return { id: '', state: 'rejected', reason: unwritable(cause) };
    }
  }

  /** A new entry. Rejects when the journal cannot be written. */
  async #enter({ kind, type, network, target }: EdgeTarget, origin: string): Promise<AddResult> {
    const state = this.#dryRun ? 'dry-run' : 'queued';
    const { maxEntries } = this.#options;
    if (this.#entries.size >= maxEntries)
      return { id: '', state: 'rejected', reason: `the queue is full (max_entries = ${maxEntries})` };
    const now = this.#clock.now();
    const id = String(this.#next++);
    const entry: QueueEntry = {
      ...{ id, kind, type, network, target, origin },
      ...{ state: 'queued', attempts: 0, added: now, due: now, detail: '', poll: '' },
    };
    this.#entries.set(id, entry);
    this.#waiting.set(targetKey(entry), entry);
    try {
      await this.#record([entry]);
    } catch (cause) {
      this.#entries.delete(id);
      this.#waitsNoMore(entry);
      throw cause;
    }
    this.#options.event({ id, origin, state: 'queued', detail: `${kind} ${type} ${target}` });
    this.#sender.kick();
    return { id, state };
  }

  #fold(entry: QueueEntry, origin: string): AddResult {
    const origins = `${entry.origin}, ${origin}`;
    if (origins.length <= MAX_ORIGIN) entry.origin = origins;
    const { id } = entry;
    this.#options.event({ id, origin, state: 'queued', detail: 'folded into an entry that waits' });
    return { id, state: this.#dryRun ? 'dry-run' : 'queued' };
  }

  #changed(entry: QueueEntry, purgeId: string): void {
    if (entry.state === 'dead') {
      this.#fault(entry);
      this.#settle(entry.id, 'dead');
    } else if (entry.state === 'retry') this.#fault(entry);
    this.#note({ put: entry });
    this.#tell(entry, entry.state, purgeId);
  }

  #ended(entry: QueueEntry, state: string, purgeId: string, noted = true): void {
    this.#entries.delete(entry.id);
    this.#waitsNoMore(entry);
    if (noted) this.#note({ end: entry.id });
    this.#recent.unshift({ ...entry, state, purgeId, ended: this.#clock.now() });
    this.#recent.length = Math.min(this.#recent.length, RECENT);
    this.#settle(entry.id, state);
    this.#tell(entry, state, purgeId);
  }

  #waitsNoMore(entry: QueueEntry): void {
    const key = targetKey(entry);
    if (this.#waiting.get(key) === entry) this.#waiting.delete(key);
  }

  #tell({ id, origin, detail }: QueueEntry, state: string, purgeId: string): void {
    this.#options.event({ id, origin, state, detail, ...(purgeId === '' ? {} : { purgeId }) });
  }

  #fault({ id, detail }: QueueEntry): void {
    this.#errors.unshift(`${id}: ${detail}`);
    this.#errors.length = Math.min(this.#errors.length, ERRORS);
  }

  #settle(id: string, state: string): void {
    const waiting = this.#settling.get(id) ?? [];
    this.#settling.delete(id);
    for (const done of waiting) done(state);
  }

  /** Writes entries as they are to be. Until it is over nothing else is done with them. */
  async #record(entries: readonly QueueEntry[]): Promise<void> {
    const written = this.#append(...entries.map((put) => ({ put })));
    for (const { id } of entries) this.#unwritten.set(id, written);
    try {
      await written;
    } finally {
      for (const { id } of entries) this.#unwritten.delete(id);
    }
  }

  /** Resolves when what is being written of an entry is over; more may be by then. */
  async #quiet(id: string): Promise<void> {
    await this.#unwritten.get(id)?.catch(() => undefined);
  }

  #append(...records: JournalRecord[]): Promise<void> {
    return this.#journal?.append(...records) ?? Promise.reject(new Error('the queue is closed'));
  }

  /** What need not be there: without it something is sent again. */
  #note(record: JournalRecord): void {
    this.#append(record).catch(() => undefined);
  }
}

function unwritable(cause: unknown): string {
  return `the journal cannot be written: ${(cause as Error).message}`;
}
