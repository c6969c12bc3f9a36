// Cost of the console following a busy log: the real program on a terminal of its own (script(1)), connected to an
// instance that sends it this many request groups per second (servers/log-instance.js). Keys are pressed all the
// while. Prints the time of a cold start, CPU share, frames per second, turns, how long keys take until the screen shows
// their effect, and memory once the log is full and at the end. Usage: node test/bench/console-load.js [--seconds 60]
// [--rate 20000] [--warm 8] [--columns 120] [--rows 40] [--cpu-prof FOLDER] [--json] Needs dist/ and script (Debian:
// bsdutils). Exits 1 if a bound is exceeded.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { WORKDIR_FILES } from '../../dist/modules/protocol/workdir.js';
import { startInstance } from './servers/log-instance.js';
import { makeGroups } from './servers/log-pool.js';
import { find, sleep } from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '20000' },
    warm: { type: 'string', default: '8' },
    columns: { type: 'string', default: '120' },
    rows: { type: 'string', default: '40' },
    pool: { type: 'string', default: '20000' },
    proxyadm: {
      type: 'string',
      default: new URL('../../dist/console/bin/proxyadm.js', import.meta.url).pathname,
    },
    'cpu-prof': { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
/** Bounds (chosen). */
const MOST = { startMs: 1000, cpu: 0.6, frames: 15, keyMs: 50, turnMs: 20, megabytes: 300, heapGrowth: 8 };
const TICKS = 100;
const FRAME = '\x1b[?2026h';
/** Keys that leave the log followed, with what the screen shows of each. */
const KEYS = [
  [' ', 'paused'],
  ['F', 'following'],
  ['3', 'CURRENT'],
  ['2', 'following'],
];

if (find('script') === null) {
  console.log('bench skipped: it needs script (Debian: apt-get install bsdutils)');
  process.exit(0);
}

const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-console-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
const files = { pid: join(dir, 'pid'), probe: join(dir, 'memory.json') };
const instance = startInstance(
  join(dir, WORKDIR_FILES.socket),
  makeGroups(Number(options.pool)),
  Number(options.rate),
);

const probe = new URL('servers/memory-probe.js', import.meta.url).pathname;
const prof =
  options['cpu-prof'] === ''
    ? ''
    : `--cpu-prof --cpu-prof-interval 200 --cpu-prof-dir=${options['cpu-prof']} `;
const node = `${process.execPath} ${prof}--expose-gc --import ${probe} ${options.proxyadm} -n ${dir}`;
const command = `stty cols ${options.columns} rows ${options.rows}; echo $$ > ${files.pid}; exec ${node}`;
const born = performance.now();
const terminal = spawn('script', ['-qfc', command, '/dev/null'], {
  stdio: ['pipe', 'pipe', 'inherit'],
  env: {
    ...process.env,
    PROBE_FILE: files.probe,
    TERM: 'xterm-256color',
    XDG_CONFIG_HOME: dir,
    SHELL: '/bin/sh',
  },
});
process.once('exit', () => terminal.kill('SIGKILL'));

let frames = 0;
let tail = '';
let wanted = null;
terminal.stdout.setEncoding('utf8');
terminal.stdout.on('data', (text) => {
  const all = tail + text;
  for (let at = all.indexOf(FRAME); at >= 0; at = all.indexOf(FRAME, at + 1))
    if (at + FRAME.length > tail.length) frames++;
  tail = all.slice(-FRAME.length - 100);
  if (wanted === null) return;
  wanted.seen += text;
  if (!wanted.seen.includes(wanted.text)) return;
  const { resolve } = wanted;
  wanted = null;
  resolve();
});

function shown(text) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the screen never showed "${text}"`)), 30_000);
    wanted = {
      text,
      seen: '',
      resolve: () => {
        clearTimeout(timer);
        resolve();
      },
    };
  });
}

async function press(key, effect) {
  const began = performance.now();
  const queued = queuedMs();
  const done = shown(effect);
  terminal.stdin.write(key);
  await done;
  const ms = performance.now() - began;
  return { ms, own: Math.max(0, ms - (queuedMs() - queued)) };
}

/** Time that the console was ready and had no core: what others took on this machine. */
function queuedMs() {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
}

function cpuSeconds(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(rest[11]) + Number(rest[12])) / TICKS;
}

const status = (pid, name) =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;

async function memory(pid) {
  rmSync(files.probe, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(files.probe)) await sleep(50);
  await sleep(50);
  const { heapUsed, arrayBuffers, turns } = JSON.parse(readFileSync(files.probe, 'utf8'));
  return { rss: status(pid, 'VmRSS'), heap: heapUsed / 2 ** 20, buffers: arrayBuffers / 2 ** 20, turns };
}

await shown('From cache');
const start = performance.now() - born;
const pid = Number(readFileSync(files.pid, 'utf8'));
const startCpu = cpuSeconds(pid);
await press('2', 'following');
await sleep(Number(options.warm) * 1000);
const { turns: _warming, ...first } = await memory(pid);
const before = { frames, cpu: cpuSeconds(pid), ...instance.reported, at: performance.now() };
const waits = [];
let mostRss = 0;
while (performance.now() - before.at < Number(options.seconds) * 1000) {
  for (const [key, effect] of KEYS) {
    waits.push(await press(key, effect));
    await sleep(20);
  }
  mostRss = Math.max(mostRss, status(pid, 'VmRSS'));
  await sleep(1500);
}
const seconds = (performance.now() - before.at) / 1000;
const cpu = (cpuSeconds(pid) - before.cpu) / seconds;
const framesPerSecond = (frames - before.frames) / seconds;
const { turns, ...last } = await memory(pid);
const quantiles = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (q) => Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))].toFixed(1));
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
};
const keyMs = quantiles(waits.map((w) => w.ms));
const ownMs = quantiles(waits.map((w) => w.own));
const result = {
  startMs: Math.round(start),
  startCpuMs: Math.round(startCpu * 1000),
  seconds: Math.round(seconds),
  groupsPerSecond: Math.round((instance.reported.groups - before.groups) / seconds),
  lostPerSecond: Math.round((instance.reported.lost - before.lost) / seconds),
  cpu: Number(cpu.toFixed(3)),
  framesPerSecond: Number(framesPerSecond.toFixed(1)),
  keys: waits.length,
  keyMs,
  ownMs,
  turnMs: quantiles(turns),
  first,
  last,
  mostRss,
  peakRss: status(pid, 'VmHWM'),
};
process.kill(pid, 'SIGTERM');
await new Promise((resolve) => terminal.once('exit', resolve));
instance.close();

const mb = (n) => `${n.toFixed(1)} MB`;
if (options.json) console.log(JSON.stringify(result));
else {
  const memoryLine = (name, m) =>
    `${name} RSS ${mb(m.rss)}, heap ${mb(m.heap)} and buffers ${mb(m.buffers)} after a collection`;
  console.log(
    [
      `start    first frame after ${result.startMs} ms, ${result.startCpuMs} ms of them CPU (at most ${MOST.startMs})`,
      `${result.seconds} s at ${result.groupsPerSecond} groups/s, ${result.lostPerSecond}/s lost on the way`,
      `CPU      ${(result.cpu * 100).toFixed(1)} % of a core (at most ${MOST.cpu * 100} %)`,
      `frames   ${result.framesPerSecond} a second (at most ${MOST.frames})`,
      `keys     p50 ${keyMs.p50}, p99 ${keyMs.p99}, max ${keyMs.max} ms of ${waits.length} (p99 at most ${MOST.keyMs})`,
      `         p50 ${ownMs.p50}, p99 ${ownMs.p99}, max ${ownMs.max} ms without the time that others had the cores`,
      `turns    p50 ${result.turnMs.p50}, p99 ${result.turnMs.p99}, longest ${result.turnMs.max} ms of CPU, of ${turns.length} (p99 at most ${MOST.turnMs})`,
      memoryLine('at first', first),
      memoryLine('at last ', last),
      `RSS      ${mb(mostRss)} at the most while measured, ${mb(result.peakRss)} ever (at most ${MOST.megabytes})`,
    ].join('\n'),
  );
}
const bad =
  cpu > MOST.cpu ||
  framesPerSecond > MOST.frames ||
  ownMs.p99 > MOST.keyMs ||
  result.turnMs.p99 > MOST.turnMs ||
  Math.max(mostRss, last.rss) > MOST.megabytes ||
  last.heap - first.heap > MOST.heapGrowth;
process.exit(bad ? 1 : 0);
