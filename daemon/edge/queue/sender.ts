// Sends the entries of the queue in batches of one kind, type and network, within the network's limits, and decides what
// becomes of them by the result of the call. It changes entries and notifies the queue, which writes the journal.

import { turns } from '../../turns/turns.ts';
import type { CallResult, EdgeBatch, Outcome, Provider } from '../providers/provider.ts';
import type { Lane, QueueEntries } from './queue-entries.ts';
import type { QueueEntry } from './queue-entry.ts';

export interface Limiter {
  take(n: number, signal: AbortSignal): Promise<() => void>;
  /** Allows no call for `ms` milliseconds. */
  penalize(ms: number): void;
}

export interface SendClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
}

export interface SenderParts {
  readonly provider: Provider;
  readonly limiter: Limiter;
  readonly clock: SendClock;
  readonly random: () => number;
  readonly maxAttempts: number;
  readonly backoffMin: number;
  readonly backoffMax: number;
  readonly maxAge: number;
  readonly entries: QueueEntries;
  dryRun(): boolean;
  /** Nothing may be merged into the entry from now on. */
  taken(entry: QueueEntry): void;
  waits(entry: QueueEntry): void;
  changed(entry: QueueEntry, purgeId: string): void;
  ended(entry: QueueEntry, state: string, purgeId: string): void;
  sentRule(at: number): void;
  count(what: 'acked' | 'retried' | 'ratelimited' | 'auth_paused'): void;
}

/** Milliseconds that operations are collected into batches. */
const GATHER = 100;
/** Calls prepared at once; the limiter decides how many run. */
const MAX_CALLS = 16;
const RULES_A_DAY = 100;
const DAY = 86_400_000;
/** Milliseconds between polls of a request by rule: the first, and the maximum. */
const POLL_MIN = 5000;
const POLL_MAX = 60_000;

export class Sender {
  readonly #parts: SenderParts;
  /** Times when requests by rule were sent. */
  readonly rules: number[];
  paused = false;
  alarm: string | null = null;
  #timer: (() => void) | null = null;
  #timerAt = 0;
  #calls = 0;
  #ruleUnderWay = false;
  /** A flush is scheduled, because the turn had no time left. */
  #flushesLater = false;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #polled = new Set<string>();

  constructor(parts: SenderParts, rules: number[]) {
    this.#parts = parts;
    this.rules = rules;
  }

  /** Schedules a flush. */
  kick(ms = GATHER): void {
    if (this.#closing.signal.aborted) return;
    const at = this.#parts.clock.now() + ms;
    if (this.#timer !== null) {
      if (this.#timerAt <= at) return;
      this.#timer();
    }
    this.#timerAt = at;
    this.#timer = this.#parts.clock.after(ms, () => {
      this.#timer = null;
      this.#flush();
    });
  }

  pause(alarm: string | null): void {
    this.paused = true;
    this.alarm = alarm;
  }

  resume(): void {
    this.paused = false;
    this.alarm = null;
    this.kick(0);
  }

  async close(): Promise<void> {
    this.#timer?.();
    this.#timer = null;
    this.#closing.abort(new Error('the queue is closed'));
    await Promise.allSettled([...this.#running]);
  }

  #flush(): void {
    if (this.paused || this.#closing.signal.aborted) return;
    const { clock, entries } = this.#parts;
    const now = clock.now();
    for (const poll of entries.offeredPolls()) this.#poll(poll, POLL_MIN);
    // All due entries before any is sent, so that the order is kept.
    if (!entries.ripen(now)) {
      this.#flushLater();
      return;
    }
    this.#startCalls();
    const [rules] = entries.lanes('rules');
    if (rules !== undefined && !this.#ruleUnderWay && this.#mayRule(now)) {
      this.#ruleUnderWay = true;
      this.#start(takeBatch(rules, this.#parts.provider), () => {
        this.#ruleUnderWay = false;
      });
    }
    // A finished call flushes again; this timer is for entries that are due later, or wait for the rate of rules.
    const later = entries.nextDue === undefined ? [] : [entries.nextDue - now];
    if (rules !== undefined && !this.#mayRule(now)) later.push((this.rules[0] as number) + DAY - now);
    if (later.length > 0) this.kick(Math.max(1, Math.min(...later)));
  }

  /** Starts as many calls as may run at once, over several turns if preparation takes long. */
  #startCalls(): void {
    const { provider, entries } = this.#parts;
    for (const lane of entries.lanes('others')) {
      while (lane.size > 0 && this.#calls < MAX_CALLS) {
        if (this.#flushesLater) return;
        this.#start(takeBatch(lane, provider));
        turns.tookLong();
        if (!turns.mayContinue()) this.#flushLater();
      }
    }
  }

  #flushLater(): void {
    if (this.#flushesLater) return;
    this.#flushesLater = true;
    turns.later(() => {
      this.#flushesLater = false;
      this.#flush();
    });
  }

  #mayRule(now: number): boolean {
    while (this.rules.length > 0 && (this.rules[0] as number) <= now - DAY) this.rules.shift();
    return this.rules.length < RULES_A_DAY;
  }

  #start(batch: QueueEntry[], over?: () => void): void {
    for (const entry of batch) {
      this.#parts.entries.change(entry, { state: 'inflight' });
      this.#parts.taken(entry);
    }
    this.#calls++;
    const run = this.#send(batch).finally(() => {
      this.#calls--;
      this.#running.delete(run);
      over?.();
      this.kick();
    });
    this.#running.add(run);
  }

  async #send(batch: QueueEntry[]): Promise<void> {
    const { provider, limiter, clock } = this.#parts;
    const { signal } = this.#closing;
    const call = batchOf(batch);
    if (this.#parts.dryRun()) {
      const text = provider.describe(call);
      for (const entry of batch) {
        entry.detail = text;
        this.#parts.ended(entry, 'dry-run', '');
      }
      return;
    }
    let result: CallResult;
    try {
      const release = await limiter.take(1, signal);
      try {
        if (this.paused) {
          for (const entry of batch) this.#again(entry, clock.now());
          return;
        }
        if (call.type === 'rule') {
          this.rules.push(clock.now());
          this.#parts.sentRule(clock.now());
        }
        result = await provider.send(call, signal);
      } finally {
        release();
      }
    } catch {
      // Closed: the journal has the entries unchanged.
      for (const entry of batch) this.#parts.entries.change(entry, { state: 'queued' });
      return;
    }
    await this.#decide(batch, provider.classify(result, false));
  }

  /** Takes several turns: entries in flight are not modified by anything else. */
  async #decide(batch: QueueEntry[], outcome: Outcome): Promise<void> {
    const { clock, limiter } = this.#parts;
    switch (outcome.is) {
      case 'acked':
        await turns.over(batch, (entry) => this.#acked(entry, outcome.purgeId, outcome.poll ?? ''));
        return;
      case 'limited':
        this.#parts.count('ratelimited');
        limiter.penalize(outcome.wait);
        await turns.over(batch, (entry) => this.#again(entry, clock.now() + outcome.wait, outcome.detail));
        return;
      case 'split':
      case 'bisect': {
        if (batch.length === 1) {
          this.#dead(batch[0] as QueueEntry, outcome.detail);
          return;
        }
        const half = batch.length >> 1;
        await this.#send(batch.slice(0, half));
        await this.#send(batch.slice(half));
        return;
      }
      case 'pause':
        this.#parts.count('auth_paused');
        this.pause(outcome.detail);
        await turns.over(batch, (entry) => this.#again(entry, clock.now(), outcome.detail));
        return;
      case 'retry':
        await turns.over(batch, (entry) => this.#retry(entry, outcome.detail));
        return;
      case 'dead':
        await turns.over(batch, (entry) => this.#dead(entry, outcome.detail));
    }
  }

  #acked(entry: QueueEntry, purgeId: string, poll: string): void {
    if (poll !== '') {
      this.#parts.entries.change(entry, { state: 'polling', poll, detail: 'the network works on it' });
      this.#parts.entries.offer(entry);
      this.#parts.changed(entry, purgeId);
      this.#poll(poll, POLL_MIN);
      return;
    }
    this.#parts.count('acked');
    entry.detail = '';
    this.#parts.ended(entry, 'acked', purgeId);
  }

  #again(entry: QueueEntry, due: number, detail = ''): void {
    this.#parts.entries.change(entry, { state: 'queued', due, detail });
    this.#parts.entries.offer(entry);
    this.#parts.waits(entry);
  }

  /** Full jitter: a random delay between 0 and a limit that doubles. */
  #retry(entry: QueueEntry, detail: string): void {
    const { clock, maxAttempts, maxAge, backoffMin, backoffMax, random } = this.#parts;
    const now = clock.now();
    entry.attempts++;
    const tooOften = entry.attempts >= maxAttempts;
    if (tooOften || now - entry.added >= maxAge) {
      const why = tooOften ? `tried ${entry.attempts} times` : 'older than max_age';
      this.#dead(entry, `${detail}; ${why}`);
      return;
    }
    this.#parts.count('retried');
    const due = now + random() * Math.min(backoffMax, backoffMin * 2 ** (entry.attempts - 1));
    this.#parts.entries.change(entry, { state: 'retry', due, detail });
    this.#parts.entries.offer(entry);
    this.#parts.waits(entry);
    this.#parts.changed(entry, '');
  }

  #dead(entry: QueueEntry, detail: string): void {
    this.#parts.entries.change(entry, { state: 'dead', detail });
    this.#parts.changed(entry, '');
  }

  /** Polls a request by rule until it is done. Entries of one request share a poll. */
  #poll(id: string, wait: number): void {
    const { provider, clock } = this.#parts;
    if (provider.poll === undefined || this.#polled.has(id)) return;
    this.#polled.add(id);
    clock.after(wait, () => {
      if (this.#closing.signal.aborted) return;
      const run = this.#ask(id, wait).finally(() => this.#running.delete(run));
      this.#running.add(run);
    });
  }

  async #ask(id: string, wait: number): Promise<void> {
    const { provider } = this.#parts;
    let outcome: Outcome;
    try {
      outcome = provider.classify((await provider.poll?.(id, this.#closing.signal)) as CallResult, true);
    } catch {
      return;
    }
    this.#polled.delete(id);
    for (const entry of this.#parts.entries.polling(id)) {
      if (outcome.is === 'acked' && outcome.poll === undefined) this.#acked(entry, outcome.purgeId, '');
      else if (outcome.is === 'dead') this.#dead(entry, outcome.detail);
      else this.#poll(id, Math.min(POLL_MAX, wait * 2));
    }
  }
}

/** Rules per content-control request. */
const MAX_RULES = 250;

function batchOf(entries: readonly QueueEntry[]): EdgeBatch {
  const { kind, type, network } = entries[0] as QueueEntry;
  return { kind, type, network, targets: entries.map(({ target }) => target) };
}

/** Removes the entries of the next call from the lane. */
function takeBatch(waiting: Lane, provider: Provider): QueueEntry[] {
  const head = waiting.first;
  if (head === undefined) return [];
  const { maxObjects, maxBytes } = provider.capabilities;
  const { type } = head;
  const allowed = provider.objectsOf?.(type) ?? maxObjects;
  const most = type === 'rule' ? Math.min(MAX_RULES, allowed) : allowed;
  const empty = provider.bodyBytes({ ...batchOf([head]), targets: [] });
  const batch: QueueEntry[] = [];
  let bytes = empty;
  for (let entry: QueueEntry | undefined = head; entry !== undefined; entry = waiting.first) {
    bytes += provider.bodyBytes(batchOf([entry])) - empty + 1;
    if (batch.length > 0 && (batch.length >= most || bytes > maxBytes)) break;
    batch.push(entry);
    waiting.remove(entry);
  }
  return batch;
}
