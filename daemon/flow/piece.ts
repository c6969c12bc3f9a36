// Bytes on their way, with whatever keeps them as they are. Three kinds, which tsc tells apart:
//
//   lent    a read buffer's, gone when the call returns: a LentPiece, which can only be used up or copied
//   stored  an object's, where they lie: a Piece that holds the object
//   own     nobody else's: a Piece without a holder
//
// Whoever uses the bytes of a Piece after the call in which it got them calls hold(), and release() when it is done; for
// what goes out that is the completion of the kernel's write. No bytes of a piece can be had as a Buffer but by
// buffersOf(), whose users are listed in test/structure/loans.test.ts.

import { keep, type LentBytes, type StoredBytes } from '../http1/lent-bytes.ts';

/** Keeps bytes as they are; counted, so that each hold() needs its release(). */
export interface Holder {
  hold(): void;
  release(): void;
}

/** Any bytes on their way: for use within the call. */
export interface AnyPiece {
  readonly parts: readonly LentBytes[];
  /** Bytes of all parts. */
  readonly length: number;
}

export class LentPiece implements AnyPiece {
  readonly parts: readonly [LentBytes];
  readonly length: number;

  /** buf[start, end) of a read buffer. */
  constructor(buf: LentBytes, start: number, end: number) {
    this.parts = [buf.subarray(start, end)];
    this.length = end - start;
  }
}

/** Bytes that can be held. A piece is a holder too: of smaller pieces of the same bytes. */
export class Piece implements AnyPiece, Holder {
  readonly parts: readonly LentBytes[];
  readonly length: number;
  private readonly holder: Holder | null;

  /** @param holder null for own bytes */
  constructor(parts: readonly Buffer[], holder: Holder | null) {
    this.parts = parts;
    this.holder = holder;
    this.length = lengthOf(parts);
  }

  hold(): void {
    this.holder?.hold();
  }

  release(): void {
    this.holder?.release();
  }

  /** The bytes [from, to) of a piece in one part. */
  cut(from: number, to: number): Piece {
    const part = this.parts[0] as Buffer | undefined;
    return part === undefined ? NOTHING : new Piece([part.subarray(from, to)], this.holder);
  }
}

function lengthOf(parts: readonly LentBytes[]): number {
  let length = 0;
  for (let i = 0; i < parts.length; i++) length += (parts[i] as LentBytes).length;
  return length;
}

/** Bytes that nobody else changes. */
export function own(...parts: readonly Buffer[]): Piece {
  return new Piece(parts, null);
}

/** @param holder holds the object */
export function stored(parts: readonly StoredBytes[], holder: Holder): Piece {
  return new Piece(parts as readonly LentBytes[] as readonly Buffer[], holder);
}

/** Two pieces as one. */
export function joined(first: Piece, second: Piece): Piece {
  return new Piece([...buffersOf(first), ...buffersOf(second)], {
    hold: () => {
      first.hold();
      second.hold();
    },
    release: () => {
      first.release();
      second.release();
    },
  });
}

/** The parts as they are, for code that holds the piece as long as it uses them. */
export function buffersOf(piece: Piece): readonly Buffer[] {
  return piece.parts as readonly Buffer[];
}

/** A copy of the bytes. */
export function copyOf(piece: AnyPiece): Buffer {
  const { parts, length } = piece;
  const first = parts[0] as Buffer | undefined;
  if (first === undefined) return NO_BYTES;
  return parts.length === 1 ? keep(first, 0, length) : Buffer.concat(parts as readonly Buffer[], length);
}

/** Copies the bytes to `target` at `at`; returns how many. */
export function copyInto(piece: AnyPiece, target: Buffer, at: number): number {
  let n = at;
  for (const part of piece.parts) n += (part as Buffer).copy(target, n);
  return n - at;
}

/** Adds the parts of `length` bytes from the byte `from` on to `parts`, for code that holds the piece as long as it uses them. */
export function partsOf(piece: Piece, from: number, length: number, parts: Buffer[]): void {
  let skip = from;
  let left = length;
  for (const part of buffersOf(piece)) {
    if (left === 0) return;
    if (skip >= part.length) {
      skip -= part.length;
      continue;
    }
    const end = Math.min(part.length, skip + left);
    parts.push(skip === 0 && end === part.length ? part : part.subarray(skip, end));
    left -= end - skip;
    skip = 0;
  }
}

/** Copies `length` bytes from the byte `from` on to `target` at `at`. */
export function copyRange(piece: Piece, from: number, length: number, target: Buffer, at: number): void {
  const parts: Buffer[] = [];
  partsOf(piece, from, length, parts);
  let n = at;
  for (const part of parts) n += part.copy(target, n);
}

const NO_BYTES: Buffer = Buffer.alloc(0);

/** A piece without bytes. */
export const NOTHING: Piece = new Piece([], null);
