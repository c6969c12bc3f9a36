// Random histories of several threads over one store: `node histories.js --threads 4 --ops 100000 --seed 1`. Runs the
// compiled code: `npm run build` first. Prints a summary, and exits with 1 and sentences after errors. The threads
// pause a few times, and the store is checked at rest (check-store.js); at the end all objects are removed, and
// nothing may be left. --churn uses few URLs that come and go all the time; --secrets=0.4 is the share of private
// responses. --delays adds pauses wherever threads may meet: short ones often, some of milliseconds.

import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { checkStore } from './check-store.js';
import { Agent, Common, randomOf, T0 } from './history-agent.js';

const modules = new URL('../../../dist/modules/daemon/', import.meta.url);
const load = (path) => import(new URL(path, modules).href);
const { Cache } = await load('cache/cache.js');
const { newCacheCounters } = await load('cache/cache-counters.js');
const { Peers, makeSlots, portsOf } = await load('threads/peers.js');

const GROUPS = 7;
const OPS_A_PHASE = 50_000;
const LONG_PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** A thread's cache with its history. */
function open(peers, common, options) {
  const counters = newCacheCounters();
  const thread = peers?.thread ?? 0;
  const timer = { wake: () => undefined };
  const cache = new Cache({
    storages: [{ name: 's0', kind: 'malloc', size: options.size }],
    counters,
    limits: {
      nukeLimit: 50,
      rushExponent: 3,
      lruInterval: 0.05,
      gzipSupport: true,
      normaliseVary: false,
      banDups: true,
      tagHeaders: ['xkey'],
      tagSpace: 0,
      lurker: { age: 0, batch: 100, sleep: 0.002, cutoff: 0, holdoff: 0 },
    },
    compileRegex: (pattern) => new RegExp(pattern),
    now: T0,
    seed: [123, 456],
    wake: () => (thread === 0 ? timer.wake() : peers.signals.wakeMaintenance()),
    ...(peers === null
      ? {}
      : {
          shared: {
            memory: peers.part('cache'),
            lock: peers.lock,
            signals: peers.signals,
            maintains: thread === 0,
          },
        }),
  });
  peers?.signals.listen(cache.receiver, () => timer.wake());
  if (peers !== null && options.delays) addDelays(peers, randomOf(options.seed * 77 + thread));
  const agent = new Agent(cache, common, randomOf(options.seed * 1000 + thread), {
    groups: GROUPS,
    behind: thread * 4,
    churn: options.churn,
    secrets: options.secrets,
  });
  return { cache, counters, agent, timer, lock: peers?.lock ?? null };
}

/** Pauses where threads may meet: at one of this many places a short one, a tenth of which are long enough for others
 * to do much, and few of them very long. */
function addDelays(peers, random) {
  const delayOf = (one) => () => {
    const kind = random() * one;
    if (kind > 1) return;
    if (kind > 0.1) {
      const end = performance.now() + random() * 0.05;
      while (performance.now() < end);
    } else {
      Atomics.wait(LONG_PAUSE, 0, 0, kind < 0.0005 ? 20 : random());
    }
  };
  peers.lock.delay = delayOf(500);
  peers.memory.delay = delayOf(20);
}

/** A thread's report at rest. */
function rest({ cache, counters, agent, lock }) {
  const problems = [...agent.problems];
  const state = cache.hits.state;
  if (state.objheads.waiting.size !== 0) problems.push('requests wait in the lists of keys');
  if (cache.receiver.readCount !== 0) problems.push('readers wait for objects of other threads');
  if (lock?.isHeld === true) problems.push('it has the lock');
  return { counters, problems, done: agent.done, ops: agent.ops };
}

if (isMainThread) await main();
else runThread();

function runThread() {
  const { slot, offer, memory, options } = workerData;
  const opened = open(new Peers(slot, offer), new Common(options.urls, memory), options);
  parentPort.on('message', async (ops) => {
    await opened.agent.run(ops);
    parentPort.postMessage(rest(opened));
  });
}

async function main() {
  const { values } = parseArgs({
    options: {
      threads: { type: 'string', default: '4' },
      ops: { type: 'string', default: '200000' },
      seed: { type: 'string', default: '1' },
      urls: { type: 'string', default: '300' },
      size: { type: 'string', default: String(2 << 20) },
      churn: { type: 'boolean', default: false },
      secrets: { type: 'string', default: '0.01' },
      delays: { type: 'boolean', default: false },
    },
  });
  const options = {
    threads: Number(values.threads),
    ops: Number(values.ops),
    seed: Number(values.seed),
    urls: values.churn ? 12 : Number(values.urls),
    churn: values.churn,
    secrets: Number(values.secrets),
    size: Number(values.size),
    delays: values.delays,
  };
  const common = new Common(options.urls);
  const slots = makeSlots(options.threads);
  const peers = options.threads === 1 ? null : new Peers(slots[0]);
  const own = open(peers, common, options);
  const stopMaintenance = maintain(own, common);
  const workers = slots.slice(1).map(
    (slot) =>
      new Worker(new URL(import.meta.url), {
        workerData: { slot, offer: peers.memory.offer(), memory: common.memory, options },
        transferList: portsOf(slot),
      }),
  );
  let reports = [];
  const begun = Date.now();
  for (let left = options.ops; left > 0; left -= OPS_A_PHASE) {
    const each = Math.ceil(Math.min(left, OPS_A_PHASE) / options.threads);
    reports = await phase(own, workers, each);
    await settled();
    report(own, reports, `after ${options.ops - left + each * options.threads} operations`);
  }
  // All objects are long past their end.
  common.pass(1_000_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let i = 0; i < 5000 && own.cache.hits.state.objcores.count > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  reports = await phase(own, workers, 0);
  report(own, reports, 'at the end', true);
  stopMaintenance();
  const done = {};
  for (const each of reports)
    for (const [what, count] of Object.entries(each.done)) done[what] = (done[what] ?? 0) + count;
  const sums = sumOf(reports);
  console.log(
    JSON.stringify({
      ...options,
      ops: reports.reduce((sum, each) => sum + each.ops, 0),
      seconds: (Date.now() - begun) / 1000,
      evicted: sums.n_lru_nuked,
      expired: sums.n_expired,
      moved: sums.n_lru_moved,
      done,
    }),
  );
  process.exit(0);
}

async function phase(own, workers, ops) {
  const others = workers.map(
    (worker) =>
      new Promise((resolve, reject) => {
        worker.once('message', (answer) => {
          if (answer.problems.length > 0) report(own, [answer], 'a thread');
          resolve(answer);
        });
        worker.removeAllListeners('error');
        worker.once('error', reject);
      }),
  );
  for (const worker of workers) worker.postMessage(ops);
  await own.agent.run(ops);
  if (own.agent.problems.length > 0) report(own, [rest(own)], 'the first thread');
  const answers = await Promise.all(others);
  return [rest(own), ...answers];
}

/** Messages sent between threads at the last moment have arrived. */
async function settled() {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 1));
}

function report(own, reports, when, isEmpty = false) {
  const problems = reports.flatMap((each, thread) =>
    each.problems.map((text) => `thread ${thread}: ${text}`),
  );
  const state = own.cache.hits.state;
  state.storeUnderTest = own.cache.hits.state.storeUnderTest ?? own.cache.lookup.store;
  state.lock.enter();
  // A running purge by key holds the objects it is about to remove.
  while (own.cache.maintenance.tagPurges.pending) own.cache.maintenance.tagPurges.step(10);
  if (problems.length === 0)
    problems.push(...checkStore(state, sumOf(reports.map((each, i) => (i === 0 ? rest(own) : each)))));
  if (isEmpty && state.objcores.count > 0) problems.push(`${state.objcores.count} objects are left`);
  state.lock.leave();
  if (problems.length === 0) return;
  console.error(`${when}, seed ${process.argv.join(' ')}:`);
  for (const problem of problems) console.error(`  ${problem}`);
  process.exit(1);
}

function sumOf(reports) {
  const sums = {};
  for (const { counters } of reports)
    for (const [name, value] of Object.entries(counters)) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

/** The work that no request waits for, as the worker's timer does it. */
function maintain({ cache, timer }, common) {
  let isOver = false;
  let pending = null;
  const step = () => {
    pending = null;
    if (isOver) return;
    const rest = cache.maintenance.step(common.now) * 1000;
    pending = rest <= 0 ? setImmediate(step) : setTimeout(step, Math.min(rest, 5));
  };
  timer.wake = () => {
    if (pending === null || isOver) return;
    clearTimeout(pending);
    clearImmediate(pending);
    pending = setImmediate(step);
  };
  step();
  return () => {
    isOver = true;
  };
}
