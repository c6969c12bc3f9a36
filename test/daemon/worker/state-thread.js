// The threads of threads-state.test.ts, on the compiled code: `.ts` threads do not load on Node 20. All of them count in
// the same rows, and remove some, so that the tables grow under their hands.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { makeSlots, Peers, portsOf } from '../../../dist/modules/daemon/threads/peers.js';
import { ThreadsState } from '../../../dist/modules/daemon/worker/threads-state.js';

function work(state, thread, { rounds, keys }) {
  const counts = state.table('counts', { numbers: 1, entries: keys });
  const passing = state.table('passing', { entries: 10 * rounds, bytes: 1e8 });
  const add = (row) => {
    row.numbers[0]++;
  };
  let wrong = 0;
  for (let i = 0; i < rounds; i++) {
    counts.update(`key ${i % keys}`, add);
    const own = `${thread} ${i}`;
    passing.update(own, (row) => {
      row.text = own.repeat(1 + (i % 50));
    });
    const old = `${thread} ${i - 100}`;
    if (i < 100) continue;
    if (passing.read(old)?.text !== old.repeat(1 + ((i - 100) % 50))) wrong++;
    if (i % 3 > 0) passing.remove(old);
  }
  Atomics.add(new Int32Array(state.memory('sum', () => new SharedArrayBuffer(4))), 0, 1);
  return wrong;
}

if (isMainThread) {
  const task = { rounds: Number(process.argv[2]), keys: Number(process.argv[3]) };
  const slots = makeSlots(4);
  const peers = new Peers(slots[0]);
  const state = new ThreadsState(peers, [3, 4]);
  const threads = slots.slice(1).map(
    (slot) =>
      new Worker(new URL(import.meta.url), {
        workerData: { slot, offer: peers.memory.offer(), task },
        transferList: portsOf(slot),
      }),
  );
  const wrong = await Promise.all(
    threads.map((thread) => new Promise((done) => thread.once('message', done))),
  );
  const counts = state.table('counts', { numbers: 1, entries: task.keys });
  let sum = 0;
  for (let k = 0; k < task.keys; k++) sum += counts.read(`key ${k}`)?.numbers[0] ?? 0;
  const joined = new Int32Array(state.memory('sum', () => new SharedArrayBuffer(4)))[0];
  process.send?.({ wrong, sum, joined, size: state.table('passing').size });
  process.disconnect?.();
} else {
  const { slot, offer, task } = workerData;
  parentPort.postMessage(work(new ThreadsState(new Peers(slot, offer), [3, 4]), slot.thread, task));
}
