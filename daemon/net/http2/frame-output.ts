// The output of a connection of HTTP/2: heads, bodies and control frames of all its streams, gathered into one write a turn.
// Everything is copied: a body's frame has nine bytes in front of every 16 KiB, and pieces of nine bytes cost more than the
// copy, with TLS a record each. While the kernel has not taken the last write, heads and control frames are gathered, and
// bodies stay where they are stored.

import type { Room, Writer } from '../../flow/flow.ts';
import { type Holder, Piece } from '../../flow/piece.ts';
import { FRAME_HEADER } from '../../http2/frames.ts';

/** Bytes of a buffer: what a write has at most, unless one head is larger. */
const USUAL = 64 * 1024;
/** Buffers of a thread that wait for the next connection with something to say. */
const SPARE = 16;
const spare: Buffer[] = [];
const NONE = Buffer.alloc(0);

/** The connection below. */
export interface OutputWire {
  /** Writes at once. */
  send(piece: Piece): Room;
  onRoom(writer: Pick<Writer, 'room'>): void;
}

export class FrameOutput implements Pick<Writer, 'room'> {
  /** The bytes of the next write, up to `at`. */
  bytes: Buffer = NONE;
  at = 0;
  /** The kernel has not taken the last write. */
  isBlocked = false;
  private readonly wire: OutputWire;
  private readonly drained: () => void;
  private readonly sent: (bytes: Buffer) => void;
  /** Full buffers queued until the kernel has taken the last write. */
  private waiting: Buffer[] = [];
  private waitingBytes = 0;

  /** @param drained called when the kernel takes bytes again. @param sent called with whole frames before they are written */
  constructor(wire: OutputWire, drained: () => void, sent: (bytes: Buffer) => void) {
    this.wire = wire;
    this.drained = drained;
    this.sent = sent;
  }

  /** Bytes that have not gone to the kernel. */
  get backlog(): number {
    return this.waitingBytes + this.at;
  }

  /** Bytes of a body that still fit into the buffer after the header of their frame. */
  get bodyRoom(): number {
    if (this.bytes.length === 0) return USUAL - FRAME_HEADER;
    return Math.max(0, this.bytes.length - this.at - FRAME_HEADER);
  }

  /** Sees to it that `size` bytes more have a place in `bytes`. */
  reserve(size: number): void {
    if (this.bytes.length - this.at >= size) return;
    if (this.at > 0) this.putAside();
    if (this.bytes.length < size) this.bytes = size <= USUAL ? bufferOf() : Buffer.allocUnsafeSlow(size);
  }

  /** Hands over what was gathered, unless the kernel is still at the last write. */
  flush(): void {
    if (this.isBlocked || this.backlog === 0) return;
    if (this.at > 0) this.putAside();
    const buffers = this.waiting;
    this.waiting = [];
    this.waitingBytes = 0;
    for (const bytes of buffers) this.sent(bytes);
    const holder = new Lent(buffers);
    const room = this.wire.send(new Piece(buffers, holder));
    holder.release();
    if (room === 'more') return;
    this.isBlocked = true;
    this.wire.onRoom(this);
  }

  room(): void {
    this.isBlocked = false;
    this.drained();
  }

  /** Gives up what has not left. */
  drop(): void {
    if (this.at > 0) this.putAside();
    giveBack(this.waiting);
    giveBack([this.bytes]);
    this.waiting = [];
    this.waitingBytes = 0;
    this.bytes = NONE;
    this.at = 0;
  }

  private putAside(): void {
    this.waiting.push(this.bytes.subarray(0, this.at));
    this.waitingBytes += this.at;
    this.bytes = NONE;
    this.at = 0;
  }
}

function bufferOf(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(USUAL);
}

function giveBack(buffers: readonly Buffer[]): void {
  for (const { buffer } of buffers)
    if (buffer.byteLength === USUAL && spare.length < SPARE) spare.push(Buffer.from(buffer));
}

/** Buffers of one write; returned to the pool of all connections when the last holder releases them. */
class Lent implements Holder {
  /** The first is that of the write, until it is handed over. */
  private holds = 1;
  private readonly buffers: readonly Buffer[];

  constructor(buffers: readonly Buffer[]) {
    this.buffers = buffers;
  }

  hold(): void {
    this.holds++;
  }

  release(): void {
    if (--this.holds === 0) giveBack(this.buffers);
  }
}
