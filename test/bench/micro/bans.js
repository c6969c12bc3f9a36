// Prints how long one turn of the event loop is when objects are tested against thousands of new bans: 10,000 bans on
// the URL and an object asked for once, the same under eight requests at once for each of 16 objects, the lurker with
// as many bans on a header, and what a ban weighs.
// Runs the compiled code: `npm run build` first. Arguments: number of bans (10000).

import { closeSync, openSync, readSync } from 'node:fs';
import { Cache } from '../../../dist/modules/daemon/cache/cache.js';
import { newCacheCounters } from '../../../dist/modules/daemon/cache/cache-counters.js';
import { LookupAnswer, LookupQuery, LookupResult } from '../../../dist/modules/daemon/cache/lookup-query.js';
import { HttpMessage } from '../../../dist/modules/daemon/http1/message.js';
import { compileBanRegex } from '../../../dist/modules/daemon/worker/ban-regex.js';

const bans = Number(process.argv[2] ?? 10_000);
const OBJECTS = 64;
const now = 1_700_000_000;
const text = Buffer.alloc(100);
let times = [];

/** Milliseconds that the main thread has waited for a CPU so far. */
function waited() {
  if (process.platform !== 'linux') return 0;
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`);
  const line = text.latin1Slice(0, readSync(file, text, 0, 100, 0));
  closeSync(file);
  return Number(line.split(' ')[1]) / 1e6;
}

/** Runs what belongs to one turn, and takes its time but for that in which the process waited for a CPU. */
function timed(run) {
  const before = waited();
  const start = performance.now();
  run();
  const took = performance.now() - start;
  times.push(Math.max(0, took - (waited() - before)));
}

const limits = {
  nukeLimit: 50,
  rushExponent: 3,
  lruInterval: 2,
  gzipSupport: true,
  normaliseVary: false,
  banDups: false,
  tagHeaders: [],
  tagSpace: 0,
  lurker: { age: 0, batch: 1e9, sleep: 0.01, cutoff: 0, holdoff: 0 },
};
const counters = newCacheCounters();
const cache = new Cache({
  storages: [{ name: 's0', kind: 'malloc', size: 2 ** 28 }],
  counters,
  limits,
  compileRegex: compileBanRegex,
  now,
  seed: [123, 456],
  defer: (run) => void setImmediate(timed, run),
});

const urlOf = (i) => `/images/item-${i}.html`;
const queryFor = (i) => {
  const request = new HttpMessage(0);
  request.url = urlOf(i);
  request.push('host', 'Host: www.example.com');
  const query = new LookupQuery(request);
  query.key = urlOf(i);
  query.now = now + 1;
  return query;
};

for (let i = 0; i < OBJECTS; i++) {
  const out = new LookupResult();
  cache.lookup.find(queryFor(i), out);
  const head = new HttpMessage(0);
  Object.assign(head, { proto: 'HTTP/1.1', status: 200, reason: 'OK' });
  for (const line of ['Content-Type: text/html', 'ETag: "655bf000-400"', `X-Url: ${urlOf(i)}`]) {
    head.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
  }
  const life = { tOrigin: now, ttl: 3600, grace: 10, keep: 0, vxid: i + 1, flags: 0 };
  cache.filling.setAttributes(out.busy, life);
  cache.filling.storeHead(out.busy, null, head, null);
  cache.filling.unbusy(out.busy);
  cache.filling.finish(out.busy);
  cache.references.deref(out.busy);
}

/** Looks up as a request does, and waits its turns. */
function ask(i, done) {
  const out = new LookupResult();
  const query = queryFor(i);
  const look = () => {
    const answer = cache.lookup.find(query, out);
    if (answer === LookupAnswer.UNTESTED) cache.lookup.waitTurn({ wake: look });
    else if (answer !== LookupAnswer.HIT) throw new Error(`lookup answered ${answer}`);
    else {
      cache.references.deref(out.oc);
      done();
    }
  };
  look();
}

let tested = 0;
const report = (what) => {
  times.sort((a, b) => a - b);
  const sum = times.reduce((all, time) => all + time, 0);
  const [longest, most] = [1, 0.99].map((part) => times[Math.ceil(times.length * part) - 1].toFixed(2));
  const tests = counters.bans_tests_tested + counters.bans_lurker_tests_tested - tested;
  tested += tests;
  console.log(
    `${what}: ${tests} tests in ${sum.toFixed(1)} ms, ${times.length} turns, longest ${longest} ms, 99 % below ${most}`,
  );
  times = [];
};

function add(field, from) {
  for (let i = 0; i < bans; i++) {
    timed(() => {
      const error = cache.bans.add([field, '~', `^/imag.s/(a|b)${from + i}\\d+[a-f]\\.jpg$`], now);
      if (error !== null) throw new Error(error);
    });
  }
}

const memory = () => {
  globalThis.gc?.();
  return process.memoryUsage().rss;
};

const before = memory();
add('req.url', 0);
const weight = (memory() - before) / bans;
report(`${bans} bans added`);
console.log(`a ban weighs ${weight.toFixed(0)} bytes`);
// One object after another, each alone.
for (let i = 0; i < 8; i++) {
  await new Promise((done) => timed(() => ask(i, done)));
  if (i === 0) report('the first object');
}
report('seven more, one after another');
await Promise.all(
  Array.from({ length: 48 * 8 }, (_, i) => new Promise((done) => timed(() => ask(8 + (i % 48), done)))),
);
report('48 more, eight requests for each at once');
const ready = 200_000;
const out = new LookupResult();
const query = queryFor(0);
for (let round = 0; round < 3; round++) {
  const start = performance.now();
  for (let i = 0; i < ready; i++) {
    cache.lookup.find(query, out);
    cache.references.deref(out.oc);
  }
  if (round === 2)
    console.log(`a hit without bans to test: ${(((performance.now() - start) / ready) * 1e6).toFixed(0)} ns`);
}
add('obj.http.X-Url', bans);
times = [];
while (counters.bans_lurker_tests_tested < bans * OBJECTS) {
  timed(() => cache.maintenance.lurker.step(now + 1));
  if (times.length > 1e6) break;
}
report(`the lurker on ${OBJECTS} objects`);
