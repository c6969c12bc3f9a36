// The queue of purges for an edge network. What add() has answered for is in the journal and is sent until the network
// has taken it, or an operator finds it among the dead letters. Operations are idempotent: after a crash some are sent
// twice, none is lost.

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
  /** Appends of entries that nobody was answered for yet. */
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

  /** Sends a dead letter, or "all", again; how many. Rejects when the journal cannot be written. */
  async retry(id: string): Promise<number> {
    const chosen = this.dead().filter((entry) => id === 'all' || entry.id === id);
    for (const entry of chosen) {
      Object.assign(entry, {
        state: 'queued',
        attempts: 0,
        due: this.#clock.now(),
        added: this.#clock.now(),
      });
      this.#waiting.set(targetKey(entry), entry);
      await this.#append({ put: entry });
    }
    this.#sender.kick();
    return chosen.length;
  }

  /** Forgets an entry that is not in flight; how many. Rejects when the journal cannot be written: the entry stays. */
  async drop(id: string): Promise<number> {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.state === 'inflight') return 0;
    // While the journal is written it is neither sent nor folded into.
    const key = targetKey(entry);
    const waited = this.#waiting.get(key) === entry && this.#waiting.delete(key);
    this.#entries.delete(id);
    try {
      await this.#append({ end: id });
    } catch (cause) {
      this.#entries.set(id, entry);
      if (waited && !this.#waiting.has(key)) this.#waiting.set(key, entry);
      this.#sender.kick();
      throw cause;
    }
    this.#ended(entry, 'dropped', '', false);
    return 1;
  }

  /** Ends calls that are under way; their entries are sent again by whoever opens the directory next. */
  async close(): Promise<void> {
    await this.#sender.close();
    await this.#journal?.close();
  }

  snapshot(): readonly JournalRecord[] {
    const day = this.#clock.now() - 86_400_000;
    return [
      { next: this.#next },
      ...this.#sender.rules.filter((at) => at > day).map((rule) => ({ rule })),
      ...[...this.#entries.values()].filter(({ id }) => !this.#unwritten.has(id)).map((put) => ({ put })),
    ];
  }

  async #addOne(target: EdgeTarget, origin: string): Promise<AddResult> {
    const state = this.#dryRun ? 'dry-run' : 'queued';
    const same = this.#waiting.get(targetKey(target));
    if (same !== undefined) return this.#fold(same, target, origin, state);
    if (this.#entries.size >= this.#options.maxEntries)
      return {
        id: '',
        state: 'rejected',
        reason: `the queue is full (max_entries = ${this.#options.maxEntries})`,
      };
    const now = this.#clock.now();
    const entry: QueueEntry = {
      id: String(this.#next++),
      kind: target.kind,
      type: target.type,
      network: target.network,
      target: target.target,
      origin,
      state: 'queued',
      attempts: 0,
      added: now,
      due: now,
      detail: '',
      poll: '',
    };
    this.#entries.set(entry.id, entry);
    this.#waiting.set(targetKey(entry), entry);
    const written = this.#append({ put: entry });
    this.#unwritten.set(entry.id, written);
    try {
      await written;
    } catch (cause) {
      this.#entries.delete(entry.id);
      this.#unwritten.delete(entry.id);
      if (this.#waiting.get(targetKey(entry)) === entry) this.#waiting.delete(targetKey(entry));
      return {
        id: '',
        state: 'rejected',
        reason: `the journal cannot be written: ${(cause as Error).message}`,
      };
    }
    this.#unwritten.delete(entry.id);
    this.#options.event({
      id: entry.id,
      origin,
      state: 'queued',
      detail: `${entry.kind} ${entry.type} ${entry.target}`,
    });
    this.#sender.kick();
    return { id: entry.id, state };
  }

  /** The same is waiting already: it answers for both. A delete does what an invalidate would. */
  async #fold(
    entry: QueueEntry,
    target: EdgeTarget,
    origin: string,
    state: 'queued' | 'dry-run',
  ): Promise<AddResult> {
    const { kind, id } = entry;
    if (target.kind === 'delete') entry.kind = 'delete';
    const origins = `${entry.origin}, ${origin}`;
    if (origins.length <= MAX_ORIGIN) entry.origin = origins;
    try {
      await this.#unwritten.get(id);
      if (entry.kind !== kind) await this.#append({ put: entry });
    } catch (cause) {
      entry.kind = kind;
      return {
        id: '',
        state: 'rejected',
        reason: `the journal cannot be written: ${(cause as Error).message}`,
      };
    }
    this.#options.event({ id, origin, state: 'queued', detail: 'folded into an entry that waits' });
    return { id, state };
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
    if (this.#waiting.get(targetKey(entry)) === entry) this.#waiting.delete(targetKey(entry));
    if (noted) this.#note({ end: entry.id });
    this.#recent.unshift({ ...entry, state, purgeId, ended: this.#clock.now() });
    this.#recent.length = Math.min(this.#recent.length, RECENT);
    this.#settle(entry.id, state);
    this.#tell(entry, state, purgeId);
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

  #append(record: JournalRecord): Promise<void> {
    return this.#journal?.append(record) ?? Promise.reject(new Error('the queue is closed'));
  }

  /** What need not be there: without it something is sent again. */
  #note(record: JournalRecord): void {
    this.#append(record).catch(() => undefined);
  }
}
