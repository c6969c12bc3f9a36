// CPU per request of a cache hit, or with --pass of a request that goes to the origin each time: utime + stime of
// the server's whole process tree (/proc), divided by the requests that wrk got answered. Server and load generator
// have one core each; the candidates take turns in rounds, so that a noisy minute hits all of them. Usage:
//   node test/bench/run.js [--pass | --growth | --filters | --commands | --turns] [--seconds 8] [--rounds 3] [--connections 64] [--only NAME,…] [--json]
// With --growth the rows of growth/ instead, with --filters those of filters/, with --commands the time that admin commands take, with --turns
// those of turns/.
// Without these options the same build is also played on the recommended Node (`newest`; npm's package `node`).
// Needs taskset and, but for the last three, wrk; varnishd, nginx and that Node are left out with a notice when they are
// missing.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuSeconds } from './processes.js';
import {
  find,
  LOAD_CPU,
  newestNode,
  PROXYD,
  SERVER_CPU,
  sleep,
  startNginx,
  startProxyd,
  startScript,
  startVarnish,
} from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    only: { type: 'string' },
    pass: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    filters: { type: 'boolean', default: false },
    commands: { type: 'boolean', default: false },
    turns: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

function wrk(port, seconds) {
  const args = ['-c', String(LOAD_CPU), 'wrk', '-t', '1', '-c', options.connections, '-d', `${seconds}s`];
  const child = spawn('taskset', [...args, `http://127.0.0.1:${port}/page`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (d) => {
    out += d;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', () => {
      const requests = Number(/(\d+) requests in/.exec(out)?.[1] ?? 0);
      const bad = /Socket errors.*|Non-2xx.*/.exec(out)?.[0] ?? '';
      if (requests === 0) reject(new Error(`wrk got no answers: ${out}`));
      else resolve({ requests, bad });
    });
  });
}

function fetchPage(port) {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/page', agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const say = (text) => (options.json ? process.stderr : process.stdout).write(`${text}\n`);

if (
  (find('wrk') === null && !options.filters && !options.commands && !options.turns) ||
  find('taskset') === null
) {
  say('bench skipped: it needs wrk and taskset (Debian: apt-get install wrk util-linux)');
  process.exit(0);
}
if (availableParallelism() < 2) say('warning: one core only; the load generator disturbs what is measured');

// Working directories belong on a memory-backed filesystem: Varnish's daemon and ours both write logs there.
const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-bench-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

if (options.growth) {
  const { growth } = await import('./growth/growth.js');
  await growth({
    dir,
    seconds: Number(options.seconds),
    rounds: Number(options.rounds),
    only: options.only,
    say,
  });
  process.exit(0);
}
if (options.filters) {
  const { filters } = await import('./filters/filters.js');
  await filters({ dir, seconds: Number(options.seconds), only: options.only, say });
  process.exit(0);
}

if (options.commands) {
  const { commandTimes } = await import('./commands.js');
  await commandTimes({ dir, only: options.only, say });
  process.exit(0);
}
if (options.turns) {
  const { longestTurns } = await import('./turns/turns.js');
  await longestTurns({ dir, only: options.only, say });
  process.exit(0);
}

/** The same build on the recommended Node; null where that cannot be had. */
async function startOnNewest() {
  const node = newestNode();
  if (node === null) return null;
  const home = join(dir, 'newest');
  mkdirSync(home);
  const args = [SERVER_CPU, home, origin.port, options.pass, undefined, {}, [], PROXYD, node];
  return { ...(await startProxyd(...args)), name: 'on newest Node' };
}

const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');
const servers = [];
const candidates = {
  bare: () =>
    options.pass
      ? startScript(SERVER_CPU, 'bare net proxy', 'bare-proxy.js', String(origin.port))
      : startScript(SERVER_CPU, 'bare net', 'bare-net.js'),
  proxyd: () => startProxyd(SERVER_CPU, dir, origin.port, options.pass),
  newest: startOnNewest,
  varnish: () => startVarnish(SERVER_CPU, dir, origin.port, options.pass),
  nginx: () => startNginx(SERVER_CPU, dir, origin.port, options.pass),
};
const all = Object.keys(candidates);
const chosen = options.only?.split(',') ?? all;
if (chosen.includes('proxyd') && !existsSync(PROXYD)) {
  console.error('dist/ is missing: run `npm run build` first');
  process.exit(1);
}
try {
  for (const name of chosen) {
    const make = candidates[name];
    if (make === undefined)
      throw new Error(`no candidate ${name}; there are ${Object.keys(candidates).join(', ')}`);
    const server = await make();
    if (server === null) say(`${name}: not installed, left out`);
    else servers.push({ ...server, micros: [], rates: [] });
  }
  for (const server of servers) {
    for (let i = 0; i < 3; i++) {
      const status = await fetchPage(server.port);
      if (status !== 200) throw new Error(`${server.name} answered ${status}`);
    }
    await wrk(server.port, 2);
  }
  for (let round = 1; round <= Number(options.rounds); round++) {
    for (const server of servers) {
      const before = cpuSeconds(server.pid);
      const { requests, bad } = await wrk(server.port, Number(options.seconds));
      // Whatever the server still does for these requests (log, counters) belongs to them.
      await sleep(300);
      const micros = ((cpuSeconds(server.pid) - before) * 1e6) / requests;
      server.micros.push(micros);
      server.rates.push(requests / Number(options.seconds));
      say(
        `round ${round}  ${server.name.padEnd(14)} ${micros.toFixed(2).padStart(7)} µs CPU a request` +
          `  ${Math.round(requests / Number(options.seconds))} requests/s ${bad}`,
      );
    }
  }
} finally {
  for (const server of servers) await server.stop();
  await origin.stop();
}

const proxyd = servers.find((s) => s.name.startsWith('proxyd'));
say('');
for (const server of servers) {
  const micros = median(server.micros);
  const ratio =
    proxyd === undefined || server === proxyd
      ? ''
      : `   proxyd / ${server.name}: ${(median(proxyd.micros) / micros).toFixed(2)}`;
  say(`median   ${server.name.padEnd(14)} ${micros.toFixed(2).padStart(7)} µs${ratio}`);
}
if (options.json) {
  const figures = servers.map((s) => [s.name, { micros: median(s.micros), rate: median(s.rates) }]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(figures))}\n`);
}
process.exit(0);
