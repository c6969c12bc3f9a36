// Slices of a very large file behind a slow origin, beside nginx with its slice module: clients at random places, all at
// once. Printed of each: bytes from the origin over the bytes of the slices that were asked for, the time to the first byte over
// what the origin itself takes when the same clients ask it directly, and memory before and after.
// Usage: node test/bench/slices.js [--size GiB] [--clients N] [--span SLICES] [--slice MiB] [--store SIZE] [--pace KiB]
//   [--only proxyd,nginx] [--cold]: the object is not known when the clients come. The code is warm in either case.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { cpuSeconds } from './processes.js';
import { find, freePort, LOAD_CPU, SERVER_CPU, sleep, startProxyd } from './servers/start.js';

/** Milliseconds before the origin's first byte, and between the pieces that it sends of a response. */
const LATENCY = 200;
const PAUSE = 80;

/** Every four bytes are the number of their place. */
function bytesAt(from, length) {
  const words = new Uint32Array(length / 4);
  for (let i = 0; i < words.length; i++) words[i] = from / 4 + i;
  return Buffer.from(words.buffer);
}

function origin({ size, pace }) {
  let sent = 0;
  const server = createServer((request, response) => {
    const match = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '');
    const from = Number(match?.[1] ?? 0);
    const to = match === null || match[2] === '' ? size : Math.min(size, Number(match[2]) + 1);
    setTimeout(() => {
      response.writeHead(match === null ? 200 : 206, {
        ETag: '"v1"',
        'Cache-Control': 'max-age=3600',
        'Content-Length': to - from,
        ...(match !== null && { 'Content-Range': `bytes ${from}-${to - 1}/${size}` }),
      });
      let at = from;
      const go = () => {
        if (response.destroyed) return;
        const next = Math.min(to, at + pace);
        sent += next - at;
        const more = response.write(bytesAt(at, next - at));
        at = next;
        if (at === to) response.end();
        else if (more) setTimeout(go, PAUSE);
        else response.once('drain', () => setTimeout(go, PAUSE));
      };
      go();
    }, LATENCY);
  });
  parentPort.on('message', () => {
    parentPort.postMessage({ sent });
    sent = 0;
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));
}

function reply(worker) {
  return new Promise((resolve) => worker.once('message', resolve));
}

/** MiB that a process and its descendants have in memory. */
function memory(pid) {
  const kib = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean),
  );
  return kib / 1024 + children.reduce((sum, child) => sum + memory(Number(child)), 0);
}

/** Milliseconds to the first byte of a range; throws when a byte is wrong or missing. */
function ask(port, from, length, { path = '/film', onFirst = () => undefined } = {}) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { Range: `bytes=${from}-${from + length - 1}` };
    get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      if (response.statusCode !== 206) reject(new Error(`status ${response.statusCode}`));
      let first = 0;
      let at = from;
      let rest = Buffer.alloc(0);
      response.on('data', (bytes) => {
        if (first === 0) {
          first = performance.now() - began;
          onFirst();
        }
        const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
        const whole = all.length & ~3;
        for (const place of [0, whole - 4])
          if (whole > 0 && all.readUInt32LE(place) !== (at + place) / 4)
            reject(new Error(`wrong byte at ${at}`));
        at += whole;
        rest = all.subarray(whole);
      });
      response.on('error', reject);
      response.on('end', () =>
        at === from + length ? resolve(first) : reject(new Error(`${at - from} bytes`)),
      );
    }).on('error', reject);
  });
}

/** Code that has run a few times only is interpreted, and a burst of 200 requests takes three times the processor time. */
async function warm(port) {
  for (let i = 0; i < 10; i++)
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => ask(port, (i * 100 + n) << 16, 4096, { path: '/warm' })),
    );
}

const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function startNginx(dir, originPort, slice) {
  const nginx = find('nginx');
  if (nginx === null) return null;
  const work = join(dir, 'nginx');
  mkdirSync(join(work, 'cache'), { recursive: true });
  const port = await freePort();
  const conf = join(work, 'nginx.conf');
  writeFileSync(
    conf,
    `daemon off; ${process.getuid() === 0 ? 'user root; ' : ''}worker_processes 1; pid ${work}/pid; error_log ${work}/error.log;
events { worker_connections 2048; }
http {
  access_log off; client_body_temp_path ${work}/body; proxy_temp_path ${work}/tmp; fastcgi_temp_path ${work}/f;
  uwsgi_temp_path ${work}/u; scgi_temp_path ${work}/s;
  proxy_cache_path ${work}/cache keys_zone=c:16m max_size=8g;
  server {
    listen 127.0.0.1:${port};
    location / {
      slice ${slice}m; proxy_cache c; proxy_cache_key $uri$slice_range; proxy_set_header Range $slice_range;
      proxy_http_version 1.1; proxy_cache_valid 200 206 1h; proxy_cache_lock on; proxy_pass http://127.0.0.1:${originPort};
    }
  }
}
`,
  );
  const child = spawn('taskset', ['-c', String(SERVER_CPU), nginx, '-c', conf, '-p', work], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await sleep(500);
  return { name: 'nginx', port, pid: child.pid, stop: () => child.kill('SIGTERM') };
}

async function main() {
  const { values } = parseArgs({
    options: {
      size: { type: 'string', default: '4' },
      clients: { type: 'string', default: '200' },
      span: { type: 'string', default: '2' },
      slice: { type: 'string', default: '4' },
      store: { type: 'string', default: '2g' },
      pace: { type: 'string', default: '16' },
      only: { type: 'string', default: 'proxyd,nginx' },
      cold: { type: 'boolean', default: false },
    },
  });
  const size = Number(values.size) * 2 ** 30;
  const slice = Number(values.slice) * 2 ** 20;
  const dir = mkdtempSync(join(tmpdir(), 'bench-slices-'));
  const source = new Worker(new URL(import.meta.url), {
    workerData: { size, pace: Number(values.pace) * 1024 },
  });
  const { port } = await reply(source);
  const program = `sub vcl_recv { set req.slice = ${values.slice}MB; if (req.url == "/warm") { set req.slice = 64KB; } }`;
  const starts = {
    proxyd: () =>
      startProxyd(SERVER_CPU, dir, port, program, `malloc,${values.store}`, {}, ['-p', 'worker_threads=1']),
    nginx: () => startNginx(dir, port, values.slice),
  };
  spawn('taskset', ['-apc', String(LOAD_CPU), String(process.pid)], { stdio: 'ignore' });
  const wanted = new Set();
  /** Sorted times of all clients at their places, the same for each server. */
  const askAll = async (of, onFirsts = () => undefined) => {
    let missing = Number(values.clients);
    const onFirst = () => {
      if (--missing === 0) onFirsts();
    };
    const span = Number(values.span);
    const firsts = await Promise.all(
      Array.from({ length: Number(values.clients) }, (_, i) => {
        const index = (i * 7919 + 13) % (size / slice - span);
        for (let n = 0; n < span; n++) wanted.add(index + n);
        return ask(of, index * slice, slice * span, { onFirst });
      }),
    );
    return firsts.sort((a, b) => a - b);
  };
  const own = await askAll(port);
  const show = (share) => percentile(own, share).toFixed(0);
  console.log(`origin: first byte after ${show(0.5)} ms (median), ${show(0.95)} ms (95 %)`);
  try {
    for (const name of values.only.split(',')) {
      const server = await starts[name]();
      if (server === null) {
        console.log(`${name}: not installed`);
        continue;
      }
      if (name === 'proxyd') await warm(server.port);
      // The object is known then.
      if (!values.cold) await ask(server.port, 0, 4096);
      const before = memory(server.pid);
      const answer = reply(source);
      source.postMessage('count');
      await answer;
      let most = before;
      const watch = setInterval(() => {
        most = Math.max(most, memory(server.pid));
      }, 250);
      const spent = cpuSeconds(server.pid);
      const began = performance.now();
      let spentFirst = 0;
      const firsts = await askAll(server.port, () => {
        spentFirst = cpuSeconds(server.pid) - spent;
      });
      const seconds = (performance.now() - began) / 1000;
      clearInterval(watch);
      const counted = reply(source);
      source.postMessage('count');
      const { sent } = await counted;
      const ratio = (share) => (percentile(firsts, share) / percentile(own, share)).toFixed(2);
      console.log(
        `${name}: origin sent ${(sent / (wanted.size * slice)).toFixed(3)} of what was asked for, ${seconds.toFixed(1)} s, ` +
          `first byte ${ratio(0.5)} (median) ${ratio(0.95)} (95 %) of the origin's, ` +
          `${spentFirst.toFixed(2)} s of processor time until all had it, ` +
          `${(cpuSeconds(server.pid) - spent).toFixed(1)} s in all, memory ${before.toFixed(0)} to ${most.toFixed(0)} MiB`,
      );
      await server.stop();
    }
  } finally {
    await source.terminate();
    rmSync(dir, { recursive: true, force: true });
  }
}

if (isMainThread) await main();
else origin(workerData);
