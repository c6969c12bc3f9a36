// CPU per request of hits on disk beside nginx with its disk cache, in turns: objects of one size, asked for at random, of which memory
// holds a small part; the page cache is warm. Also the time from a start to the first answer from disk. Usage:
//   node test/bench/disk.js [--size 64k] [--objects 20000] [--seconds 5] [--rounds 5] [--memory 16m] [--threads 1] [--dir DIR]
// DIR is on the file system to measure. Needs taskset, wrk and nginx. `same` is proxyd with all objects in memory and no disk.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuSeconds } from './processes.js';
import {
  find,
  LOAD_CPU,
  PROXYD,
  SERVER_CPU,
  sleep,
  startNginx,
  startProxyd,
  startScript,
} from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: '64k' },
    objects: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    memory: { type: 'string', default: '16m' },
    threads: { type: 'string', default: '1' },
    dir: { type: 'string', default: tmpdir() },
  },
});
const objects = Number(options.objects);
/** The port, which is part of the usual one, changes with the start. */
const HOST = 'bench';
for (const program of ['wrk', 'taskset', 'nginx']) {
  if (find(program) !== null) continue;
  console.error(`needs ${program}`);
  process.exit(1);
}
if (!existsSync(PROXYD)) {
  console.error('run `npm run build` first');
  process.exit(1);
}

const dir = mkdtempSync(join(options.dir, 'proxyd-disk-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const script = join(dir, 'random.lua');
writeFileSync(
  script,
  `function init() math.randomseed(os.time()) end
function request() return wrk.format('GET', '/${options.size}?n=' .. math.random(${objects})) end
`,
);

/** Requests made, and their 99th percentile as wrk prints it. */
function wrk(port) {
  const words = [
    'wrk',
    '-t',
    '1',
    '-c',
    '32',
    '--latency',
    '-H',
    `Host: ${HOST}`,
    '-d',
    `${options.seconds}s`,
    '-s',
    script,
  ];
  const child = spawn('taskset', ['-c', String(LOAD_CPU), ...words, `http://127.0.0.1:${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (d) => {
    out += d;
  });
  return new Promise((done, reject) => {
    child.on('error', reject);
    child.on('exit', () => {
      const requests = Number(/(\d+) requests in/.exec(out)?.[1] ?? 0);
      const bad = /Socket errors.*|Non-2xx.*/.exec(out)?.[0];
      if (requests === 0 || bad !== undefined) reject(new Error(`wrk at port ${port}: ${bad ?? out}`));
      else done({ requests, p99: /99%\s+(\S+)/.exec(out)?.[1] ?? '' });
    });
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

function fetchOne(port, n) {
  return new Promise((done, reject) => {
    get(
      { port, host: '127.0.0.1', path: `/${options.size}?n=${n}`, agent, headers: { Host: HOST } },
      (response) => {
        response.resume();
        response.on('end', () => done(Number(response.headers.age ?? 0)));
      },
    ).on('error', reject);
  });
}

async function fill(port) {
  let next = 1;
  const one = async () => {
    while (next <= objects) await fetchOne(port, next++);
  };
  await Promise.all(Array.from({ length: 8 }, one));
}

async function measure({ port, pid }) {
  const before = cpuSeconds(pid);
  const { requests, p99 } = await wrk(port);
  await sleep(200); // its log and counters belong to these requests, too
  return {
    micros: ((cpuSeconds(pid) - before) * 1e6) / requests,
    rate: requests / Number(options.seconds),
    p99,
  };
}

const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) / 2)];

const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');
const bytes = { k: 1024, m: 1 << 20 }[options.size.at(-1)] * Number.parseInt(options.size, 10);
const enough = Math.ceil((objects * (bytes + 4096)) / (1 << 20)) + 256;
const args = ['-j', 'none', '-p', `worker_threads=${options.threads}`, '-p', 'default_ttl=86400'];
const disk = (storage) => ['-s', `cold=disk,${join(dir, storage)},${enough * 2}m`];
const startDisk = () =>
  startProxyd(SERVER_CPU, join(dir, 'a'), origin.port, false, `malloc,${options.memory}`, {}, [
    ...args,
    ...disk('cold'),
  ]);
for (const name of ['a', 'b']) mkdirSync(join(dir, name));

let proxyd = await startDisk();
await fill(proxyd.port);
await sleep(1000);
console.log(`proxyd: ${proxyd.adm('storage.check', 'cold').stdout.trim()}`);
await proxyd.stop();
const begun = performance.now();
proxyd = await startDisk();
await fetchOne(proxyd.port, 1);
console.log(`start to first answer: ${(performance.now() - begun).toFixed(0)} ms`);
const nginx = await startNginx(SERVER_CPU, dir, origin.port);
await fill(nginx.port);
const same = await startProxyd(
  SERVER_CPU,
  join(dir, 'b'),
  origin.port,
  false,
  `malloc,${enough * 2}m`,
  {},
  args,
);
await fill(same.port);
const servers = { proxyd, nginx, same };
const figures = Object.fromEntries(Object.keys(servers).map((name) => [name, []]));
for (let round = 0; round < Number(options.rounds); round++) {
  const names = Object.keys(servers);
  for (const name of round % 2 === 0 ? names : names.toReversed())
    figures[name].push(await measure(servers[name]));
}
const ofNginx = middle(figures.nginx.map(({ micros }) => micros));
for (const [name, list] of Object.entries(figures)) {
  const micros = middle(list.map((one) => one.micros));
  const rate = middle(list.map((one) => one.rate));
  console.log(
    `${name.padEnd(7)} ${micros.toFixed(1).padStart(7)} µs of CPU a request, ${rate.toFixed(0).padStart(6)}/s, 99 % below ${list.at(-1).p99}, ${(micros / ofNginx).toFixed(2)} of nginx`,
  );
}
const counted = proxyd.adm('storage.check', 'cold').stdout.trim();
console.log(`at the end: ${counted}`);
await Promise.all([proxyd.stop(), nginx.stop(), same.stop(), origin.stop()]);
process.exit(0);
