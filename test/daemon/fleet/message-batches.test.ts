// Batches of a reader: in order, one after another, and no further ahead than is good.
import { expect, it, vi } from 'vitest';
import type { BusMessage } from '../../../daemon/fleet/bus.ts';
import { AHEAD, Batches } from '../../../daemon/fleet/nats-consumption.ts';

const message = (seq: number): BusMessage => ({
  seq,
  publisher: '',
  id: '',
  at: 0,
  pending: 0,
  data: Buffer.alloc(0),
});

function batches() {
  const taken: number[][] = [];
  const state = { over: false, failed: '', gate: Promise.resolve() as Promise<unknown> };
  const made = new Batches(
    async (batch) => {
      taken.push(batch.map(({ seq }) => seq));
      await state.gate;
    },
    () => state.over,
    (why) => {
      state.failed = why;
    },
  );
  return { made, taken, state };
}

it('takes together what comes in one turn, and then what came meanwhile', async () => {
  const { made, taken, state } = batches();
  let open = (): void => {};
  state.gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  await Promise.all([1, 2].map((seq) => made.add(message(seq))));
  await vi.waitFor(() => expect(taken).toEqual([[1, 2]]), { timeout: 20_000 });
  await Promise.all([3, 4, 5].map((seq) => made.add(message(seq))));
  open();
  await made.idle();
  await vi.waitFor(
    () =>
      expect(taken).toEqual([
        [1, 2],
        [3, 4, 5],
      ]),
    { timeout: 20_000 },
  );
});

it('lets nobody come too far ahead', async () => {
  const { made, taken, state } = batches();
  let open = (): void => {};
  state.gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  await made.add(message(0));
  await vi.waitFor(() => expect(taken).toHaveLength(1), { timeout: 20_000 });
  for (let seq = 1; seq < AHEAD; seq++) await made.add(message(seq));
  let free = false;
  void made.add(message(AHEAD)).then(() => {
    free = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(free).toBe(false);
  open();
  await vi.waitFor(() => expect(free).toBe(true), { timeout: 20_000 });
  await vi.waitFor(() => expect(taken.flat()).toEqual(Array.from({ length: AHEAD + 1 }, (_, i) => i)), {
    timeout: 20_000,
  });
});

it('takes nothing more when it is over, and says what went wrong', async () => {
  const { made, taken, state } = batches();
  const gone = Promise.reject(new Error('no worker'));
  gone.catch(() => {});
  state.gate = gone;
  await made.add(message(1));
  await vi.waitFor(() => expect(state.failed).toBe('no worker'), { timeout: 20_000 });
  state.over = true;
  await made.add(message(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toEqual([[1]]);
});

it('leaves others their turns however many messages are there at once', async () => {
  const { made, taken } = batches();
  let others = 0;
  let isOver = false;
  const other = (): void => {
    others++;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  for (let seq = 0; seq < 500; seq++) {
    const end = performance.now() + 0.1;
    while (performance.now() < end);
    await made.add(message(seq));
  }
  isOver = true;
  await vi.waitFor(() => expect(taken.flat()).toHaveLength(500), { timeout: 20_000 });
  // 50 ms of work in turns of 2 ms.
  expect(others).toBeGreaterThan(5);
});
