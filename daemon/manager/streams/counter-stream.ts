// Counter subscriptions: reads the counters file at each subscriber's interval and sends the values that its
// filters let through. A subscriber whose connection is not drained gets no values until it is: each message
// is a whole state, so nothing is lost but time. `counters` is sent first and again when the set changes.
//
// Caution: thousands of counters under hundreds of filters. They are chosen in slices, so that no other connection waits
// for it, and subscribers whose turns come together share one reading.

import { join } from 'node:path';
import type { CounterInfo, CounterSubscription } from '../../../protocol/messages.ts';
import { matchesGlob } from '../../../queries/fnmatch.ts';
import type { FleetCounters, MgtCounters } from '../../stats/counter-fields.ts';
import { COUNTERS_FILE } from '../../stats/counters-format.ts';
import { CountersReader } from '../../stats/counters-reader.ts';
import type { Stream, StreamError, StreamSink } from './sink.ts';

/** More than log subscriptions of the same connection leave untaken: a busy log must not starve the counters. */
const MAX_BUFFERED = 5 * 1024 * 1024;
/** Subscriptions of all connections together. */
const MAX_STREAMS = 256;
/** Milliseconds that choosing counters takes in one turn. */
const SLICE_MS = 5;

export class CounterStreams {
  private readonly reader: CountersReader;
  private readonly open_ = new Set<CounterStream>();
  /** The reading of this turn of the event loop. */
  private latest: { info: CounterInfo[]; values: bigint[] } | null = null;

  /** `refresh` and `fleet` as the reader of the file takes them. */
  constructor(
    dir: string,
    mgt: MgtCounters,
    refresh: (written: number) => void = () => {},
    fleet: FleetCounters | null = null,
  ) {
    this.reader = new CountersReader(join(dir, COUNTERS_FILE), mgt, refresh, fleet);
  }

  /** Starts a subscription. Nothing is sent before this returns: send `ok` right after. */
  open(id: number, sub: CounterSubscription, sink: StreamSink): Stream | StreamError {
    if (!(sub.interval >= 0))
      return { error: { code: 'bad-filter', message: 'interval must not be negative' } };
    if (this.open_.size >= MAX_STREAMS) {
      return {
        error: { code: 'too-many', message: `${MAX_STREAMS} counter subscriptions are open: end one` },
      };
    }
    const stream = new CounterStream(id, sub, sink, () => this.read());
    this.open_.add(stream);
    stream.onClose = () => this.open_.delete(stream);
    return stream;
  }

  /** One reading of everything: for /metrics and the like. */
  read(): { info: CounterInfo[]; values: bigint[] } {
    if (this.latest === null) {
      this.latest = this.reader.read();
      setImmediate(() => {
        this.latest = null;
      });
    }
    return this.latest;
  }

  close(): void {
    for (const stream of [...this.open_]) stream.close();
  }
}

class CounterStream implements Stream {
  onClose: () => void = () => {};
  private readonly id: number;
  private readonly sub: CounterSubscription;
  private readonly sink: StreamSink;
  private readonly read: () => { info: CounterInfo[]; values: bigint[] };
  private info: CounterInfo[] | null = null;
  private pick: number[] = [];
  /** Under way while the counters that pass are being chosen. */
  private choice: CounterChoice | null = null;
  // Immediates apart from the timer: clearImmediate() given a timer spoils the runtime's count of immediates, and then
  // a lone setImmediate() of the whole process never runs.
  private readonly begin: NodeJS.Immediate;
  private again: NodeJS.Immediate | null = null;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(
    id: number,
    sub: CounterSubscription,
    sink: StreamSink,
    read: () => { info: CounterInfo[]; values: bigint[] },
  ) {
    this.id = id;
    this.sub = sub;
    this.sink = sink;
    this.read = read;
    this.begin = setImmediate(() => sink.run(() => this.first()));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearImmediate(this.begin);
    if (this.again !== null) clearImmediate(this.again);
    if (this.timer !== null) clearInterval(this.timer);
    this.onClose();
  }

  private first(): void {
    if (this.sub.interval > 0) {
      const ms = Math.max(50, this.sub.interval * 1000);
      this.timer = setInterval(() => this.sink.run(() => this.step()), ms);
    }
    this.step();
  }

  /** One message, as soon as it is known which counters pass. */
  private step(): void {
    if (this.closed || this.again !== null) return;
    if (!this.tell()) {
      this.again = setImmediate(() => {
        this.again = null;
        this.sink.run(() => this.step());
      });
      return;
    }
    if (this.sub.interval > 0) return;
    this.sink.json({ t: 'end', id: this.id });
    this.close();
  }

  /** Sends the values; false when the counters that pass are not chosen yet. */
  private tell(): boolean {
    if (this.sink.buffered() > MAX_BUFFERED) return true;
    const { info, values } = this.read();
    if (info !== this.info) {
      if (this.choice?.info !== info) this.choice = new CounterChoice(info, this.sub.filters ?? []);
      if (!this.choice.go(performance.now() + SLICE_MS)) return false;
      this.info = info;
      this.pick = this.choice.picked;
      this.choice = null;
      this.sink.json({ t: 'counters', id: this.id, info: this.pick.map((i) => info[i] as CounterInfo) });
    }
    const at = Date.now() / 1000;
    this.sink.json({ t: 'values', id: this.id, at, values: this.pick.map((i) => String(values[i])) });
    return true;
  }
}

/** Which counters pass: the first filter that matches a name decides; a name that none matches is in when all filters
 * exclude (or there is none). */
export class CounterChoice {
  readonly info: readonly CounterInfo[];
  /** Indexes of those that pass. */
  readonly picked: number[] = [];
  private readonly filters: NonNullable<CounterSubscription['filters']>;
  private readonly rest: boolean;
  private counter = 0;
  private filter = 0;

  constructor(info: readonly CounterInfo[], filters: NonNullable<CounterSubscription['filters']>) {
    this.info = info;
    this.filters = filters;
    this.rest = filters.every((f) => f.kind === 'exclude');
  }

  /** Goes on until it is done (true) or the time is up. */
  go(deadline: number): boolean {
    for (; this.counter < this.info.length; this.counter++) {
      const { name } = this.info[this.counter] as CounterInfo;
      let passes = this.rest;
      for (; this.filter < this.filters.length; this.filter++) {
        if (performance.now() > deadline) return false;
        const { kind, glob } = this.filters[this.filter] as { kind: string; glob: string };
        if (!matchesGlob(glob, name)) continue;
        passes = kind === 'include';
        break;
      }
      this.filter = 0;
      if (passes) this.picked.push(this.counter);
    }
    return true;
  }
}
