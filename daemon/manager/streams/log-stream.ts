// Log subscriptions. All subscribers at the tail share one reader and one poll of the ring, which runs only
// while there are any; a subscriber from the head has a reader of its own until it has caught up or ended.
// Nothing is rendered here: groups that pass a subscriber's selection go out as binary frames.
//
// Awkward: a subscriber that stops reading. Its frames pile up in its connection, never here: past a bound its
// groups are dropped and counted, and the count is told once there is room again.

import { join } from 'node:path';
import { encodeLogFrame, transactionSize } from '../../../protocol/log-frame.ts';
import { RECORD_HEAD, recordSize } from '../../../protocol/log-record.ts';
import type { LogSubscription, LogTransaction } from '../../../protocol/messages.ts';
import { Grouper } from '../../../queries/group.ts';
import { LogSelection } from '../../../queries/log-selection.ts';
import { RING_FILE } from '../../log/ring-format.ts';
import { type RingRead, RingReader } from '../../log/ring-reader.ts';
import type { Stream, StreamError, StreamSink } from './sink.ts';

/** Milliseconds between looks at the ring. */
const POLL = 10;
/** Bytes a subscriber may have untaken before its groups are dropped. */
const MAX_BUFFERED = 4 * 1024 * 1024;
/** Bytes gathered into one frame. */
const FRAME_BYTES = 64 * 1024;
/** Megabytes of ring read in one turn, so that the manager stays responsive. */
const READS_A_TURN = 4;

export class LogStreams {
  private readonly path: string;
  private readonly live = new Set<LogStream>();
  private readonly all = new Set<LogStream>();
  private shared: RingReader | null = null;
  private timer: NodeJS.Timeout | null = null;
  private lastExpiry = 0;

  /** `dir` is the worker's directory. */
  constructor(dir: string) {
    this.path = join(dir, RING_FILE);
  }

  /** Starts a subscription. Nothing is sent before this returns: send `ok` right after. */
  open(id: number, sub: LogSubscription, sink: StreamSink): Stream | StreamError {
    const selection = LogSelection.create(sub);
    if (!(selection instanceof LogSelection)) return { error: selection };
    const stream = new LogStream(id, sub, selection, sink, () => {
      this.all.delete(stream);
      this.live.delete(stream);
      if (this.live.size === 0) this.rest();
    });
    this.all.add(stream);
    if (sub.from === 'tail' && sub.once !== true) this.join(stream);
    else this.catchUp(stream);
    return stream;
  }

  /** Ends all subscriptions without a word. */
  close(): void {
    for (const stream of [...this.all]) stream.close();
    this.rest();
  }

  private join(stream: LogStream): void {
    this.live.add(stream);
    // The position is fixed now: what is written after `ok` will be seen.
    this.shared ??= RingReader.open(this.path, 'tail');
    this.timer ??= setInterval(() => this.poll(), POLL);
  }

  private rest(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.shared?.close();
    this.shared = null;
  }

  private poll(): void {
    this.shared ??= RingReader.open(this.path, 'head');
    const now = Date.now() / 1000;
    for (let i = 0; this.shared !== null && i < READS_A_TURN; i++) {
      const read = this.shared.read();
      if (read === null) break;
      for (const stream of [...this.live]) stream.take(read, now);
    }
    const expire = now - this.lastExpiry >= 0.1;
    if (expire) this.lastExpiry = now;
    for (const stream of [...this.live]) {
      if (expire) stream.expire(now);
      stream.send();
    }
  }

  /** Reads from the oldest record on, a piece a turn; then ends, or goes on from there. */
  private catchUp(stream: LogStream): void {
    const reader = RingReader.open(this.path, stream.sub.from);
    const step = (): void => {
      if (stream.closed) {
        reader?.close();
        return;
      }
      if (stream.full()) {
        setTimeout(step, POLL);
        return;
      }
      const now = Date.now() / 1000;
      const read = reader?.read() ?? null;
      if (read !== null) {
        stream.take(read, now);
        stream.send();
        setImmediate(step);
        return;
      }
      if (stream.sub.once === true || reader === null) {
        reader?.close();
        if (stream.sub.once === true) stream.finish();
        else this.join(stream);
        return;
      }
      stream.expire(now);
      stream.send();
      setTimeout(step, POLL);
    };
    setImmediate(step);
  }
}

class LogStream implements Stream {
  closed = false;
  readonly sub: LogSubscription;
  private readonly id: number;
  private readonly selection: LogSelection;
  private readonly sink: StreamSink;
  private readonly onClose: () => void;
  private readonly grouper: Grouper;
  private generation = -1;
  private batch: LogTransaction[] = [];
  private batchBytes = 0;
  private dropped = 0;
  private now = 0;

  constructor(
    id: number,
    sub: LogSubscription,
    selection: LogSelection,
    sink: StreamSink,
    onClose: () => void,
  ) {
    this.id = id;
    this.sub = sub;
    this.selection = selection;
    this.sink = sink;
    this.onClose = onClose;
    this.grouper = new Grouper(sub, (group) => this.group(group));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.grouper.clear();
    this.batch = [];
    this.onClose();
  }

  /** Shows what is incomplete as it is, and goes on. */
  flush(): void {
    this.grouper.flush();
    this.send();
  }

  /** Whether the peer should be given time to read. */
  full(): boolean {
    return this.sink.buffered() > MAX_BUFFERED / 2;
  }

  take(read: RingRead, now: number): void {
    this.now = now;
    if (read.lost > 0) this.sink.json({ t: 'lost', id: this.id, records: read.lost, reason: 'overrun' });
    for (const block of read.blocks) {
      if (this.closed) return;
      if (block.generation !== this.generation) {
        // Another worker counts its ids anew: what its predecessor left open will not end.
        if (this.generation >= 0) this.grouper.flush();
        this.generation = block.generation;
      }
      this.grouper.push(block.records, now);
    }
  }

  expire(now: number): void {
    this.now = now;
    this.grouper.expire(now);
  }

  /** Sends what has gathered. */
  send(): void {
    if (this.closed) return;
    const { suppressed } = this.selection;
    if (suppressed > 0) {
      this.selection.suppressed = 0;
      this.sink.json({ t: 'lost', id: this.id, records: suppressed, reason: 'rate' });
    }
    if (this.dropped > 0 && !this.full()) {
      this.sink.json({ t: 'lost', id: this.id, records: this.dropped, reason: 'backpressure' });
      this.dropped = 0;
    }
    this.flushBatch();
    if (this.selection.done) this.end();
  }

  /** The end of a log that is not followed: what is open comes out, then `end`. */
  finish(): void {
    this.grouper.flush();
    this.send();
    this.end();
  }

  private end(): void {
    if (this.closed) return;
    this.sink.json({ t: 'end', id: this.id });
    this.close();
  }

  private group(group: LogTransaction[]): void {
    if (this.closed) return;
    const shown = this.selection.take(group, this.now);
    if (shown === null) return;
    if (this.sink.buffered() + this.batchBytes > MAX_BUFFERED) {
      for (const tx of shown) this.dropped += countRecords(tx.records);
      return;
    }
    for (const tx of shown) {
      // Raw records are views of the reader's buffer, copied here; grouped ones belong to their transaction.
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

function countRecords(records: Uint8Array): number {
  let n = 0;
  for (let at = 0; at + RECORD_HEAD <= records.length; at += recordSize(records, at)) n++;
  return n;
}
