// A thread for the tests of locks and shared memory, over the compiled code: takes a lock this many times and counts
// without any other protection, or waits for shared memory without returning to its event loop.

import { parentPort, workerData } from 'node:worker_threads';

const modules = new URL('../../../dist/modules/daemon/threads/', import.meta.url);
const { SharedLock } = await import(new URL('shared-lock.js', modules).href);
const { SharedMemory } = await import(new URL('shared-memory.js', modules).href);

const { job, words, thread, times, offer, port } = workerData;

if (job === 'count') {
  const lock = new SharedLock(words, 0, thread);
  for (let i = 0; i < times; i++) {
    lock.enter();
    const before = words[2];
    // Long enough for another to come in between, if it could.
    for (let spin = i % 50; spin > 0; spin--) Atomics.load(words, 3);
    words[2] = before + 1;
    lock.leave();
  }
  parentPort.postMessage('done');
} else {
  const memory = new SharedMemory(offer, [port]);
  const looks = [];
  memory.sync();
  memory.onGrowth(() => looks.push(memory.find('grown')?.byteLength ?? 0));
  parentPort.postMessage('ready');
  Atomics.wait(words, 0, 0, 10_000);
  const before = memory.find('grown') !== undefined;
  memory.sync();
  const piece = memory.find('grown');
  parentPort.postMessage({ before, value: piece === undefined ? 0 : new Int32Array(piece)[0], looks });
}
