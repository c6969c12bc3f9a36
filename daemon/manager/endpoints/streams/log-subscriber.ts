// One log subscription: pending blocks, grouping and selection, and outgoing frames.
//
// It works in slices up to the caller's deadline. Records that it cannot keep up with are dropped and counted, never
// stored pastEnd a limit. Note: blocks are views of a reader's buffer that are valid until its next read; unprocessed
// ones are then replaced by copies, which all subscribers share.

import { encodeLogFrame, transactionSize } from '../../../../protocol/log-frame.ts';
import { countRecords } from '../../../../protocol/log-record.ts';
import type { LogSubscription, LogTransaction } from '../../../../protocol/messages.ts';
import { Grouper } from '../../../../queries/group.ts';
import type { LogSelection } from '../../../../queries/log-selection.ts';
import type { RingBlock, RingRead } from '../../../log/ring-reader.ts';
import type { Stream, StreamSink } from './stream.ts';

/** Unread bytes of the client after which its groups are dropped. */
const MAX_BUFFERED = 4 << 20;
/** Bytes collected into one frame. */
const FRAME_BYTES = 64 << 10;
/** Bytes of pending blocks: slightly more than one read. */
const MAX_WAITING = 2 << 20;

/** Reads the log for subscribers. */
export interface LogFeeder {
  /** A copy of a block of the latest read, shared by all subscribers; null if too much is being kept already. */
  keep(block: RingBlock): RingBlock | null;
  /** The subscriber has pending work. */
  wake(subscriber: LogSubscriber): void;
  onClose(subscriber: LogSubscriber): void;
}

export class LogSubscriber implements Stream {
  closed = false;
  mark: string | undefined;
  /** The position in the log from which no new group begins. */
  until = Number.POSITIVE_INFINITY;
  /** That position was reached. */
  private pastEnd = false;
  /** The client has been sent `reached`: it has all complete groups. */
  private reachedSent = false;
  readonly sub: LogSubscription;
  readonly sink: StreamSink;
  private readonly id: number;
  private readonly selection: LogSelection;
  private readonly feeder: LogFeeder;
  private readonly grouper: Grouper;
  /** Pending blocks, the offset in the first of them, and their total size in bytes. */
  private blocks: RingBlock[] = [];
  private at = 0;
  waiting = 0;
  /** Complete groups, not yet filtered. */
  private groups: LogTransaction[][] = [];
  private generation = -1;
  private batch: LogTransaction[] = [];
  private batchBytes = 0;
  private dropped = 0;
  private missed = 0;
  private ending = false;
  private now = 0;

  constructor(
    id: number,
    sub: LogSubscription,
    selection: LogSelection,
    sink: StreamSink,
    feeder: LogFeeder,
  ) {
    this.id = id;
    this.sub = sub;
    this.selection = selection;
    this.sink = sink;
    this.feeder = feeder;
    this.grouper = new Grouper({ ...sub, paused: () => this.groups.length > 0 }, (group) => {
      this.groups.push(group);
    });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.grouper.clear();
    this.groups = [];
    this.batch = [];
    this.blocks = [];
    this.feeder.onClose(this);
  }

  /** Emits incomplete groups as they are, and continues. */
  flush(): void {
    this.grouper.flush();
    this.feeder.wake(this);
  }

  /** Whether the client should be given time to read. */
  get full(): boolean {
    return this.sink.buffered() > MAX_BUFFERED / 2;
  }

  /** Maximum bytes of incomplete transactions. */
  set room(bytes: number) {
    this.grouper.maxBytes = bytes;
  }

  /** Adds blocks that were read; process or keep() them before the next read. */
  offer(read: RingRead): void {
    if (read.lost > 0) this.sink.json({ t: 'lost', id: this.id, records: read.lost, reason: 'overrun' });
    for (const block of read.blocks) {
      if (this.waiting > 0 && this.waiting + block.records.length > MAX_WAITING) this.missed += block.count;
      else {
        this.blocks.push(block);
        this.waiting += block.records.length;
      }
    }
  }

  /** Replaces the unprocessed blocks of the last read with copies. */
  keep(): void {
    const kept: RingBlock[] = [];
    for (const [i, block] of this.blocks.entries()) {
      const copy = this.feeder.keep(block);
      if (copy !== null) kept.push(copy);
      else {
        this.waiting -= block.records.length;
        if (i === 0) this.at = 0;
        this.missed += block.count;
      }
    }
    this.blocks = kept;
    // Raw records are views; grouped records belong to their transaction.
    for (const tx of this.groups.flat()) if (tx.level === 0) tx.records = new Uint8Array(tx.records);
  }

  /** Works until the deadline (of performance.now()); true if nothing is left. */
  work(deadline: number, now: number): boolean {
    this.now = now;
    while (!this.closed) {
      if (!this.showGroups(deadline)) return false;
      const block = this.blocks[0];
      if (block === undefined) break;
      if (performance.now() > deadline) return false;
      if (block.generation !== this.generation) {
        // A new worker counts its ids from the start: groups that its predecessor left open will not end.
        const first = this.generation < 0;
        this.generation = block.generation;
        if (!first) this.grouper.flush();
        if (this.groups.length > 0) continue;
      }
      if (block.position >= this.until) this.beginNoMore();
      this.at = this.grouper.push(block.records, now, this.at);
      if (this.at < block.records.length) continue;
      this.at = 0;
      this.blocks.shift();
      this.waiting -= block.records.length;
    }
    if (this.ending || (this.pastEnd && this.grouper.size === 0)) {
      this.send();
      this.end();
    }
    return true;
  }

  expire(now: number): void {
    this.grouper.expire(now);
    if (this.groups.length > 0) this.feeder.wake(this);
  }

  /** Sends the collected groups. */
  send(): void {
    if (this.closed) return;
    const { selection } = this;
    this.reportLost('rate', selection.suppressed);
    this.reportLost('overrun', selection.undecided + this.missed);
    selection.suppressed = 0;
    selection.undecided = 0;
    this.missed = 0;
    if (this.dropped > 0 && !this.full) {
      this.reportLost('backpressure', this.dropped);
      this.dropped = 0;
    }
    this.flushBatch();
    if (selection.done) this.end();
  }

  /** The log ended, for a subscription that does not follow it: emits open groups, then `end`. */
  finish(): void {
    this.ending = true;
    this.grouper.flush();
    this.feeder.wake(this);
  }

  /** The log ended, for a subscription with an upper bound: open groups continue. */
  reach(): void {
    this.beginNoMore();
    if (this.reachedSent || this.closed) return;
    this.reachedSent = true;
    if (this.grouper.size > 0) {
      this.send();
      this.sink.json({ t: 'reached', id: this.id });
    } else this.feeder.wake(this);
  }

  private beginNoMore(): void {
    if (this.pastEnd) return;
    this.pastEnd = true;
    this.grouper.beginNoMore();
  }

  private reportLost(reason: 'rate' | 'overrun' | 'backpressure', records: number): void {
    if (records > 0) this.sink.json({ t: 'lost', id: this.id, records, reason });
  }

  private end(): void {
    if (this.closed) return;
    this.sink.json({ t: 'end', id: this.id });
    this.close();
  }

  /** Filters complete groups; false if the deadline passed first. */
  private showGroups(deadline: number): boolean {
    const { groups } = this;
    let i = 0;
    while (i < groups.length && !this.closed) {
      if (performance.now() > deadline) break;
      this.show(groups[i++] as LogTransaction[]);
    }
    const done = i === groups.length || this.closed;
    if (i > 0) groups.splice(0, i);
    return done;
  }

  private show(group: LogTransaction[]): void {
    const shown = this.selection.take(group, this.now);
    if (shown === null) return;
    if (this.sink.buffered() + this.batchBytes > MAX_BUFFERED) {
      for (const tx of shown) this.dropped += countRecords(tx.records);
      return;
    }
    for (const tx of shown) {
      this.batch.push(tx.level === 0 ? { ...tx, records: new Uint8Array(tx.records) } : tx);
      this.batchBytes += transactionSize(tx);
    }
    if (this.batchBytes >= FRAME_BYTES) this.flushBatch();
  }

  private flushBatch(): void {
    if (this.batch.length === 0) return;
    this.sink.send(encodeLogFrame(this.id, this.batch));
    this.batch = [];
    this.batchBytes = 0;
  }
}
