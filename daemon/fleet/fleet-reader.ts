// Follows the stream: gives its messages to the worker in order, each once, and decides what becomes of the cache when some
// were missed. The place in the stream lives as long as the manager, and with it the worker's cache.
//
// The difficult case is a place that means nothing any more: the stream was trimmed beyond it, made again, or cut short by a
// crash and written on. Then nobody knows what was missed, and everything that was fetched before is banned.

import type { FleetEvent, FleetRefusal } from '../link.ts';
import type { Bus, BusMessage, StreamState } from './bus.ts';
import type { FleetLog } from './fleet-log.ts';
import { readMessage } from './fleet-message.ts';
import { writeApplied } from './node-messages.ts';

/** The worker, as the fleet uses it. */
export interface FleetCache {
  /** When the cache that is in use began to fill, in milliseconds since 1970; null while nothing is served. */
  since(): number | null;
  /** Returns what was refused. A worker that is gone has nothing to apply it to. */
  apply(events: readonly FleetEvent[]): Promise<readonly FleetRefusal[]>;
  hold(on: boolean): Promise<void>;
  flush(why: string): Promise<void>;
}

export interface ReaderParts {
  readonly bus: Bus;
  readonly cache: FleetCache;
  readonly node: string;
  readonly log: FleetLog;
  isOwn(id: string): boolean;
  /** Milliseconds that old objects are held back for; null: they are served while it catches up. */
  catchUp(): number | null;
  /** For the operator. */
  report(level: 'info' | 'warning', text: string): void;
  /** Whether it is current has changed. */
  changed(): void;
}

/** For clocks that differ, of this machine and the bus, in milliseconds (chosen). */
const CLOCKS = 60_000;
/** Messages that wait for a node that is too slow, from which on it counts as behind (chosen: two seconds of the greatest flow
 * that is meant). */
const FAR_BEHIND = 10_000;
/** Between two tries to read. */
const AGAIN = 500;
/** Of refusals in the log. */
const QUIET = 10_000;

export class FleetReader {
  readonly counters = { applied: 0, refused: 0, gaps: 0, flushed: 0 };
  /** The last message that was applied; null before it has a place. */
  place: number | null = null;
  /** All that the stream is known to have is applied. */
  current = false;
  private readonly parts: ReaderParts;
  private created = '';
  /** When the last message that was applied came. */
  private placeAt = 0;
  /** Until here it is behind. */
  private target = 0;
  private newest = 0;
  private holding: NodeJS.Timeout | null = null;
  private reading: { close(): void } | null = null;
  private interruptions = 0;
  private running = false;
  private closed = false;
  private saidRefused = 0;
  private unsaid = 0;

  constructor(parts: ReaderParts) {
    this.parts = parts;
  }

  /** Messages that are known of and not applied, and how long the oldest of them has waited, in seconds. */
  get lag(): { messages: number; seconds: number } {
    const messages = Math.max(0, Math.max(this.target, this.newest) - (this.place ?? this.newest));
    const seconds = messages === 0 || this.placeAt === 0 ? 0 : (Date.now() - this.placeAt) / 1000;
    return { messages, seconds: Math.max(0, Math.round(seconds)) };
  }

  /** The bus is there: reads until it is not. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    const { bus, report } = this.parts;
    let said = '';
    while (bus.connected && !this.closed) {
      try {
        const why = await this.follow();
        said = '';
        if (bus.connected && !this.closed) report('info', `Fleet: reading again: ${why}`);
      } catch (cause) {
        const { message } = cause as Error;
        if (bus.connected && !this.closed && message !== said)
          report('warning', `Fleet: the stream cannot be read: ${message}; it is tried again`);
        said = message;
      }
      this.become(false);
      if (bus.connected && !this.closed) await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
    this.running = false;
  }

  /** What came meanwhile may be lost, or the way there is. */
  away(): void {
    this.interruptions++;
    this.reading?.close();
    this.become(false);
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
    this.holding = null;
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
    if (this.interruptions === interruptions) await this.arrived(stream.last);
    else reading.close();
    const ended = await reading.ended;
    this.reading = null;
    return over || ended;
  }

  /** Where to read from; deals with what cannot be read any more. */
  private async settle(stream: StreamState): Promise<{ seq: number } | { time: number }> {
    const { cache, bus } = this.parts;
    if (this.place === null) return this.begin(stream);
    const lost = cache.since() === null ? null : await this.isLost(stream, bus);
    // No cache, nothing to catch up with.
    if (cache.since() === null) this.goTo(stream);
    else if (lost !== null) await this.startOver(stream, lost);
    else if (stream.last > this.place) {
      this.counters.gaps++;
      await this.holdBack(stream.last - this.place);
    }
    this.created = stream.created;
    return { seq: this.place + 1 };
  }

  /** A fresh cache begins at the stream's end; one that was filled before the bus was there, where it began. */
  private async begin(stream: StreamState): Promise<{ seq: number } | { time: number }> {
    const since = this.parts.cache.since();
    this.created = stream.created;
    if (since === null) {
      this.goTo(stream);
      return { seq: stream.last + 1 };
    }
    const time = since - CLOCKS;
    if (stream.droppedUntil > time) {
      await this.startOver(stream, 'the stream does not reach back to when this proxy began to serve');
      return { seq: stream.last + 1 };
    }
    return { time };
  }

  /** Why it is not known what was missed; null when it is. */
  private async isLost(stream: StreamState, bus: Bus): Promise<string | null> {
    const place = this.place ?? 0;
    if (stream.created !== this.created) return 'the stream is another one';
    if (stream.last < place) return 'the stream was cut short';
    if (stream.first > place + 1) return `the stream lacks ${place + 1} to ${stream.first - 1}`;
    if (this.placeAt === 0 || stream.first > place) return null;
    const at = await bus.timeOf(place);
    return at === null || at === this.placeAt ? null : 'the stream was written anew';
  }

  /** Goes on at the stream's end with a cache that has nothing from before. */
  private async startOver(stream: StreamState, why: string): Promise<void> {
    this.counters.gaps++;
    this.become(false);
    await this.flush(`${why}: everything that was fetched before is banned`);
    this.goTo(stream);
  }

  private goTo(stream: StreamState): void {
    this.place = stream.last;
    this.placeAt = 0;
  }

  private async flush(why: string): Promise<void> {
    this.counters.flushed++;
    await this.parts.cache.flush(why);
    this.parts.report('warning', `Fleet: ${why}`);
  }

  /** There is something to catch up with. */
  private async holdBack(missed: number): Promise<void> {
    const { cache, catchUp, report } = this.parts;
    this.become(false);
    const ms = catchUp();
    if (ms === null) {
      report('warning', `Fleet: behind by ${missed} messages; old objects are served until they are applied`);
      return;
    }
    report('info', `Fleet: behind by ${missed} messages; old objects wait until they are applied`);
    await cache.hold(true);
    if (this.holding === null) this.holdFor(ms);
  }

  private holdFor(ms: number): void {
    this.holding = setTimeout(() => void this.waitNoLonger(ms), ms);
    this.holding.unref();
  }

  /** What cannot be banned waits on, and it is tried again: it must not be served. Never rejects. */
  private async waitNoLonger(ms: number): Promise<void> {
    this.holding = null;
    const why = `it took longer than ${ms / 1000} s to catch up: everything that was fetched before is banned`;
    try {
      await this.flush(why);
      await this.parts.cache.hold(false);
    } catch (cause) {
      if (this.closed) return;
      this.parts.report(
        'warning',
        `Fleet: old objects wait on, and are not banned: ${(cause as Error).message}`,
      );
      if (this.holding === null) this.holdFor(ms);
    }
  }

  /** Applies a batch; gives why there is to be another reading. */
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
        gap = `${place + 1} was expected, ${seq} came`;
        if (!first) break;
        // A reader that has just been made gives the next one that there is.
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
      if (this.current && last.pending >= FAR_BEHIND) {
        this.target = this.newest;
        await this.holdBack(last.pending);
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
    for (const [publisher, seq] of publishers)
      this.parts.bus.report(publisher, this.parts.node, writeApplied(seq));
    await this.arrived(this.target);
    return gap;
  }

  private async flushGap(place: number, seq: number): Promise<void> {
    this.counters.gaps++;
    await this.flush(
      `the stream lacks ${place + 1} to ${seq - 1}: everything that was fetched before is banned`,
    );
  }

  /** Lets old objects go when all is applied that was missed. */
  private async arrived(target: number): Promise<void> {
    if (this.current || (this.place ?? 0) < target) return;
    if (this.holding !== null) {
      clearTimeout(this.holding);
      this.holding = null;
      await this.parts.cache.hold(false);
      this.parts.report('info', `Fleet: caught up with message ${this.place}`);
    }
    this.become(true);
  }

  /** What is refused stops nothing; a flood of it does not fill the log. */
  private refuse({ seq, problem }: FleetRefusal, publisher: string): void {
    this.counters.refused++;
    const now = Date.now();
    if (now - this.saidRefused < QUIET) {
      this.unsaid++;
      return;
    }
    const more = this.unsaid === 0 ? '' : `, and ${this.unsaid} more since the last report`;
    this.saidRefused = now;
    this.unsaid = 0;
    this.parts.report('warning', `Fleet: message ${seq} of ${publisher} refused: ${problem}${more}`);
  }
}
