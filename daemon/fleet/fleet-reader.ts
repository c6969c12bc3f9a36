// Follows the stream: passes its messages to the worker in order, each once, and decides what happens to the cache if
// some were missed. The position in the stream lives as long as the manager, like the worker's cache; that of a cache on disk is kept
// beside it.
//
// The difficult case is a position that has become meaningless: the stream was trimmed beyond it, recreated, or
// truncated by a crash and continued. Then it is unknown what was missed, and everything fetched before is banned. A truncated
// stream keeps its time of creation: it is known by the time at which the message of the position came.

import type { FleetEvent, FleetRefusal } from '../link.ts';
import type { Bus, BusMessage, StreamState } from './bus.ts';
import type { FleetCache } from './fleet-cache.ts';
import type { FleetLog } from './fleet-log.ts';
import { readMessage } from './fleet-message.ts';
import { writeApplied } from './node-messages.ts';

export interface ReaderParts {
  readonly bus: Bus;
  readonly cache: FleetCache;
  readonly node: string;
  readonly log: FleetLog;
  isOwn(id: string): boolean;
  /** Milliseconds that old objects are held while catching up; null: they are served meanwhile. */
  catchUp(): number | null;
  /** Logs a message for the operator. */
  report(level: 'info' | 'warning', text: string): void;
  /** `current` has changed. */
  changed(): void;
}

/** Milliseconds that the clocks of this machine and the bus may differ (chosen). */
const CLOCK_SKEW = 60_000;
/** Pending messages at which a slow node counts as behind (chosen: two seconds at the highest intended rate). */
const MAX_PENDING = 10_000;
/** Milliseconds between attempts to read. */
const RETRY = 500;
/** Milliseconds between two writes of the place (chosen): what came since the last one is applied again. */
const KEEP_INTERVAL = 1000;
/** Milliseconds between reports of refusals. */
const REPORT_INTERVAL = 10_000;

export class FleetReader {
  readonly counters = { applied: 0, refused: 0, gaps: 0, flushed: 0 };
  /** The last applied message; null before the position is known. */
  place: number | null = null;
  /** Whether all messages known to be in the stream are applied. */
  current = false;
  private readonly parts: ReaderParts;
  private created = '';
  /** A message was stored at or before a place that was applied already. */
  private isDoubtful = false;
  /** Messages were missed and are not all applied yet: one gap, however often reading has to begin again. */
  private isInGap = false;
  /** When the message of the place arrived; 0 while unknown. */
  private placeAt = 0;
  /** The message up to which it has to catch up. */
  private target = 0;
  private newest = 0;
  private holding: NodeJS.Timeout | null = null;
  private keeping: NodeJS.Timeout | null = null;
  private reading: { close(): void } | null = null;
  private interruptions = 0;
  private running = false;
  private closed = false;
  private refusalReportedAt = 0;
  private unreported = 0;

  constructor(parts: ReaderParts) {
    this.parts = parts;
  }

  /** Known messages that are not applied, and how long the oldest of them has waited, in seconds. */
  get lag(): { messages: number; seconds: number } {
    const messages = Math.max(0, Math.max(this.target, this.newest) - (this.place ?? this.newest));
    const seconds = messages === 0 || this.placeAt === 0 ? 0 : (Date.now() - this.placeAt) / 1000;
    return { messages, seconds: Math.max(0, Math.round(seconds)) };
  }

  /** The stream of the place: when it was created; empty while that is unknown. */
  get stream(): string {
    return this.isDoubtful ? '' : this.created;
  }

  /** A message was stored with a number that was applied before: it is no longer the stream that was read. */
  doubt(): void {
    this.isDoubtful = true;
    this.away();
  }

  /** Reads while the bus is connected. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    const { bus, report } = this.parts;
    let reported = '';
    while (bus.connected && !this.closed) {
      try {
        const why = await this.follow();
        reported = '';
        if (bus.connected && !this.closed) report('info', `Fleet: restarted reading: ${why}`);
      } catch (cause) {
        const { message } = cause as Error;
        if (bus.connected && !this.closed && message !== reported)
          report('warning', `Fleet: cannot read the stream: ${message}; retrying`);
        reported = message;
      }
      this.become(false);
      if (bus.connected && !this.closed) await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
    this.running = false;
  }

  /** Messages may have been missed: reads again from the position. */
  away(): void {
    this.interruptions++;
    this.reading?.close();
    this.become(false);
  }

  /** A worker has started, with a cache that outlived another one: it holds all objects until it is known what they have missed. */
  workerStarted(): void {
    const { cache, catchUp, report } = this.parts;
    if (cache.kept === null || this.closed) return;
    this.away();
    const ms = catchUp();
    if (ms !== null) {
      if (this.holding === null) this.holdFor(ms);
      return;
    }
    cache
      .hold(false)
      .catch((cause: Error) => report('warning', `Fleet: old objects remain on hold: ${cause.message}`));
  }

  private become(current: boolean): void {
    if (this.current === current) return;
    this.current = current;
    this.parts.changed();
  }

  close(): void {
    this.closed = true;
    this.reading?.close();
    if (this.holding !== null) clearTimeout(this.holding);
    if (this.keeping !== null) clearTimeout(this.keeping);
    this.holding = null;
  }

  /** Keeps the place soon. */
  private keep(): void {
    const { kept } = this.parts.cache;
    if (kept === null || this.keeping !== null || this.closed) return;
    this.keeping = setTimeout(() => {
      this.keeping = null;
      // Without it the next start applies more, or bans everything.
      const { created, place, placeAt } = this;
      if (place !== null) kept.write({ created, seq: place, at: placeAt }).catch(() => undefined);
    }, KEEP_INTERVAL);
    this.keeping.unref();
  }

  private async follow(): Promise<string> {
    const { bus } = this.parts;
    const { interruptions } = this;
    const stream = await bus.stream();
    const from = await this.settle(stream);
    this.target = stream.last;
    let first = true;
    let over = '';
    const reading = await bus.read(from, async (batch) => {
      if (over !== '' || this.interruptions !== interruptions) return;
      const gap = await this.take(batch, first);
      first = false;
      if (gap === null) return;
      over = gap;
      reading.close();
    });
    this.reading = reading;
    if (this.place === null) this.place = reading.from - 1;
    if (this.placeAt === 0 && this.place > 0) await this.learnTime(this.place);
    this.keep();
    if (this.interruptions === interruptions) await this.arrived(stream.last);
    else reading.close();
    const ended = await reading.ended;
    this.reading = null;
    return over || ended;
  }

  /** Determines where to read from; handles a position that cannot be resumed. */
  private async settle(stream: StreamState): Promise<{ seq: number } | { time: number }> {
    const { cache, bus } = this.parts;
    if (this.place === null) {
      const kept = (await cache.kept?.read()) ?? (cache.kept === null ? 'new' : null);
      if (kept === 'new') return this.begin(stream);
      if (kept === null) {
        await this.startOver(stream, 'it is unknown what this node has missed');
        this.created = stream.created;
        return { seq: stream.last + 1 };
      }
      this.place = kept.seq;
      this.placeAt = kept.at;
      this.created = kept.created;
    }
    const isGone = cache.kept === null && cache.since() === null;
    const lost = isGone ? null : await this.isLost(stream, bus);
    // Without a cache there is nothing to catch up with.
    if (isGone) this.moveTo(stream);
    else if (lost !== null) await this.startOver(stream, lost);
    else if (stream.last > this.place) {
      this.countGap();
      await this.hold(stream.last - this.place);
    }
    this.created = stream.created;
    this.isDoubtful = false;
    return { seq: this.place + 1 };
  }

  /** A fresh cache starts at the end of the stream; one that was filled before the bus was connected, at the time of
   * its start. */
  private async begin(stream: StreamState): Promise<{ seq: number } | { time: number }> {
    const since = this.parts.cache.since();
    this.created = stream.created;
    if (since === null) {
      if (this.parts.cache.kept !== null) throw new Error('there is no worker');
      this.moveTo(stream);
      return { seq: stream.last + 1 };
    }
    const time = since - CLOCK_SKEW;
    if (stream.droppedUntil > time) {
      await this.startOver(stream, 'the stream starts after this proxy began to serve');
      return { seq: stream.last + 1 };
    }
    return { time };
  }

  /** Why the missed messages are unknown; null if they can be read. */
  private async isLost(stream: StreamState, bus: Bus): Promise<string | null> {
    const place = this.place ?? 0;
    if (stream.created !== this.created) return 'the stream was recreated';
    if (stream.last < place) return 'the stream was truncated';
    if (stream.first > place + 1) return `the stream lacks ${place + 1} to ${stream.first - 1}`;
    if (this.placeAt === 0 || stream.first > place) return null;
    const at = await bus.timeOf(place);
    return at === null || at === this.placeAt ? null : 'the stream was rewritten';
  }

  /** Bans everything fetched so far and continues at the end of the stream. */
  private async startOver(stream: StreamState, why: string): Promise<void> {
    this.countGap();
    this.become(false);
    await this.flush(`${why}: everything that was fetched before is banned`);
    this.moveTo(stream);
  }

  private moveTo(stream: StreamState): void {
    this.place = stream.last;
    this.placeAt = stream.lastAt;
  }

  private async learnTime(place: number): Promise<void> {
    const at = await this.parts.bus.timeOf(place).catch(() => null);
    if (at !== null && this.place === place && this.placeAt === 0) this.placeAt = at;
  }

  private countGap(): void {
    if (!this.isInGap) this.counters.gaps++;
    this.isInGap = true;
  }

  private async flush(why: string): Promise<void> {
    await this.parts.cache.flush(why);
    this.parts.report('warning', `Fleet: ${why}`);
    // Last: who reads the counter finds everything banned.
    this.counters.flushed++;
  }

  /** Messages have to be caught up with: holds old objects. */
  private async hold(missed: number): Promise<void> {
    const { cache, catchUp, report } = this.parts;
    this.become(false);
    const ms = catchUp();
    if (ms === null) {
      report('warning', `Fleet: behind by ${missed} messages; old objects are served until they are applied`);
      return;
    }
    report('info', `Fleet: behind by ${missed} messages; old objects are held until they are applied`);
    await cache.hold(true);
    if (this.holding === null) this.holdFor(ms);
  }

  private holdFor(ms: number): void {
    this.holding = setTimeout(() => void this.holdExpired(ms), ms);
    this.holding.unref();
  }

  /** If the ban fails, the objects stay on hold and the ban is retried: they must not be served. Never rejects. */
  private async holdExpired(ms: number): Promise<void> {
    this.holding = null;
    const why = `catching up took longer than ${ms / 1000} s: everything that was fetched before is banned`;
    try {
      await this.flush(why);
      await this.parts.cache.hold(false);
    } catch (cause) {
      if (this.closed) return;
      this.parts.report(
        'warning',
        `Fleet: old objects remain on hold, because they cannot be banned: ${(cause as Error).message}`,
      );
      if (this.holding === null) this.holdFor(ms);
    }
  }

  /** Applies a batch; returns the reason if reading has to be restarted. */
  private async take(batch: readonly BusMessage[], first: boolean): Promise<string | null> {
    const { cache, isOwn, log } = this.parts;
    const events: FleetEvent[] = [];
    let place = this.place ?? (batch[0]?.seq ?? 1) - 1;
    let at = this.placeAt;
    let gap: string | null = null;
    const publishers = new Map<string, number>();
    for (const { seq, publisher, id, at: came, data } of batch) {
      if (seq <= place) continue;
      if (seq > place + 1) {
        gap = `expected ${place + 1}, received ${seq}`;
        if (!first) break;
        // A new consumer starts at the next message that exists.
        await this.flushGap(place, seq);
        gap = null;
      }
      first = false;
      place = seq;
      at = came;
      const event = readMessage(data);
      log.add(seq, came, publisher, event);
      if (isOwn(id)) continue;
      if (typeof event === 'string') this.refuse({ seq, problem: event }, publisher);
      else events.push({ event, seq, from: publisher });
      publishers.set(publisher, seq);
    }
    const last = batch.at(-1);
    if (last !== undefined) {
      this.newest = last.seq + last.pending;
      if (this.current && last.pending >= MAX_PENDING) {
        this.target = this.newest;
        await this.hold(last.pending);
      }
    }
    if (events.length > 0) {
      const refused = await cache.apply(events);
      for (const each of refused) {
        log.refused(each.seq, each.problem);
        this.refuse(each, events.find(({ seq }) => seq === each.seq)?.from ?? '');
      }
      this.counters.applied += events.length - refused.length;
    }
    this.place = place;
    this.placeAt = at;
    this.keep();
    for (const [publisher, seq] of publishers)
      this.parts.bus.report(publisher, this.parts.node, writeApplied({ seq, stream: this.stream }));
    await this.arrived(this.target);
    return gap;
  }

  private async flushGap(place: number, seq: number): Promise<void> {
    this.countGap();
    await this.flush(
      `the stream lacks ${place + 1} to ${seq - 1}: everything that was fetched before is banned`,
    );
  }

  /** Releases old objects when all missed messages are applied. */
  private async arrived(target: number): Promise<void> {
    if (this.current || (this.place ?? 0) < target) return;
    if (this.holding !== null) {
      clearTimeout(this.holding);
      this.holding = null;
      await this.parts.cache.hold(false);
      this.parts.report('info', `Fleet: caught up with message ${this.place}`);
    }
    this.isInGap = false;
    this.become(true);
  }

  /** Counts and reports a refused message; the reports are rate limited. */
  private refuse({ seq, problem }: FleetRefusal, publisher: string): void {
    this.counters.refused++;
    const now = Date.now();
    if (now - this.refusalReportedAt < REPORT_INTERVAL) {
      this.unreported++;
      return;
    }
    const more = this.unreported === 0 ? '' : `, and ${this.unreported} more since the last report`;
    this.refusalReportedAt = now;
    this.unreported = 0;
    this.parts.report('warning', `Fleet: message ${seq} of ${publisher} refused: ${problem}${more}`);
  }
}
