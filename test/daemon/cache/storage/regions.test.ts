import { expect, it } from 'vitest';
import { Regions } from '../../../../daemon/cache/storage/regions.ts';
import { MemoryPart, SharedMemory } from '../../../../daemon/threads/shared-memory.ts';

it('Regions give pieces that do not overlap, more and more from one mapping, and take them back', () => {
  const memory = new SharedMemory();
  const regions = new Regions(1024, new MemoryPart(memory, ''));
  const pieces = Array.from({ length: 200 }, (_, i) => regions.take(i));
  expect(new Set(pieces.map((piece) => piece.memory)).size).toBeLessThan(40);
  pieces.forEach(({ memory, at }, i) => {
    new Uint8Array(memory, at, 1024).fill(i);
  });
  pieces.forEach(({ memory, at }, i) => {
    expect(new Uint8Array(memory, at, 1024).every((byte) => byte === i)).toBe(true);
  });
  regions.give(199);
  expect(regions.take(199)).toEqual(pieces[199]);
  for (let i = 0; i < 200; i++) regions.give(i);
  // All were given back: none of the mappings is held any more.
  expect(memory.offer().pieces.size).toBe(0);
});

it('Regions of another thread see the same pieces, those of a mapping at once', () => {
  const memory = new SharedMemory();
  const regions = new Regions(1024, new MemoryPart(memory, ''));
  for (let i = 0; i < 6; i++) regions.take(i);
  const others = new Regions(1024, new MemoryPart(new SharedMemory(memory.offer()), ''));
  const seen = [...others.made(0)];
  expect(seen.length).toBeGreaterThanOrEqual(6);
  expect(seen.slice(0, 6)).toEqual(Array.from({ length: 6 }, (_, i) => regions.take(i)));
});
