// Prints what several threads do with one store, without sockets: lookups of random keys of many objects, with use and
// release. Runs the compiled code: `npm run build` first. Arguments: objects (1000000), milliseconds a run (1500), thread
// counts (1 2 16).
//
// Threads beyond the machine's cores show whether they hold each other up: the work of all must not fall.

import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Cache } from '../../../dist/modules/daemon/cache/cache.js';
import { newCacheCounters } from '../../../dist/modules/daemon/cache/cache-counters.js';
import { LookupAnswer, LookupQuery, LookupResult } from '../../../dist/modules/daemon/cache/lookup-query.js';
import { HttpMessage } from '../../../dist/modules/daemon/http1/message.js';
import { makeSlots, Peers, portsOf } from '../../../dist/modules/daemon/threads/peers.js';

const now = 1_700_000_000;
const LIMITS = {
  nukeLimit: 50,
  rushExponent: 3,
  lruInterval: 2,
  gzipSupport: true,
  normaliseVary: false,
  banDups: true,
  tagHeaders: [],
  tagSpace: 0,
  lurker: { age: 0, batch: 1e9, sleep: 0.01, cutoff: 0, holdoff: 0 },
};

const keyOf = (i) => `/images/item-${i}.html\0www.example.com`;

/** A cache in this thread; alone when it has no peers. */
function openCache(peers) {
  const cache = new Cache({
    storages: [{ name: 's0', kind: 'malloc', size: 4 * 2 ** 30 }],
    counters: newCacheCounters(),
    limits: LIMITS,
    compileRegex: (pattern) => new RegExp(pattern),
    now,
    seed: [123, 456],
    ...(peers === null
      ? {}
      : {
          shared: {
            memory: peers.part('cache'),
            lock: peers.lock,
            signals: peers.signals,
            maintains: peers.thread === 0,
          },
        }),
  });
  return cache;
}

function fill(cache, objects) {
  const request = new HttpMessage(0);
  request.url = '/';
  const response = new HttpMessage(0);
  response.proto = 'HTTP/1.1';
  response.status = 200;
  response.reason = 'OK';
  for (const line of ['Content-Type: text/html', 'Content-Length: 1024', 'ETag: "655bf000-400"'])
    response.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
  const query = new LookupQuery(request);
  const out = new LookupResult();
  const body = Buffer.alloc(1024, 'b');
  for (let i = 0; i < objects; i++) {
    query.key = keyOf(i);
    query.now = now;
    cache.lookup.find(query, out);
    const oc = out.busy;
    cache.filling.setAttributes(oc, { tOrigin: now, ttl: 3600, grace: 10, keep: 0, vxid: i + 1, flags: 0 });
    cache.filling.storeHead(oc, null, response, null);
    cache.filling.unbusy(oc);
    cache.filling.append(oc, body, 0, 1024);
    cache.filling.finish(oc);
    cache.references.deref(oc);
  }
}

/** Lookups of a thread before it is measured: the code of each is compiled for it alone, and of sixteen threads on two cores
 * each gets an eighth of a core, so that a time would not do. */
const WARM_UP = 400_000;

/** Looks up, uses and releases for so long and at least so many times; returns how many a second. */
function work(cache, objects, millis, seed, least = 0) {
  const request = new HttpMessage(0);
  request.url = '/';
  const query = new LookupQuery(request);
  const out = new LookupResult();
  const target = Buffer.allocUnsafe(2048);
  let state = seed;
  const begun = performance.now();
  let done = 0;
  for (;;) {
    for (let i = 0; i < 500; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      query.key = keyOf(state % objects);
      query.now = now + (performance.now() - begun) / 1000;
      if (cache.lookup.find(query, out) !== LookupAnswer.HIT) throw new Error('not a hit');
      cache.hits.count(out.oc);
      cache.hits.touch(out.oc, query.now);
      cache.reading.copyBody(out.oc, 0, target, 0, 1024);
      cache.references.deref(out.oc);
      done++;
    }
    const took = performance.now() - begun;
    if (took >= millis && done >= least) return (done / took) * 1000;
  }
}

if (isMainThread) {
  const objects = Number(process.argv[2] ?? 1_000_000);
  const millis = Number(process.argv[3] ?? 1500);
  const counts = process.argv.length > 4 ? process.argv.slice(4).map(Number) : [1, 2, 16];
  console.log(`${objects} objects, ${availableParallelism()} cores`);
  const alone = openCache(null);
  fill(alone, objects);
  work(alone, objects, 0, 1, WARM_UP);
  console.log(`without other threads ${Math.round(work(alone, objects, millis, 7))} a second`);
  for (const count of counts) {
    const slots = makeSlots(Math.max(2, count));
    const peers = new Peers(slots[0]);
    const cache = openCache(peers);
    fill(cache, objects);
    const workers = [];
    for (let i = 1; i < count; i++) {
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { slot: slots[i], offer: peers.memory.offer(), objects, millis },
        transferList: portsOf(slots[i]),
      });
      workers.push(worker);
    }
    const ready = Promise.all(workers.map((w) => new Promise((done) => w.once('message', done))));
    work(cache, objects, 0, 5, WARM_UP);
    await ready;
    const results = workers.map((w) => new Promise((done) => w.once('message', done)));
    for (const w of workers) w.postMessage('go');
    const own = work(cache, objects, millis, 3);
    const all = [own, ...(await Promise.all(results))];
    console.log(`${count} threads: ${Math.round(all.reduce((a, b) => a + b))} a second`);
    for (const w of workers) await w.terminate();
  }
  process.exit(0);
} else {
  const { slot, offer, objects, millis } = workerData;
  const cache = openCache(new Peers(slot, offer));
  work(cache, objects, 0, 11 + slot.thread, WARM_UP);
  parentPort.once('message', () => parentPort.postMessage(work(cache, objects, millis, 100 + slot.thread)));
  parentPort.postMessage('ready');
}
