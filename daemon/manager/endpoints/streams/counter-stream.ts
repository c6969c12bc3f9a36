// Counter subscriptions: reads the counters file at each subscriber's interval and sends the values that pass its
// filters. A subscriber that does not read gets no values until it does: each message is a complete state, so that only
// time is lost. `counters` is sent first, and again if the set changes.
//
// Hundreds of thousands of counters with hundreds of filters are read, filtered and encoded over several turns;
// subscribers that are due in the same turn share one reading.

import { join } from 'node:path';
import type { CounterInfo, CounterSubscription } from '../../../../protocol/messages.ts';
import { matchesGlob } from '../../../../queries/fnmatch.ts';
import type { MgtCounters } from '../../../stats/counter-fields.ts';
import { COUNTERS_FILE } from '../../../stats/counters-format.ts';
import { type CounterSnapshot, CountersReader, type ManagerGroup } from '../../../stats/counters-reader.ts';
import { turns } from '../../../turns/turns.ts';
import { type ListSink, listMessage, type Stream, type StreamError } from './stream.ts';

/** More than log subscriptions of the same connection may leave unread: a busy log must not starve the counters. */
const MAX_BUFFERED = 5 * 1024 * 1024;
/** Subscriptions of all connections together. */
const MAX_STREAMS = 256;
/** Names matched in one step (chosen). */
const A_STEP = 64;

export class CounterStreams {
  private readonly reader: CountersReader;
  private readonly subscriptions = new Set<CounterStream>();
  /** The reading in progress, or of the present turn of the event loop. */
  private latest: Promise<CounterSnapshot> | null = null;

  /** `refresh` and `groups` as in CountersReader. */
  constructor(
    dir: string,
    mgt: MgtCounters,
    refresh: (written: number) => void = () => {},
    groups: readonly ManagerGroup[] = [],
  ) {
    this.reader = new CountersReader(join(dir, COUNTERS_FILE), mgt, refresh, groups);
  }

  /** Starts a subscription. Nothing is sent before this returns: send `ok` right after. */
  open(id: number, sub: CounterSubscription, sink: ListSink): Stream | StreamError {
    if (!(sub.interval >= 0))
      return { error: { code: 'bad-filter', message: 'interval must not be negative' } };
    if (this.subscriptions.size >= MAX_STREAMS) {
      return {
        error: { code: 'too-many', message: `${MAX_STREAMS} counter subscriptions are open: end one` },
      };
    }
    const stream = new CounterStream(id, sub, sink, () => this.read());
    this.subscriptions.add(stream);
    stream.onClose = () => this.subscriptions.delete(stream);
    return stream;
  }

  /** Reads all counters. Callers share a reading that is in progress. */
  read(): Promise<CounterSnapshot> {
    this.latest ??= this.readOnce();
    return this.latest;
  }

  close(): void {
    for (const stream of [...this.subscriptions]) stream.close();
  }

  private async readOnce(): Promise<CounterSnapshot> {
    try {
      return (await turns.through(this.reader.reading())) as CounterSnapshot;
    } finally {
      setImmediate(() => {
        this.latest = null;
      });
    }
  }
}

class CounterStream implements Stream {
  onClose: () => void = () => {};
  private readonly id: number;
  private readonly sub: CounterSubscription;
  private readonly sink: ListSink;
  private readonly read: () => Promise<CounterSnapshot>;
  private info: readonly CounterInfo[] | null = null;
  private pick: readonly number[] = [];
  // Separate from the timer: passing a timer to clearImmediate() corrupts the runtime's count of immediates, after
  // which a single setImmediate() of the whole process never runs.
  private readonly begin: NodeJS.Immediate;
  private timer: NodeJS.Timeout | null = null;
  private isBusy = false;
  private closed = false;

  constructor(id: number, sub: CounterSubscription, sink: ListSink, read: () => Promise<CounterSnapshot>) {
    this.id = id;
    this.sub = sub;
    this.sink = sink;
    this.read = read;
    this.begin = setImmediate(() => this.first());
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearImmediate(this.begin);
    if (this.timer !== null) clearInterval(this.timer);
    this.onClose();
  }

  private first(): void {
    if (this.sub.interval > 0) {
      const ms = Math.max(50, this.sub.interval * 1000);
      this.timer = setInterval(() => void this.step(), ms);
    }
    void this.step();
  }

  /** Sends one update, unless the previous one is still being sent. */
  private async step(): Promise<void> {
    if (this.closed || this.isBusy) return;
    this.isBusy = true;
    try {
      await this.send();
    } catch (cause) {
      this.sink.run(() => {
        throw cause;
      });
    }
    this.isBusy = false;
    if (this.closed || this.sub.interval > 0) return;
    this.sink.json({ t: 'end', id: this.id });
    this.close();
  }

  private async send(): Promise<void> {
    const { sink, id } = this;
    if (sink.buffered() > MAX_BUFFERED) return;
    const { info, values } = await this.read();
    const isWanted = (): boolean => !this.closed;
    if (this.closed) return;
    if (info !== this.info) {
      const pick = await turns.through(choosing(info, this.sub.filters ?? []), isWanted);
      if (pick === undefined) return;
      const item = (k: number): string => JSON.stringify(info[pick[k] as number]);
      const text = await turns.through(
        listMessage({ t: 'counters', id, info: [] }, 'info', pick.length, item),
        isWanted,
      );
      if (text === undefined) return;
      this.info = info;
      this.pick = pick;
      await sink.text(text);
      if (this.closed) return;
    }
    const at = Date.now() / 1000;
    const { pick } = this;
    const item = (k: number): string => `"${values[pick[k] as number]}"`;
    const text = await turns.through(
      listMessage({ t: 'values', id, at, values: [] }, 'values', pick.length, item),
      isWanted,
    );
    if (text !== undefined) void sink.text(text);
  }
}

/** Indexes of the counters that pass, in steps: the first filter that matches a name decides; a name without a match
 * passes if all filters exclude (or there is none). */
export function* choosing(
  info: readonly CounterInfo[],
  filters: NonNullable<CounterSubscription['filters']>,
): Generator<void, number[]> {
  const picked: number[] = [];
  const rest = filters.every((f) => f.kind === 'exclude');
  let looks = 0;
  for (let i = 0; i < info.length; i++) {
    const { name } = info[i] as CounterInfo;
    let passes = rest;
    for (const { kind, glob } of filters) {
      if (++looks % A_STEP === 0) yield;
      if (!matchesGlob(glob, name)) continue;
      passes = kind === 'include';
      break;
    }
    if (passes) picked.push(i);
    if (++looks % A_STEP === 0) yield;
  }
  return picked;
}
