// One log subscription: the blocks it has not worked through yet, its grouping and selection, and the frames that go
// out.
//
// It works in slices: its caller says until when, and goes on later. What it cannot keep up with is dropped and counted,
// never stored beyond a bound. Caution: blocks are views of a reader's buffer until the next read; what is left of them
// by then is replaced by copies, which all subscribers share.

import { encodeLogFrame, transactionSize } from '../../../../protocol/log-frame.ts';
import { countRecords } from '../../../../protocol/log-record.ts';
import type { LogSubscription, LogTransaction } from '../../../../protocol/messages.ts';
import { Grouper } from '../../../../queries/group.ts';
import type { LogSelection } from '../../../../queries/log-selection.ts';
import type { RingBlock, RingRead } from '../../../log/ring-reader.ts';
import type { Stream, StreamSink } from './stream.ts';

/** Bytes a subscriber may have untaken before its groups are dropped. */
const MAX_BUFFERED = 4 << 20;
/** Bytes gathered into one frame. */
const FRAME_BYTES = 64 << 10;
/** Bytes of blocks that may wait: a little more than one read brings. */
const MAX_WAITING = 2 << 20;

/** What a subscriber needs of the one who reads the log for it. */
export interface LogFeeder {
  /** A copy of a block of the latest read, the same for all who ask; null when too much is being kept already. */
  keep(block: RingBlock): RingBlock | null;
  /** There is something to work through. */
  wake(subscriber: LogSubscriber): void;
  gone(subscriber: LogSubscriber): void;
}

export class LogSubscriber implements Stream {
  closed = false;
  mark: string | undefined;
  /** The place in the log from which on no group begins for it. */
  until = Number.POSITIVE_INFINITY;
  /** It has come there. */
  private beyond = false;
  /** The peer knows that it has all that was complete. */
  private told = false;
  readonly sub: LogSubscription;
  readonly sink: StreamSink;
  private readonly id: number;
  private readonly selection: LogSelection;
  private readonly feeder: LogFeeder;
  private readonly grouper: Grouper;
  /** Blocks to be worked through, the index in the first of them, and their bytes. */
  private blocks: RingBlock[] = [];
  private at = 0;
  waiting = 0;
  /** Complete groups that nobody has looked at yet. */
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
    this.feeder.gone(this);
  }

  /** Shows what is incomplete as it is, and goes on. */
  flush(): void {
    this.grouper.flush();
    this.feeder.wake(this);
  }

  /** Whether the peer should be given time to read. */
  get full(): boolean {
    return this.sink.buffered() > MAX_BUFFERED / 2;
  }

  /** Bytes of incomplete transactions that may be held. */
  set room(bytes: number) {
    this.grouper.maxBytes = bytes;
  }

  /** Takes what was read; to be kept or worked through before the next read. */
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

  /** Makes what is left of the last read its own. */
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
    // Raw records are views; grouped ones belong to their transaction.
    for (const tx of this.groups.flat()) if (tx.level === 0) tx.records = new Uint8Array(tx.records);
  }

  /** Works until the deadline (of performance.now()); true when nothing is left. */
  work(deadline: number, now: number): boolean {
    this.now = now;
    while (!this.closed) {
      if (!this.showGroups(deadline)) return false;
      const block = this.blocks[0];
      if (block === undefined) break;
      if (performance.now() > deadline) return false;
      if (block.generation !== this.generation) {
        // Another worker counts its ids from the start: what its predecessor left open will not end.
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
    if (this.ending || (this.beyond && this.grouper.size === 0)) {
      this.send();
      this.end();
    }
    return true;
  }

  expire(now: number): void {
    this.grouper.expire(now);
    if (this.groups.length > 0) this.feeder.wake(this);
  }

  /** Sends what has gathered. */
  send(): void {
    if (this.closed) return;
    const { selection } = this;
    this.tellLost('rate', selection.suppressed);
    this.tellLost('overrun', selection.undecided + this.missed);
    selection.suppressed = 0;
    selection.undecided = 0;
    this.missed = 0;
    if (this.dropped > 0 && !this.full) {
      this.tellLost('backpressure', this.dropped);
      this.dropped = 0;
    }
    this.flushBatch();
    if (selection.done) this.end();
  }

  /** The end of a log that is not followed: what is open comes out, then `end`. */
  finish(): void {
    this.ending = true;
    this.grouper.flush();
    this.feeder.wake(this);
  }

  /** The end of the log, for one with an end of its own: what is open there goes on. */
  reach(): void {
    this.beginNoMore();
    if (this.told || this.closed) return;
    this.told = true;
    if (this.grouper.size > 0) {
      this.send();
      this.sink.json({ t: 'reached', id: this.id });
    } else this.feeder.wake(this);
  }

  private beginNoMore(): void {
    if (this.beyond) return;
    this.beyond = true;
    this.grouper.beginNoMore();
  }

  private tellLost(reason: 'rate' | 'overrun' | 'backpressure', records: number): void {
    if (records > 0) this.sink.json({ t: 'lost', id: this.id, records, reason });
  }

  private end(): void {
    if (this.closed) return;
    this.sink.json({ t: 'end', id: this.id });
    this.close();
  }

  /** Looks at the groups that are complete; false when the time was up before. */
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
