// Prints what invalidation costs inside the cache: a purge of a tenth of all objects by surrogate key, the lurker
// with ten bans, a dry run, the expiry of all objects at one moment, and a hit under a list of 10,000 bans that the
// lurker has worked through.
// Runs the compiled code: `npm run build` first. Arguments: number of objects (1000000).
// Times of steps are by the clock, without the time in which the process waited for a CPU (Linux only), or of the CPU
// where that says less: it has the compiler's and the collector's threads in it.

import { closeSync, openSync, readSync } from 'node:fs';
import { Cache } from '../../../dist/modules/daemon/cache/cache.js';
import { newCacheCounters } from '../../../dist/modules/daemon/cache/cache-counters.js';
import { LookupQuery, LookupResult } from '../../../dist/modules/daemon/cache/lookup-query.js';
import { HttpMessage } from '../../../dist/modules/daemon/http1/message.js';
import { compileBanRegex } from '../../../dist/modules/daemon/worker/ban-regex.js';

const objects = Number(process.argv[2] ?? 1_000_000);
const now = 1_700_000_000;
const limits = {
  nukeLimit: 50,
  rushExponent: 3,
  lruInterval: 2,
  gzipSupport: true,
  normaliseVary: false,
  banDups: false,
  tagHeaders: ['xkey'],
  tagSpace: 0,
  lurker: { age: 0, batch: 1e9, sleep: 0.01, cutoff: 0, holdoff: 0 },
};
const makeCache = (counters = newCacheCounters()) =>
  new Cache({
    storages: [{ name: 's0', kind: 'malloc', size: 4 * 2 ** 30 }],
    counters,
    limits,
    compileRegex: compileBanRegex,
    now,
    seed: [123, 456],
  });
const counters = newCacheCounters();
const cache = makeCache(counters);
const request = new HttpMessage(0);
request.url = '/';
const query = new LookupQuery(request);
const out = new LookupResult();
const body = Buffer.alloc(256, 'b');
const keyOf = (i) => `/images/item-${i}.html\0www.example.com\0`;

function fill(from, to, into = cache) {
  for (let i = from; i < to; i++) {
    const response = new HttpMessage(0);
    response.proto = 'HTTP/1.1';
    response.status = 200;
    response.reason = 'OK';
    for (const line of [
      'Content-Type: text/html',
      'Content-Length: 256',
      'ETag: "655bf000-400"',
      `xkey: item-${i} tenth-${i % 10}`,
      `X-Url: /images/item-${i}.html`,
    ]) {
      response.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
    }
    query.key = keyOf(i);
    query.now = now;
    into.lookup.find(query, out);
    const oc = out.busy;
    if (out.oc !== 0) into.references.deref(out.oc);
    if (oc === 0) continue;
    into.filling.setAttributes(oc, { tOrigin: now, ttl: 3600, grace: 10, keep: 0, vxid: i, flags: 0 });
    into.filling.storeHead(oc, null, response, null);
    into.filling.unbusy(oc);
    into.filling.append(oc, body, 0, 256);
    into.filling.finish(oc);
    into.references.deref(oc);
  }
}

let longest = 0;
const text = Buffer.alloc(100);
/** Milliseconds that the main thread has waited for a CPU so far. */
function waited() {
  if (process.platform !== 'linux') return 0;
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`);
  const line = text.latin1Slice(0, readSync(file, text, 0, 100, 0));
  closeSync(file);
  return Number(line.split(' ')[1]) / 1e6;
}
/** The result, and the milliseconds it took. */
function timed(run) {
  const begun = performance.now();
  const before = waited();
  const start = process.cpuUsage();
  const result = run();
  const used = process.cpuUsage(start);
  const after = waited();
  const elapsed = performance.now() - begun - (after - before);
  const ms = Math.min(elapsed, (used.user + used.system) / 1000);
  longest = Math.max(longest, ms);
  return [result, ms];
}
function report(name, total, more) {
  console.log(`${name}: ${total.toFixed(1)} ms, longest step ${longest.toFixed(1)} ms${more}`);
  longest = 0;
}
/** Nanoseconds of CPU that a lookup takes. */
function hits(count, of = objects, from = cache) {
  const start = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    query.key = keyOf((i * 7919) % of);
    query.now = now;
    from.lookup.find(query, out);
    if (out.oc !== 0) from.references.deref(out.oc);
    if (out.busy !== 0) from.references.deref(out.busy);
  }
  return (process.cpuUsage(start).user / count) * 1000;
}

const filling = performance.now();
fill(0, objects);
cache.maintenance.sample();
console.log(
  `${objects} objects with two keys each in ${((performance.now() - filling) / 1000).toFixed(1)} s; the index takes ${(counters.xkey_bytes / objects).toFixed(0)} bytes an object`,
);

hits(100_000);
for (const key of ['tenth-3', 'tenth-4', 'tenth-5']) {
  const [count, first] = timed(() => cache.invalidation.purgeTags(key, key === 'tenth-5', now));
  let total = first;
  let steps = 1;
  for (let rests = false; !rests; ) {
    const [wait, ms] = timed(() => cache.maintenance.step(now));
    rests = wait > 0;
    total += ms;
    steps++;
  }
  report(
    `purge by key${key === 'tenth-5' ? ', soft' : ''}, ${count} objects`,
    total,
    `, ${steps} steps, the call itself ${first.toFixed(2)} ms`,
  );
}
fill(0, objects);

let total = 0;
const dry = cache.bans.count(['req.url', '~', '^/images/item-1.*7\\.html$'], now, true);
for (let done = false; !done; ) {
  const [ended, ms] = timed(() => dry.step());
  total += ms;
  done = ended;
}
report(`dry run, ${dry.matching} of ${dry.objects} match`, total, '');

/** Whether all bans on objects are done with. */
function areTested(of) {
  for (const ban of of.bans.list()) if (!ban.completed) return false;
  return true;
}
function lurk() {
  let spent = 0;
  while (!areTested(cache)) spent += timed(() => cache.maintenance.lurker.step(now + 1))[1];
  return spent;
}
for (let i = 0; i < 10; i++) cache.bans.add(['obj.http.x-url', '==', `/nothing/${i}`], now);
total = lurk();
report('lurker, ten bans', total, `, ${((objects * 10) / total / 1000).toFixed(2)} million tests a second`);

total = 0;
const { expiry } = cache.maintenance;
while (expiry.nextEnd() <= now + 10_000) total += timed(() => expiry.step(now + 10_000, 2))[1];
report(`expiry of ${objects} at one moment`, total, `, ${((total * 1000) / objects).toFixed(2)} µs each`);

// As many tests as there are bans times objects: the objects are few here.
const few = [makeCache(), makeCache()];
for (const each of few) fill(0, 2000, each);
const [free, banned] = few;
for (let i = 0; i < 10_000; i++) banned.bans.add(['obj.status', '==', String(1000 + i)], now);
// A hit under bans that the lurker has not come to yet would not be a fair comparison.
while (!areTested(banned)) banned.maintenance.lurker.step(now + 1);
// In turns, and the best of them: what else the machine does only adds.
for (const each of few) hits(200_000, 2000, each);
const times = { without: [], under: [] };
for (let turn = 0; turn < 8; turn++) {
  times.without.push(hits(200_000, 2000, free));
  times.under.push(hits(200_000, 2000, banned));
}
const without = Math.min(...times.without);
const under = Math.min(...times.under);
console.log(
  `lookup ${without.toFixed(0)} ns; after the lurker has worked through 10000 bans ${under.toFixed(0)} ns, ${(under / without).toFixed(2)} times`,
);
