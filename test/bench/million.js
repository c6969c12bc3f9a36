// A million resident objects of 1 KiB, in this daemon and in Varnish's one beside it: bytes of memory an object,
// CPU a hit on one object and on random ones, and how long this daemon's event loop was held up meanwhile. Usage:
//   node test/bench/million.js [--objects 1000000] [--seconds 4] [--rounds 3] [--only proxyd,varnish]
// Needs Linux, taskset and wrk; varnishd is left out when it is missing. Figures are medians of rounds in which the
// candidates take turns. The event loop's delay is also given without the time in which the process waited for a CPU.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fill, startOrigin } from './fill.js';
import { cpuSeconds, largest, residentBytes, tree } from './processes.js';
import { find, PROXYD, sleep, startProxyd, startVarnish } from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    objects: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'proxyd,varnish' },
  },
});
const SIZE = 1024;
const SERVER_CPU = 0;
const LOAD_CPU = 1;
const objects = Number(options.objects);
if (find('wrk') === null || find('taskset') === null) {
  console.log('bench skipped: it needs wrk and taskset (Debian: apt-get install wrk util-linux)');
  process.exit(0);
}
const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-bench-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const script = join(dir, 'random.lua');
writeFileSync(
  script,
  `init = function(args) spread = tonumber(args[1]); math.randomseed(os.time()) wrk.headers["Host"] = "bench" end
request = function() return wrk.format("GET", "/o/" .. math.random(0, spread - 1)) end\n`,
);

/** Asks for random objects of the first `spread`; returns the number of answers. */
function hits(port, spread) {
  const out = execFileSync(
    'taskset',
    ['-c', String(LOAD_CPU), 'wrk', '-t', '1', '-c', '64', '-d', `${options.seconds}s`, '-s', script].concat(
      `http://127.0.0.1:${port}`,
      '--',
      String(spread),
    ),
    { encoding: 'utf8' },
  );
  if (/Non-2xx|Socket errors/.test(out)) console.log(out);
  return Number(/(\d+) requests in/.exec(out)?.[1] ?? 0);
}

/** Milliseconds the main thread has waited for a CPU. */
function waited(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
}

/** Worst event loop delay of the last second, in milliseconds. */
function loopDelay(server) {
  const out = spawnSync(
    process.execPath,
    [PROXYD.replace('daemon/proxyd.js', 'console/bin/proxystat.js')].concat(
      '-n',
      server.dir,
      '-1',
      '-f',
      'WRK.loop_lag_us',
    ),
    { encoding: 'utf8' },
  ).stdout;
  return Number(/loop_lag_us\s+(\d+)/.exec(out)?.[1] ?? Number.NaN) / 1000;
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const origin = await startOrigin(SIZE);
const servers = [];
try {
  for (const [name, start] of [
    ['proxyd', startProxyd],
    ['varnish', startVarnish],
  ]) {
    if (!options.only.split(',').includes(name)) continue;
    const server = await start(
      SERVER_CPU,
      dir,
      origin.port,
      false,
      `malloc,${Math.ceil((objects * 2048) / 2 ** 20)}m`,
    );
    if (server === null) {
      console.log(`${name}: not installed, left out`);
      continue;
    }
    await sleep(500);
    // The first objects bring in what a daemon needs anyway.
    await fill(server.port, 0, 2000, SIZE);
    const before = new Map(tree(server.pid).map((pid) => [pid, residentBytes(pid)]));
    await fill(server.port, 2000, objects, SIZE);
    await sleep(2000);
    const pid = largest(server.pid);
    const weight = (residentBytes(pid) - before.get(pid)) / (objects - 2000);
    console.log(
      `${name}: ${objects} objects of ${SIZE} bytes resident, ${weight.toFixed(0)} bytes each all told`,
    );
    servers.push({
      ...server,
      name,
      dir: join(dir, name),
      worker: pid,
      weight,
      one: [],
      random: [],
      delays: [],
    });
  }
  for (const server of servers) hits(server.port, 1);
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const server of servers) {
      for (const [list, spread] of [
        [server.one, 1],
        [server.random, objects],
      ]) {
        const cpu = cpuSeconds(server.pid);
        const wait = waited(server.worker);
        const requests = hits(server.port, spread);
        list.push(((cpuSeconds(server.pid) - cpu) * 1e6) / requests);
        const waits = waited(server.worker) - wait;
        if (server.name === 'proxyd' && spread > 1) server.delays.push(`${loopDelay(server).toFixed(1)}`);
        console.log(
          `round ${round + 1} ${server.name.padEnd(8)} ${spread === 1 ? 'one object    ' : 'random objects'} ` +
            `${list.at(-1).toFixed(2)} µs CPU a hit (${requests} hits, ${waits.toFixed(0)} ms waiting for a CPU)`,
        );
      }
    }
  }
} finally {
  for (const server of servers) await server.stop();
  origin.stop();
}
console.log('');
for (const s of servers) {
  console.log(
    `${s.name.padEnd(8)} ${s.weight.toFixed(0)} bytes an object; a hit on one object ${median(s.one).toFixed(2)} µs, ` +
      `on random ones ${median(s.random).toFixed(2)} µs: ratio ${(median(s.random) / median(s.one)).toFixed(2)}` +
      (s.delays.length > 0 ? `; longest event loop delays ${s.delays.join(', ')} ms` : ''),
  );
}
process.exit(0);
