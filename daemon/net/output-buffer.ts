// The buffer in which a worker assembles what goes out in one piece: responses, and heads of requests to origins. Nearly
// always the kernel takes everything at once, so that one buffer serves all; when it did not, those bytes keep the buffer
// and there is a new one.
//
// The pieces that were made are kept: responses to the same request are alike, and making a view costs as much as
// assembling 50 bytes.

import { type Holder, NOTHING, own, Piece } from '../flow/piece.ts';

const USUAL = 128 * 1024;
/** A power of two. */
const PIECES = 64;

export class OutputBuffer implements Holder {
  private bytes = Buffer.allocUnsafeSlow(USUAL);
  private readonly pieces = new Array<Piece>(PIECES).fill(NOTHING);
  /** Where each of them begins. */
  private readonly starts = new Int32Array(PIECES);

  /** At least `size` bytes; what was in them may be overwritten. */
  room(size: number): Buffer {
    if (this.bytes.length < size) this.replace(size);
    return this.bytes;
  }

  /** The bytes [start, end) of what room() gave. */
  piece(bytes: Buffer, start: number, end: number): Piece {
    if (bytes !== this.bytes) return own(bytes.subarray(start, end));
    const at = (start + end) & (PIECES - 1);
    const known = this.pieces[at] as Piece;
    if (this.starts[at] === start && known.length === end - start) return known;
    const piece = new Piece([bytes.subarray(start, end)], this);
    this.pieces[at] = piece;
    this.starts[at] = start;
    return piece;
  }

  /** Some of it has not been sent: it is not used again, but left to its holders. */
  hold(): void {
    this.replace(USUAL);
  }

  release(): void {}

  private replace(size: number): void {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.pieces.fill(NOTHING);
  }
}
