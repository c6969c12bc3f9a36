// Memory hits beside a disk that is healthy, takes a second for each read, fails each read, or is full: the 99th percentile in turns, while
// other clients ask at a fixed rate for objects that only the disk has. Usage:
//   node test/bench/slow-disk.js [--seconds 5] [--rounds 5] [--rate 100] [--dir DIR]
// Needs taskset and wrk.
import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LOAD_CPU, SERVER_CPU, sleep, startProxyd, startScript } from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '100' },
    dir: { type: 'string', default: tmpdir() },
  },
});
const OBJECTS = 2000;
/** Reads that a slow disk lets through each second. */
const SLOW_READS = 32;
const FAULTS = fileURLToPath(new URL('../harness/disk-faults.js', import.meta.url));

const dir = mkdtempSync(join(options.dir, 'proxyd-slow-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const fault = join(dir, 'fault');
const pipe = join(dir, 'pipe');
writeFileSync(fault, '');
execFileSync('mkfifo', ['-m', '666', pipe]);
const letThrough = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
function fetchOne(port, path) {
  return new Promise((done, reject) => {
    get({ port, host: '127.0.0.1', path, agent, headers: { Host: 'bench' } }, (response) => {
      response.resume();
      response.on('end', done);
    }).on('error', reject);
  });
}

/** Milliseconds below which 99 % of the requests lie. */
function wrk(port) {
  const words = ['wrk', '-t', '1', '-c', '16', '--latency', '-H', 'Host: bench', '-d', `${options.seconds}s`];
  const child = spawn('taskset', ['-c', String(LOAD_CPU), ...words, `http://127.0.0.1:${port}/page`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (bytes) => {
    out += bytes;
  });
  return new Promise((done, reject) => {
    child.on('exit', () => {
      const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(out) ?? [];
      if (value === undefined || /Socket errors|Non-2xx/.test(out)) reject(new Error(`wrk: ${out}`));
      else done(Number(value) * { us: 1e-3, ms: 1, s: 1e3 }[unit]);
    });
  });
}

const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');
mkdirSync(join(dir, 'work'));
const proxyd = await startProxyd(
  SERVER_CPU,
  join(dir, 'work'),
  origin.port,
  false,
  'malloc,16m',
  { DISK_FAULT: fault, DISK_PIPE: pipe, NODE_OPTIONS: `--import ${FAULTS}` },
  [
    '-j',
    'none',
    '-p',
    'worker_threads=1',
    '-p',
    'default_ttl=86400',
    '-s',
    `cold=disk,${join(dir, 'cold')},1g`,
  ],
);
for (let n = 0; n < OBJECTS; n++) await fetchOne(proxyd.port, `/64k?n=${n}`);
await fetchOne(proxyd.port, '/page');
let next = 0;
const others = setInterval(
  () => fetchOne(proxyd.port, `/64k?n=${next++ % OBJECTS}`).catch(() => undefined),
  1000 / Number(options.rate),
);
const through = setInterval(() => writeSync(letThrough, 'x'.repeat(SLOW_READS)), 1000);
const modes = ['', 'slow', 'broken', 'full'];
const figures = new Map(modes.map((mode) => [mode, []]));
await wrk(proxyd.port);
for (let round = 0; round < Number(options.rounds); round++) {
  for (const mode of round % 2 === 0 ? modes : modes.toReversed()) {
    writeFileSync(fault, mode);
    await sleep(1500);
    figures.get(mode).push(await wrk(proxyd.port));
    writeFileSync(fault, '');
    // The reads of a slow disk end.
    await sleep(1500);
  }
}
clearInterval(others);
clearInterval(through);
const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) / 2)];
for (const [mode, list] of figures) {
  const ratios = list.map((p99, i) => p99 / figures.get('')[i]);
  console.log(
    `${(mode || 'healthy').padEnd(8)} 99 % below ${middle(list).toFixed(2)} ms, ${middle(ratios).toFixed(2)} of healthy`,
  );
}
closeSync(letThrough);
await Promise.all([proxyd.stop(), origin.stop()]);
process.exit(0);
