// Lent bytes by their type: `tsc -p test` fails where one of these lines is no error. What runs is the copy.
import { expect, it } from 'vitest';
import { DISCARD, type Room, type Sink } from '../../../daemon/flow/flow.ts';
import { type AnyPiece, LentPiece, own, type Piece } from '../../../daemon/flow/piece.ts';
import { keep, type LentBytes, type StoredBytes } from '../../../daemon/http1/lent-bytes.ts';
import type { MessageLog } from '../../../daemon/http1/message.ts';

const owned = Buffer.from('owned');
const lent: LentBytes = owned;

it('copies what is to stay', () => {
  const kept: Buffer = keep(lent, 1, 4);
  owned.fill('x');
  expect(kept.toString()).toBe('wne');
});

it('is not stored unseen', () => {
  // @ts-expect-error Lent bytes are no Buffer.
  const asBuffer: Buffer = lent;
  // @ts-expect-error Nor any other bytes.
  const asBytes: Uint8Array = lent;
  // @ts-expect-error A part of a loan is a loan.
  const part: Uint8Array = lent.subarray(1);
  // @ts-expect-error Its memory is not to be had.
  const memory: ArrayBufferLike = lent.buffer;
  // @ts-expect-error Nobody writes to what is lent.
  lent[0] = 0;
  const parts: Buffer[] = [];
  // @ts-expect-error Nor is it gathered.
  parts.push(lent);
  expect([asBuffer, asBytes, part.length, memory]).toEqual([owned, owned, 4, owned.buffer]);
});

it('is what sinks and logs are given', () => {
  const holding = { ...DISCARD, write: (_piece: Piece): Room => 'more' };
  // @ts-expect-error A sink that holds its pieces is none for lent ones, which cannot be held.
  const sink: Sink<AnyPiece> = holding;
  // @ts-expect-error A log that asks for a Buffer could keep it.
  const log: MessageLog['putBytes'] = (_tag: number, src: Uint8Array) => void src;
  expect([sink, typeof log]).toEqual([holding, 'function']);
});

it('is no piece that can be held, and neither is what is stored without its object', () => {
  const piece = new LentPiece(lent, 0, 2);
  // @ts-expect-error It has no hold().
  const held: Piece = piece;
  // @ts-expect-error Nor are its parts to be had as buffers.
  const parts: readonly Buffer[] = piece.parts;
  const bytes = owned as unknown as StoredBytes;
  // @ts-expect-error Stored bytes are no Buffer.
  const kept: Buffer = bytes;
  // @ts-expect-error Nor are they own bytes.
  own(bytes);
  expect([held, parts, kept]).toEqual([piece, piece.parts, owned]);
});
