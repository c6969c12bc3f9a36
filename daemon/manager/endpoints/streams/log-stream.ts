// Log subscriptions. Subscribers at the tail share one reader and one poll of the ring, which runs only while there are
// any; a subscriber from the head has its own reader until it has caught up or ended. Nothing is rendered here: groups
// that pass a subscriber's selection are sent as binary frames.
//
// Note: subscribers that request more than there is time for, or do not read. All of them together get a slice of each
// turn of the event loop, one after another; a follower that falls too far behind loses blocks and is informed of the
// number of lost records, and neither commands nor other subscribers wait for it.

import { join } from 'node:path';
import type { LogSubscription } from '../../../../protocol/messages.ts';
import { LogSelection } from '../../../../queries/log-selection.ts';
import { Effort } from '../../../../queries/text-pattern.ts';
import { RING_FILE } from '../../../log/ring-format.ts';
import { type RingBlock, RingReader } from '../../../log/ring-reader.ts';
import { turns } from '../../../turns/turns.ts';
import { LogSubscriber } from './log-subscriber.ts';
import type { Stream, StreamError, StreamSink } from './stream.ts';

/** Milliseconds between polls of the ring. */
const POLL = 10;
/** The same while little is logged, in bytes a poll: a poll costs what some hundred records do. A busy log, and a ring that
 * a burst could fill in this time, are polled at POLL. */
const QUIET_POLL = 40;
/** The same for groups of the past that are still open. */
const PAST_POLL = 200;
const QUIET_BYTES = 64 << 10;
const QUIET_RING = 16 << 20;
/** Milliseconds of work in one turn, and per subscriber in it. */
const TURN_MS = 20;
const SLICE_MS = 5;
/** Megabytes of the ring read in one turn for the followers. */
const READS_A_TURN = 4;
/** Subscriptions of all connections together. */
const MAX_SUBSCRIBERS = 256;
/** Bytes of blocks kept for slow subscribers, shared blocks counted for each. */
const MAX_KEPT = 64 << 20;
/** Bytes of incomplete transactions, divided among the subscribers. */
const MAX_OPEN = 64 << 20;

export class LogStreams {
  private readonly path: string;
  private readonly buffer = RingReader.buffer();
  private readonly all = new Set<LogSubscriber>();
  /** Subscribers at the tail. */
  private readonly live = new Set<LogSubscriber>();
  /** Subscribers that have not reached the tail, with their readers. */
  private readonly readers = new Map<LogSubscriber, RingReader>();
  /** Subscribers with pending work, in turn. */
  private readonly busy = new Set<LogSubscriber>();
  private shared: RingReader | null = null;
  private timer: NodeJS.Timeout | null = null;
  private next: NodeJS.Immediate | null = null;
  private lastExpiry = 0;
  /** Bytes that the followers got in the latest poll. */
  private followed = 0;
  /** Copies of the blocks of the latest read, and the bytes that further copies may take. */
  private copies = new Map<RingBlock, RingBlock>();
  private space = 0;

  /** `dir` is the worker's directory. */
  constructor(dir: string) {
    this.path = join(dir, RING_FILE);
  }

  /** Starts a subscription. Nothing is sent before this returns: send `ok` right after. */
  open(
    id: number,
    sub: LogSubscription,
    sink: StreamSink,
    selection = LogSelection.create(sub, Effort.shared()),
  ): Stream | StreamError {
    if (this.all.size >= MAX_SUBSCRIBERS) {
      return {
        error: { code: 'too-many', message: `${MAX_SUBSCRIBERS} log subscriptions are open: end one` },
      };
    }
    if (!(selection instanceof LogSelection)) return { error: selection };
    const subscriber = new LogSubscriber(id, sub, selection, sink, {
      keep: (block) => this.keep(block),
      wake: (s) => this.wake(s),
      onClose: (s) => this.remove(s),
    });
    this.all.add(subscriber);
    this.share();
    if (sub.before !== undefined) this.openBefore(subscriber, sub.before);
    else if (sub.from === 'tail' && sub.once !== true) {
      this.join(subscriber);
      subscriber.mark = this.shared?.mark;
    } else {
      const reader = RingReader.open(this.path, sub.from, this.buffer);
      if (reader !== null) this.readers.set(subscriber, reader);
      this.wake(subscriber);
    }
    this.timer ??= setTimeout(() => this.poll(), POLL);
    return subscriber;
  }

  /** open() whose query is parsed in turns of bounded length. */
  async openInTurns(id: number, sub: LogSubscription, sink: StreamSink): Promise<Stream | StreamError> {
    await turns.next();
    return this.open(id, sub, sink, await turns.through(LogSelection.creating(sub, Effort.shared())));
  }

  private openBefore(subscriber: LogSubscriber, { mark, bytes }: { mark: string; bytes: number }): void {
    const found = RingReader.openBefore(this.path, mark, bytes, this.buffer);
    subscriber.until = found?.until ?? 0;
    if (found !== null) {
      this.readers.set(subscriber, found.reader);
      if (!found.reader.atOldest) subscriber.mark = found.reader.mark;
    }
    this.wake(subscriber);
  }

  /** Ends all subscriptions without a message. */
  close(): void {
    for (const subscriber of [...this.all]) subscriber.close();
  }

  private join(subscriber: LogSubscriber): void {
    this.live.add(subscriber);
    // Fixes the position now: all that is written after `ok` will be seen.
    this.shared ??= RingReader.open(this.path, 'tail', this.buffer);
  }

  private remove(subscriber: LogSubscriber): void {
    this.all.delete(subscriber);
    this.live.delete(subscriber);
    this.busy.delete(subscriber);
    this.readers.get(subscriber)?.close();
    this.readers.delete(subscriber);
    if (this.live.size === 0) {
      this.shared?.close();
      this.shared = null;
    }
    if (this.all.size > 0) {
      this.share();
      return;
    }
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.next !== null) clearImmediate(this.next);
    this.next = null;
  }

  private share(): void {
    for (const subscriber of this.all) subscriber.room = MAX_OPEN / this.all.size;
  }

  private wake(subscriber: LogSubscriber): void {
    if (subscriber.closed) return;
    this.busy.add(subscriber);
    this.next ??= setImmediate(() => {
      this.next = null;
      this.turn();
    });
  }

  private poll(): void {
    this.followed = 0;
    this.turn();
    if (this.timer === null) return;
    const quiet = this.followed < QUIET_BYTES && (this.shared?.size ?? 0) >= QUIET_RING;
    this.timer = setTimeout(() => this.poll(), quiet ? QUIET_POLL : POLL);
  }

  private turn(): void {
    const end = performance.now() + TURN_MS;
    const now = Date.now() / 1000;
    this.follow(end, now);
    // Each subscriber at most once; those that were not reached come first in the next turn.
    for (const subscriber of [...this.busy]) {
      if (performance.now() > end) break;
      this.busy.delete(subscriber);
      subscriber.sink.run(() => this.advance(subscriber, end, now));
    }
    const expire = now - this.lastExpiry >= 0.1;
    if (expire) this.lastExpiry = now;
    for (const subscriber of [...this.all]) {
      subscriber.sink.run(() => {
        if (expire) subscriber.expire(now);
        subscriber.send();
      });
    }
    const [waiting] = this.busy;
    if (waiting !== undefined) this.wake(waiting);
  }

  /** Reads new records for all followers. */
  private follow(end: number, now: number): void {
    if (this.live.size === 0) return;
    this.shared ??= RingReader.open(this.path, 'head', this.buffer);
    for (let i = 0; this.shared !== null && i < READS_A_TURN; i++) {
      const read = this.shared.read();
      if (read === null) return;
      for (const { records } of read.blocks) this.followed += records.length;
      this.beginKeeping();
      for (const subscriber of [...this.live]) {
        subscriber.sink.run(() => {
          subscriber.offer(read);
          if (!this.busy.has(subscriber) && subscriber.work(slice(end), now)) return;
          subscriber.keep();
          this.wake(subscriber);
        });
      }
    }
  }

  /** One slice of a subscriber that has pending work or reads for itself. */
  private advance(subscriber: LogSubscriber, end: number, now: number): void {
    if (!subscriber.work(slice(end), now)) {
      this.wake(subscriber);
      return;
    }
    if (subscriber.closed || this.live.has(subscriber)) return;
    if (subscriber.full) {
      setTimeout(() => this.wake(subscriber), POLL);
      return;
    }
    const reader = this.readers.get(subscriber);
    const read = reader?.read() ?? null;
    if (read !== null) {
      this.beginKeeping();
      subscriber.offer(read);
      if (!subscriber.work(slice(end), now)) subscriber.keep();
      this.wake(subscriber);
    } else if (
      subscriber.sub.once === true ||
      (subscriber.sub.before !== undefined && reader === undefined)
    ) {
      reader?.close();
      this.readers.delete(subscriber);
      subscriber.finish();
    } else if (reader === undefined) {
      this.join(subscriber);
    } else {
      const past = subscriber.sub.before !== undefined;
      if (past) subscriber.reach();
      subscriber.expire(now);
      const wait = reader.size < QUIET_RING ? POLL : past ? PAST_POLL : QUIET_POLL;
      setTimeout(() => this.wake(subscriber), wait);
    }
  }

  private beginKeeping(): void {
    this.copies = new Map();
    this.space = MAX_KEPT;
    for (const subscriber of this.all) this.space -= subscriber.waiting;
  }

  private keep(block: RingBlock): RingBlock | null {
    const known = this.copies.get(block);
    if (known !== undefined) return known;
    // A block of an earlier read is already a copy.
    if (block.records.buffer !== this.buffer.buffer) return block;
    this.space -= block.records.length;
    if (this.space < 0) return null;
    const copy = { ...block, records: new Uint8Array(block.records) };
    this.copies.set(block, copy);
    return copy;
  }
}

function slice(end: number): number {
  return Math.min(end, performance.now() + SLICE_MS);
}
