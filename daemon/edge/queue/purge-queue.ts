// The queue of purges for an edge network. Entries acknowledged by add() are in the journal and are sent until the
// network accepts them, or become dead letters. Operations are idempotent: after a crash some are sent twice, none is
// lost. A command changes an entry only after the journal has the change: until then nothing else modifies the entry,
// and after a wait it is looked up again. There is no await between choosing an entry and recording the change.

import { turns } from '../../turns/turns.ts';
import type { EdgeTarget } from '../providers/provider.ts';
import { Journal } from './journal.ts';
import { QueueEntries } from './queue-entries.ts';
import {
  type EndedEntry,
  type JournalRecord,
  type QueueEntry,
  type Replayed,
  replaying,
  targetKey,
} from './queue-entry.ts';
import type { AddResult, QueueCounters, QueueOptions, QueueStatus, QueueTotals } from './queue-options.ts';
import { type SendClock, Sender } from './sender.ts';

/** Dead letters written to the journal together: one sync for all, and few enough for one turn of the event loop
 * (chosen). */
const BATCH_SIZE = 1000;
/** Characters of the origins of an entry. */
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
  readonly #entries: QueueEntries;
  /** Waiting entries by target. */
  readonly #waiting = new Map<string, QueueEntry>();
  /** Pending appends by entry. */
  readonly #unwritten = new Map<string, Promise<void>>();
  readonly #settling = new Map<string, ((state: string) => void)[]>();
  #journal: Journal | null = null;
  #next: number;
  readonly #sender: Sender;
  readonly #errors: string[] = [];
  readonly #recent: EndedEntry[] = [];
  readonly #totals: QueueTotals;
  #dryRun: boolean;

  private constructor(options: QueueOptions, { rules, next }: Replayed) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#entries = new QueueEntries(() => this.#clock.now());
    this.#totals = options.totals ?? { acked: 0, retried: 0, ratelimited: 0, auth_paused: 0 };
    this.#dryRun = options.dryRun;
    this.#next = next;
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
        entries: this.#entries,
        dryRun: () => this.#dryRun,
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

  /** Opens the journal of a directory and starts to send its entries. Rejects with the problem of the directory. */
  static async open(options: QueueOptions): Promise<PurgeQueue> {
    let queue: PurgeQueue | null = null;
    const { journal, records } = await Journal.open({
      directory: options.directory,
      fsync: options.fsync,
      snapshot: () => queue?.snapshot() ?? [],
      ...(options.files === undefined ? {} : { files: options.files }),
      ...(options.compactAt === undefined ? {} : { compactAt: options.compactAt }),
    });
    const state = (await turns.through((options.replay ?? replaying)(records))) as Replayed;
    const made = new PurgeQueue(options, state);
    await turns.over(state.entries.values(), (entry) => made.#recall(entry));
    queue = made;
    queue.#journal = journal;
    queue.#sender.kick();
    return queue;
  }

  /** Restores an entry from the journal. */
  #recall(entry: QueueEntry): void {
    if (entry.state === 'queued' || entry.state === 'retry') this.#waiting.set(targetKey(entry), entry);
    this.#entries.add(entry);
    this.#entries.offer(entry);
  }

  /** Resolves when the journal has all of it; entries that it cannot store are rejected, each with the reason. */
  add(targets: readonly EdgeTarget[], origin: string): Promise<AddResult[]> {
    return Promise.all(targets.map((target) => this.#addOne(target, origin)));
  }

  /** Resolves with the final state of an entry: acked, dead, dry-run, dropped; at once if it is gone. */
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

  /** Including recently ended entries. */
  show(id: string): QueueEntry | EndedEntry | null {
    return this.#entries.get(id) ?? this.#recent.find((entry) => entry.id === id) ?? null;
  }

  status(): QueueStatus {
    const { paused, alarm } = this.#sender;
    const depth = this.#entries.queued + this.#entries.inflight;
    return { paused, alarm, dryRun: this.#dryRun, depth, errors: this.#errors, recent: this.#recent };
  }

  counters(): QueueCounters {
    const { acked, retried, ratelimited, auth_paused } = this.#totals;
    const { queued, inflight, dead, oldest } = this.#entries;
    const now = this.#clock.now();
    const oldest_age = Math.floor((now - Math.min(now, oldest ?? now)) / 1000);
    return { queued, inflight, dead, oldest_age, acked, retried, ratelimited, auth_paused };
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

  /** Sends a dead letter, or "all", again; returns their number. Rejects if the journal cannot be written: recorded
   * ones are sent, the others remain dead letters. */
  async retry(id: string): Promise<number> {
    while (this.#unwritten.has(id)) await this.#appended(id);
    const ids = id === 'all' ? this.dead().map((entry) => entry.id) : [id];
    let count = 0;
    for (let at = 0; at < ids.length; at += BATCH_SIZE) {
      const some = ids.slice(at, at + BATCH_SIZE);
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
      // It was dropped meanwhile; the journal has that later.
      if (this.#entries.get(entry.id) !== entry) continue;
      this.#entries.change(entry, again[i] as QueueEntry);
      this.#entries.offer(entry);
      this.#waiting.set(targetKey(entry), entry);
      count++;
    }
    this.#sender.kick();
    return count;
  }

  /** Removes entries that are not in flight; returns their number. Rejects if the journal cannot be written: the
   * entry remains. */
  async drop(id: string): Promise<number> {
    // Nothing is merged into it from now on: later requests are not dropped with it.
    let entry = this.#entries.get(id);
    if (entry !== undefined) this.#stopWaiting(entry);
    while (this.#unwritten.has(id)) await this.#appended(id);
    entry = this.#entries.get(id);
    if (entry === undefined || entry.state === 'inflight') return 0;
    // While the journal is written the entry is not sent.
    this.#stopWaiting(entry);
    this.#entries.delete(entry);
    try {
      await this.#append({ end: id });
    } catch (cause) {
      this.#entries.add(entry);
      this.#entries.offer(entry);
      const key = targetKey(entry);
      const waits = entry.state === 'queued' || entry.state === 'retry';
      if (waits && !this.#waiting.has(key)) this.#waiting.set(key, entry);
      this.#sender.kick();
      throw new Error(unwritable(cause), { cause });
    }
    this.#ended(entry, 'dropped', '', false);
    return 1;
  }

  /** Aborts calls in progress; their entries are sent again when the directory is opened next. */
  async close(): Promise<void> {
    await this.#sender.close();
    await this.#journal?.close();
  }

  /** All entries; called while nothing is being written, so that it matches the journal. */
  snapshot(): Iterable<JournalRecord> {
    const day = this.#clock.now() - 86_400_000;
    const rules = this.#sender.rules.filter((at) => at > day);
    return allRecords(this.#next, rules, [...this.#entries.values()]);
  }

  /** Merges into a waiting entry for the same target: a delete also does what an invalidate would. */
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
          this.#entries.withdraw(same);
          try {
            await this.#record([{ ...same, kind: 'delete' }]);
            if (this.#entries.get(same.id) === same) this.#entries.change(same, { kind: 'delete' });
          } finally {
            this.#entries.offer(same);
          }
          this.#sender.kick();
        }
      }
    } catch (cause) {
      return { id: '', state: 'rejected', reason: unwritable(cause) };
    }
  }

  /** Adds an entry. Rejects if the journal cannot be written. */
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
    this.#entries.add(entry);
    this.#waiting.set(targetKey(entry), entry);
    try {
      await this.#record([entry]);
    } catch (cause) {
      this.#entries.delete(entry);
      this.#stopWaiting(entry);
      throw cause;
    }
    this.#entries.offer(entry);
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
    this.#entries.delete(entry);
    this.#stopWaiting(entry);
    if (noted) this.#note({ end: entry.id });
    this.#recent.unshift({ ...entry, state, purgeId, ended: this.#clock.now() });
    this.#recent.length = Math.min(this.#recent.length, RECENT);
    this.#settle(entry.id, state);
    this.#tell(entry, state, purgeId);
  }

  #stopWaiting(entry: QueueEntry): void {
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

  /** Writes changed entries to the journal. Until it is done nothing else modifies them. */
  async #record(entries: readonly QueueEntry[]): Promise<void> {
    const written = this.#append(...entries.map((put) => ({ put })));
    for (const { id } of entries) this.#unwritten.set(id, written);
    try {
      await written;
    } finally {
      for (const { id } of entries) this.#unwritten.delete(id);
    }
  }

  /** Resolves when the pending append of an entry is done; another may have started by then. */
  async #appended(id: string): Promise<void> {
    await this.#unwritten.get(id)?.catch(() => undefined);
  }

  #append(...records: JournalRecord[]): Promise<void> {
    return this.#journal?.append(...records) ?? Promise.reject(new Error('the queue is closed'));
  }

  /** Writes an optional record: without it something is sent again. */
  #note(record: JournalRecord): void {
    this.#append(record).catch(() => undefined);
  }
}

function* allRecords(
  next: number,
  rules: readonly number[],
  entries: readonly QueueEntry[],
): Generator<JournalRecord> {
  yield { next };
  for (const rule of rules) yield { rule };
  for (const put of entries) yield { put };
}

function unwritable(cause: unknown): string {
  return `the journal cannot be written: ${(cause as Error).message}`;
}
