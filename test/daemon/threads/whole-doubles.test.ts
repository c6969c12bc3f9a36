// Threads read doubles of shared tables without a lock: a read never sees half of one value and half of another.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { makeSlots } from '../../../daemon/threads/peers.ts';

/** Both halves of one differ from those of the other. */
const VALUES = new Float64Array(new BigUint64Array([0x3ff1_1111_1111_1111n, 0x4002_2222_2222_2222n]).buffer);

it('a double is read as it was written', async () => {
  const [first, second] = VALUES as unknown as [number, number];
  const shared = new SharedArrayBuffer(16);
  const doubles = new Float64Array(shared);
  const ended = new Int32Array(shared, 8, 1);
  doubles[0] = first;
  const writer = new Worker(
    `const { workerData: [shared, first, second] } = require('node:worker_threads');
     const doubles = new Float64Array(shared);
     const ended = new Int32Array(shared, 8, 1);
     Atomics.store(ended, 0, 1);
     while (Atomics.load(ended, 0) === 1) { doubles[0] = second; doubles[0] = first; }`,
    { eval: true, workerData: [shared, first, second] },
  );
  await once(writer, 'online');
  const seen = new Set<number>();
  for (let i = 0; i < 20_000_000 && (i < 2_000_000 || seen.size < 2); i++) seen.add(doubles[0] as number);
  Atomics.store(ended, 0, 2);
  await once(writer, 'exit');
  expect([...seen].filter((value) => value !== first && value !== second)).toEqual([]);
});

it('several threads are refused where a double is read in halves', () => {
  expect(() => makeSlots(2, 'arm')).toThrow(
    'Several worker threads need a 64-bit processor, and this is arm',
  );
  expect(makeSlots(1, 'arm')).toHaveLength(1);
});
