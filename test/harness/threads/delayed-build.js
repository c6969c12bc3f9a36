// Makes a debug build of dist/ in which threads pause at random inside each critical section and at every place where they
// meet without a lock (decisions/15), so that all system tests can be run with it: nothing may rest on luck. Changes dist/
// of the tree that it is run in; `npm run build` makes it what it was.
//   npm run build && node test/harness/threads/delayed-build.js
//   PROXYD_TEST_THREADS=4 npm run test:system
import { readFileSync, writeFileSync } from 'node:fs';

const WORKER = new URL('../../../dist/daemon/worker/main.js', import.meta.url);
/** As the hooks of SharedLock and SharedMemory stand in the built worker. */
const HOOK = /\bdelay = null\b/g;
/** How many of the calls that pause: locks are taken far less often than threads meet. */
const ONE_OF = { lock: 500, meeting: 20 };

/** Mostly up to 50 µs of work, one in ten up to a millisecond of sleep, and rarely 20 ms. */
const pause = (oneOf) => `(() => {
  const word = new Int32Array(new SharedArrayBuffer(4));
  return () => {
    const kind = Math.random() * ${oneOf};
    if (kind > 1) return;
    if (kind < 0.1) Atomics.wait(word, 0, 0, kind < 0.0005 ? 20 : Math.random());
    else for (const end = performance.now() + Math.random() * 0.05; performance.now() < end; );
  };
})()`;

const code = readFileSync(WORKER, 'utf8');
const hooks = [...code.matchAll(HOOK)].length;
if (hooks !== 2) throw new Error(`${WORKER.pathname} has ${hooks} hooks for pauses, and should have 2`);
const kinds = [ONE_OF.lock, ONE_OF.meeting];
writeFileSync(
  WORKER,
  code.replace(HOOK, () => `delay = ${pause(kinds.shift())}`),
);
console.log('The worker in dist/ pauses where its threads meet');
