// Prints what a cache hit costs inside the cache (lookup, head, body copy of 1 KiB) and what an object weighs.
// Runs the compiled code: `npm run build` first. Arguments: number of objects (200000).
// The longest expiry step is given with the part of it in which the process waited for a CPU (Linux only): on
// a busy machine that is most of it.
// Memory is resident size before and after the fill, index, keys and expiry included.

import { readFileSync } from 'node:fs';
import { Cache } from '../../../dist/modules/daemon/cache/cache.js';
import { newCacheCounters } from '../../../dist/modules/daemon/cache/cache-counters.js';
import { LookupQuery, LookupResult } from '../../../dist/modules/daemon/cache/lookup-query.js';
import { HttpMessage } from '../../../dist/modules/daemon/http1/message.js';

const objects = Number(process.argv[2] ?? 200_000);
const ROUNDS = 400_000;
const now = 1_700_000_000;
const fields = [
  'Server: nginx/1.22.1',
  'Date: Sat, 21 Nov 2026 00:00:00 GMT',
  'Content-Type: text/html',
  'Content-Length: 1024',
  'Last-Modified: Sat, 21 Nov 2026 00:00:00 GMT',
  'ETag: "655bf000-400"',
  'Cache-Control: max-age=3600',
];

const limits = {
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
const cache = new Cache({
  storages: [{ name: 's0', kind: 'malloc', size: 4 * 2 ** 30 }],
  counters: newCacheCounters(),
  limits,
  compileRegex: (pattern) => new RegExp(pattern),
  now,
  seed: [123, 456],
});

const request = new HttpMessage(0);
request.url = '/';
const response = new HttpMessage(0);
response.proto = 'HTTP/1.1';
response.status = 200;
response.reason = 'OK';
for (const line of fields) response.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
const query = new LookupQuery(request);
const out = new LookupResult();
const body = Buffer.alloc(1024, 'b');
const keyOf = (i) => `/images/item-${i}.html\0www.example.com`;

globalThis.gc?.();
const before = process.memoryUsage().rss;
const fillStart = performance.now();
for (let i = 0; i < objects; i++) {
  query.key = keyOf(i);
  query.now = now;
  cache.lookup.find(query, out);
  const oc = out.busy;
  cache.filling.setAttributes(oc, { tOrigin: now, ttl: 3600, grace: 10, keep: 0, vxid: i, flags: 0 });
  cache.filling.storeHead(oc, null, response, null);
  cache.filling.unbusy(oc);
  cache.filling.append(oc, body, 0, 1024);
  cache.filling.finish(oc);
  cache.references.deref(oc);
}
const fill = performance.now() - fillStart;
globalThis.gc?.();
const weight = (process.memoryUsage().rss - before) / objects;

const into = new HttpMessage(0);
const target = Buffer.allocUnsafe(2048);

function measure(spread) {
  const keys = Array.from({ length: Math.min(spread, 20_000) }, () =>
    keyOf(Math.floor(Math.random() * spread)),
  );
  const parts = { lookup: 0, head: 0, body: 0 };
  for (const part of ['lookup', 'head', 'body']) {
    const start = performance.now();
    for (let i = 0; i < ROUNDS; i++) {
      query.key = keys[i % keys.length];
      cache.lookup.find(query, out);
      if (part !== 'lookup') cache.reading.head(out.oc, into);
      if (part === 'body') cache.reading.copyBody(out.oc, 0, target, 0, 1024);
      cache.references.deref(out.oc);
    }
    parts[part] = ((performance.now() - start) * 1e6) / ROUNDS;
  }
  return parts;
}

measure(1);
for (const [name, spread] of [
  ['one object', 1],
  ['all objects', objects],
]) {
  const ns = measure(spread);
  console.log(
    `${name}: lookup ${ns.lookup.toFixed(0)} ns, head ${(ns.head - ns.lookup).toFixed(0)} ns, ` +
      `body ${(ns.body - ns.head).toFixed(0)} ns, together ${ns.body.toFixed(0)} ns`,
  );
}
const stats = cache.storages.stats('s0');
console.log(
  `${objects} objects: ${weight.toFixed(0)} bytes each all told, ${(stats.g_bytes / objects).toFixed(0)} of them in storage; ` +
    `filled at ${((fill * 1e3) / objects).toFixed(2)} µs each`,
);
/** Milliseconds the main thread has waited for a CPU so far. */
function waited() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

const expireStart = performance.now();
let longest = 0;
let longestWait = 0;
for (let gone = 0; gone < objects; ) {
  const waitedBefore = waited();
  const start = performance.now();
  gone += cache.maintenance.expiry.step(now + 10_000, 2);
  const took = performance.now() - start;
  if (took <= longest) continue;
  longest = took;
  longestWait = waited() - waitedBefore;
}
console.log(
  `expiring all: ${(((performance.now() - expireStart) * 1e3) / objects).toFixed(2)} µs each, ` +
    `longest step ${longest.toFixed(1)} ms, of which ${longestWait.toFixed(1)} ms waiting for a CPU`,
);
