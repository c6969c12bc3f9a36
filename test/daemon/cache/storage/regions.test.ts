import { expect, it } from 'vitest';
import { type Piece, Regions } from '../../../../daemon/cache/storage/regions.ts';

it('Regions give pieces that do not overlap, more and more from one mapping, and take them back', () => {
  const regions = new Regions(1024);
  const pieces: Piece[] = [];
  for (let i = 0; i < 200; i++) pieces.push(regions.take());
  expect(new Set(pieces.map((piece) => piece.memory)).size).toBeLessThan(40);
  pieces.forEach(({ memory, at }, i) => {
    new Uint8Array(memory, at, 1024).fill(i);
  });
  pieces.forEach(({ memory, at }, i) => {
    expect(new Uint8Array(memory, at, 1024).every((byte) => byte === i)).toBe(true);
  });
  const last = pieces.pop() as Piece;
  regions.give(last);
  expect(regions.take()).toBe(last);
  for (const piece of [...pieces, last]) regions.give(piece);
  // All were given back: none of the mappings is held any more.
  expect(pieces.map((piece) => piece.memory)).not.toContain(regions.take().memory);
});
