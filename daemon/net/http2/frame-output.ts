// The output of a connection of HTTP/2: heads, bodies and control frames of all its streams, gathered into one write a turn.
// Heads and small bodies are copied: pieces of some bytes cost more than the copy, with TLS a record each. The payload of a
// large frame stays where it is stored until the kernel has it, since bytes that threads share are slow to copy. While the kernel
// has not taken the last write, heads and control frames are gathered, and bodies stay in their streams.

import type { Room, Writer } from '../../flow/flow.ts';
import { type Holder, Piece, partsOf } from '../../flow/piece.ts';
import { FRAME_HEADER } from '../../http2/frames.ts';

/** Bytes of a buffer, unless one head is larger. */
const USUAL = 64 * 1024;
/** Bytes of a write, unless one head is larger (chosen: those that TLS encrypts at once). */
const A_WRITE = 128 * 1024;
/** A frame in the rest of a write has at least as many bytes of a body. */
const LEAST = 1024;
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
  /** The buffer of the next write, used up to `at`. */
  bytes: Buffer = NONE;
  at = 0;
  /** The kernel has not taken the last write. */
  isBlocked = false;
  private readonly wire: OutputWire;
  private readonly drained: () => void;
  private readonly sent: (parts: readonly Buffer[]) => void;
  /** The parts of the next write that come before bytes[from, at), and their length. */
  private parts: Buffer[] = [];
  private partsBytes = 0;
  private from = 0;
  /** Of those parts: full buffers, and pieces that are held. */
  private buffers: Buffer[] = [];
  private pieces: Piece[] = [];

  /**
   * @param drained called when the kernel takes bytes again
   * @param sent called with whole frames before they are written; a frame's header is in one part
   */
  constructor(wire: OutputWire, drained: () => void, sent: (parts: readonly Buffer[]) => void) {
    this.wire = wire;
    this.drained = drained;
    this.sent = sent;
  }

  /** Bytes that have not gone to the kernel. */
  get backlog(): number {
    return this.partsBytes + this.at - this.from;
  }

  /** Bytes of a body that still fit into the write after the header of their frame. */
  get bodyRoom(): number {
    const room = A_WRITE - this.backlog - FRAME_HEADER;
    return room < LEAST ? 0 : room;
  }

  /** Sees to it that `size` bytes more have a place in `bytes`. */
  reserve(size: number): void {
    if (this.bytes.length - this.at >= size) return;
    this.putAside();
    this.bytes = size <= USUAL ? bufferOf() : Buffer.allocUnsafeSlow(size);
  }

  /** Puts `length` bytes of a piece, from its byte `from` on, behind what is in `bytes`; the piece is held until they are sent. */
  lend(piece: Piece, from: number, length: number): void {
    this.closePart();
    partsOf(piece, from, length, this.parts);
    this.partsBytes += length;
    piece.hold();
    this.pieces.push(piece);
  }

  /** Hands over what was gathered, unless the kernel is still at the last write. */
  flush(): void {
    if (this.isBlocked || this.backlog === 0) return;
    this.putAside();
    const { parts } = this;
    const holder = this.taken();
    this.sent(parts);
    const room = this.wire.send(new Piece(parts, holder));
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
    this.putAside();
    this.taken().release();
  }

  /** The holder of all parts, which are those of the next write no longer. */
  private taken(): Holder {
    const holder = new Lent(this.buffers, this.pieces);
    this.parts = [];
    this.partsBytes = 0;
    this.buffers = [];
    this.pieces = [];
    return holder;
  }

  private closePart(): void {
    const { from, at } = this;
    if (at === from) return;
    this.parts.push(this.bytes.subarray(from, at));
    this.partsBytes += at - from;
    this.from = at;
  }

  private putAside(): void {
    this.closePart();
    if (this.bytes !== NONE) this.buffers.push(this.bytes);
    this.bytes = NONE;
    this.at = 0;
    this.from = 0;
  }
}

function bufferOf(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(USUAL);
}

/** Buffers and pieces of one write. The last holder's release returns the buffers to the pool of all connections. */
class Lent implements Holder {
  /** The first is that of the write, until it is handed over. */
  private holds = 1;
  private readonly buffers: readonly Buffer[];
  private readonly pieces: readonly Piece[];

  constructor(buffers: readonly Buffer[], pieces: readonly Piece[]) {
    this.buffers = buffers;
    this.pieces = pieces;
  }

  hold(): void {
    this.holds++;
  }

  release(): void {
    if (--this.holds > 0) return;
    for (const piece of this.pieces) piece.release();
    for (const buffer of this.buffers)
      if (buffer.length === USUAL && spare.length < SPARE) spare.push(buffer);
  }
}
