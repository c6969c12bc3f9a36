// A soak: a proxyd of its own between an origin that resets, cuts, stalls, packs and varies at random and clients
// that leave at random. Every body that arrives as whole is checked against what its URL means, every upload
// that arrives as whole at the origin likewise; afterwards nothing may be left: descriptors, objects, backend
// connections, memory. Usage: node test/harness/soak.js [--seconds 20] [--clients 64]; exit 1 on a wrong body, a
// hang or a leak. Needs dist/. Random on purpose: what it finds becomes a test with a fixed script.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const ROOT = new URL('../../', import.meta.url).pathname;
const argument = (name, fallback) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const SECONDS = argument('--seconds', 20);
const CLIENTS = argument('--clients', 64);
const URLS = 200;
/** A request that takes longer hangs: the origin's own pauses are far shorter. */
const PATIENCE = 10_000;
/** Growth of the worker's resident memory that caches and buffers explain: storage is 64 MB. */
const GROWTH = 160 * 1024 * 1024;

const chance = (p) => Math.random() < p;
const pick = (n) => Math.floor(Math.random() * n);
const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const sum = (bytes) => createHash('md5').update(bytes).digest('hex');

/** The contents of URL number n, in one of two variants if it varies. */
const bodies = new Map();
function bodyOf(n, variant) {
  const name = n % 7 === 0 ? `${n}-${variant}` : String(n);
  let found = bodies.get(name);
  if (found === undefined) {
    const seed = createHash('sha256').update(name).digest();
    const bytes = Buffer.alloc(seed.readUInt32LE(0) % (n % 10 === 0 ? 900_000 : 20_000));
    for (let i = 0; i < bytes.length; i++) bytes[i] = seed[i & 31] ^ (i >> 5);
    found = { bytes, packed: gzipSync(bytes), sum: sum(bytes) };
    bodies.set(name, found);
  }
  return found;
}

const count = { whole: 0, cut: 0, failed: 0, left: 0, uploads: 0, refused: 0 };
const wrong = [];
let hanging = 0;

function answer(req, res) {
  const [, kind, number] = req.url.split('/');
  const n = Number(number);
  if (kind === 'up') {
    takeUpload(req, res);
    return;
  }
  if (chance(0.03)) {
    req.socket.destroy();
    return;
  }
  const { bytes, packed } = bodyOf(n, req.headers['x-v']);
  res.setHeader('Cache-Control', n % 13 === 0 ? 'private' : `max-age=${n % 4}`);
  if (n % 7 === 0) res.setHeader('Vary', 'X-V');
  let out = bytes;
  if (n % 3 === 0 && (req.headers['accept-encoding'] ?? '').includes('gzip')) {
    out = packed;
    res.setHeader('Content-Encoding', 'gzip');
  }
  if (n % 2 === 1) res.setHeader('Content-Length', out.length);
  if (n % 11 === 0) res.setHeader('Connection', 'close');
  const half = out.length >> 1;
  if (chance(0.04) && out.length > 20) {
    res.write(out.subarray(0, half));
    setTimeout(() => (chance(0.5) ? req.socket.resetAndDestroy() : req.socket.destroy()), pick(20));
  } else if (chance(0.2)) {
    res.write(out.subarray(0, half));
    setTimeout(() => res.end(out.subarray(half)), pick(30));
  } else res.end(out);
}

function takeUpload(req, res) {
  if (chance(0.1)) {
    // An early response: the rest of the upload is discarded.
    res.writeHead(413, { Connection: 'close' });
    res.end('no');
    return;
  }
  const hash = createHash('md5');
  req.on('data', (bytes) => {
    hash.update(bytes);
    if (chance(0.02)) req.socket.destroy();
  });
  req.on('error', () => {});
  req.on('end', () => {
    if (!req.complete) return;
    if (hash.digest('hex') !== req.headers['x-sum']) wrong.push(`upload ${req.url}`);
    res.end('taken');
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

/** One request to its end, whatever that is. */
function once(port) {
  return new Promise((resolve) => {
    const upload = chance(0.1);
    const n = pick(URLS);
    const variant = String(pick(2));
    const headers = { 'X-V': variant, ...(chance(0.3) ? { 'Accept-Encoding': 'gzip' } : {}) };
    const body = upload ? bodyOf(pick(URLS), variant).bytes : null;
    if (body !== null) {
      headers['X-Sum'] = sum(body);
      if (chance(0.5)) headers['Content-Length'] = body.length;
    }
    const req = request({
      host: '127.0.0.1',
      port,
      path: upload ? `/up/${n}` : `/o/${n}`,
      method: upload ? 'POST' : 'GET',
      agent: chance(0.8) ? agent : false,
      headers,
    });
    let over = false;
    const end = (what) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      count[what]++;
      resolve();
    };
    const timer = setTimeout(() => {
      hanging++;
      console.log(`hangs: ${req.method} ${req.path}`);
      req.destroy();
      end('failed');
    }, PATIENCE);
    const leave = () => {
      req.destroy();
      end('left');
    };
    req.on('error', () => end('cut'));
    req.on('response', (res) => {
      const parts = [];
      res.on('data', (bytes) => {
        parts.push(bytes);
        const mood = Math.random();
        if (mood < 0.01) leave();
        else if (mood < 0.02) {
          res.pause();
          setTimeout(() => res.resume(), pick(50));
        }
      });
      res.on('error', () => end('cut'));
      res.on('aborted', () => end('cut'));
      res.on('end', () => {
        // The parser may reach the end of a request that this client has abandoned.
        if (over) return;
        if (!res.complete) end('cut');
        else if (res.statusCode === 503) end('failed');
        else if (upload) end(res.statusCode === 200 ? 'uploads' : 'refused');
        else end(check(res, Buffer.concat(parts), n, variant));
      });
    });
    if (chance(0.02)) setTimeout(leave, pick(20));
    if (body === null) req.end();
    else {
      req.write(body.subarray(0, body.length >> 1));
      if (chance(0.05)) setTimeout(leave, pick(10));
      else setTimeout(() => req.end(body.subarray(body.length >> 1)), pick(5));
    }
  });
}

function check(res, bytes, n, variant) {
  let plain = bytes;
  try {
    if (res.headers['content-encoding'] === 'gzip') plain = gunzipSync(bytes);
  } catch {
    plain = null;
  }
  if (res.statusCode === 200 && plain !== null && sum(plain) === bodyOf(n, variant).sum) return 'whole';
  wrong.push(
    `/o/${n} variant ${variant}: ${res.statusCode}, ${bytes.length} bytes ${JSON.stringify(res.headers)}`,
  );
  return 'failed';
}

const dir = mkdtempSync(join(readdirSync('/dev').includes('shm') ? '/dev/shm' : tmpdir(), 'proxyd-soak-'));
const oneShot = (name, ...args) =>
  spawnSync(process.execPath, [
    join(ROOT, `dist/console/bin/${name}.js`),
    '-n',
    dir,
    ...args,
  ]).stdout.toString();

function workerOf(manager) {
  const pids = readFileSync(`/proc/${manager}/task/${manager}/children`, 'latin1').trim().split(' ');
  return pids.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('worker'));
}

/** Transactions that run the program, as vcl.list has them. */
const running = () => Number(/\bwarm\s+(\d+)\s/.exec(oneShot('proxyadm', 'vcl.list'))?.[1]);

const sample = (pid) => ({
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  rss: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) * 1024,
});

function counters() {
  const all = JSON.parse(oneShot('proxystat', '-j')).counters;
  return Object.fromEntries(Object.entries(all).map(([name, row]) => [name, row.value]));
}

async function soak(port) {
  const end = Date.now() + SECONDS * 1000;
  const client = async () => {
    while (Date.now() < end && hanging === 0) await once(port);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
}

/** Leftovers of the traffic after it ended and expired; retries for a while. */
async function leftovers(pid, before) {
  let left = [];
  for (let i = 0; i < 40; i++) {
    await delay(500);
    const c = counters();
    const after = sample(pid);
    left = [];
    if (after.descriptors > before.descriptors)
      left.push(`${after.descriptors} descriptors, ${before.descriptors} before`);
    if (c['MAIN.n_object'] !== 0) left.push(`${c['MAIN.n_object']} objects`);
    if (c['MAIN.n_objectcore'] !== 0) left.push(`${c['MAIN.n_objectcore']} objcores`);
    for (const [name, value] of Object.entries(c)) {
      if (/^VBE\..*\.conn$/.test(name) && value !== 0) left.push(`${name} ${value}`);
    }
    if (after.rss - before.rss > GROWTH) left.push(`${(after.rss - before.rss) >> 20} MB more than before`);
    if (running() !== 0) left.push(`${running()} references to the program`);
    if (left.length === 0) break;
  }
  return left;
}

/** The other threads start after the first one serves. */
async function allThreads(pid) {
  for (let last = 0, now = -1; last !== now; last = now, now = sample(pid).descriptors) await delay(2000);
}

async function main() {
  const origin = createServer(answer);
  origin.on('clientError', (_error, socket) => socket.destroy());
  await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const program = join(dir, 'soak.vcl');
  writeFileSync(
    program,
    `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.address().port}"; }
# The builtin program remembers for two minutes what cannot be shared: too long to wait for.
sub vcl_backend_response {
  if (beresp.ttl <= 0s || beresp.http.Cache-Control ~ "private") {
    set beresp.ttl = 1s;
    set beresp.uncacheable = true;
    return (deliver);
  }
}
`,
  );
  const daemon = spawn(
    process.execPath,
    [
      join(ROOT, 'dist/daemon/proxyd.js'),
      '-F',
      '-n',
      dir,
      '-a',
      '127.0.0.1:0',
      '-f',
      program,
      '-s',
      'malloc,64m',
    ].concat(['-p', 'default_grace=0', '-p', 'backend_idle_timeout=1', '-p', 'timeout_idle=2']),
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  let bad = [];
  try {
    let port = 0;
    for (let i = 0; i < 100 && port === 0; i++) {
      await delay(100);
      port = Number(
        /:(\d+)\s*$|\s(\d+)\s*$/m.exec(oneShot('proxyadm', 'listen.list'))?.slice(1).find(Boolean) ?? 0,
      );
    }
    if (port === 0) throw new Error('the daemon does not serve');
    const pid = workerOf(daemon.pid);
    await allThreads(pid);
    const before = sample(pid);
    await soak(port);
    bad = await leftovers(pid, before);
    if (workerOf(daemon.pid) !== pid) bad.push('the worker is another one');
    console.log(JSON.stringify({ ...count, before, after: sample(pid) }));
  } finally {
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.once('exit', resolve));
    origin.closeAllConnections();
    origin.close();
    rmSync(dir, { recursive: true, force: true });
  }
  for (const each of wrong.slice(0, 10)) console.log(`wrong: ${each}`);
  for (const each of bad) console.log(`left: ${each}`);
  const ok = wrong.length === 0 && hanging === 0 && bad.length === 0 && count.whole > 0;
  console.log(ok ? 'soak: fine' : `soak: ${wrong.length} wrong, ${hanging} hanging, ${bad.length} left over`);
  process.exit(ok ? 0 : 1);
}

await main();
