// Pages of edge-side includes, proxyd and Varnish in turns in the same run: the time a page of 20 cold fragments of
// 100 ms each takes, to its first and to its last byte; CPU a warm page, with plain and packed fragments of 300 bytes
// and 5 kB; and memory while 200 clients wait for cold pages of 100 fragments. Usage:
//   node test/bench/esi.js [--seconds 6] [--rounds 3] [--only cold,warm,memory] [--json]
// Needs taskset, and wrk for the warm pages; Varnish is left out with a notice when it is missing.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuSeconds, largest, residentBytes } from './processes.js';
import { find, PROXYD, sleep, startProxyd, startScript, startVarnish } from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'cold,warm,memory' },
    json: { type: 'boolean', default: false },
  },
});
const SERVER_CPU = 0;
const LOAD_CPU = 1;
const PROGRAM = 'sub vcl_backend_response { if (beresp.http.X-Esi == "1") { set beresp.do_esi = true; } }';
const ROUNDS = Number(options.rounds);
const CLIENTS = 200;

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const say = (text) => (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const agent = new Agent({ maxSockets: CLIENTS });
let pages = 0;

/** Milliseconds to the first byte of the body and to the last, and its length. */
function fetchPage(port, path, headers = {}) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent, headers }, (response) => {
      let first = 0;
      let length = 0;
      response.on('data', (d) => {
        first ||= performance.now() - began;
        length += d.length;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ first, last: performance.now() - began, length }));
    }).on('error', reject);
  });
}

function wrk(port, path, headers) {
  const lines = Object.entries(headers).flatMap(([n, v]) => ['-H', `${n}: ${v}`]);
  const args = ['-c', String(LOAD_CPU), 'wrk', '-t', '1', '-c', '32', '-d', `${options.seconds}s`, ...lines];
  const child = spawn('taskset', [...args, `http://127.0.0.1:${port}${path}`], {
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
      if (requests === 0 || /Non-2xx/.test(out)) reject(new Error(`wrk got no good answers: ${out}`));
      else resolve(requests);
    });
  });
}

/** Rows of figures by server, and what they are in relation to Varnish's. */
const figures = {};
function note(what, server, value, unit) {
  figures[what] ??= { unit };
  figures[what][server] ??= [];
  figures[what][server].push(value);
}

async function cold(servers) {
  for (let round = 0; round < ROUNDS * 2; round++) {
    for (const server of servers) {
      const path = `/page?n=20&size=300&delay=100&id=${++pages}`;
      const { first, last, length } = await fetchPage(server.port, path);
      if (length < 20 * 300) throw new Error(`${server.name}: a page of ${length} bytes: ${path}`);
      note('cold, to the first byte', server.name, first, 'ms');
      note('cold, to the last byte', server.name, last, 'ms');
    }
  }
}

async function warm(servers) {
  const packed = { 'Accept-Encoding': 'gzip' };
  for (const [size, gzip, headers] of [
    [300, 0, {}],
    [5000, 0, {}],
    [300, 1, packed],
    [5000, 1, packed],
  ]) {
    const what = `warm, 20 fragments of ${size} B, ${gzip ? 'gzip' : 'plain'}`;
    const path = `/page?n=20&size=${size}&gzip=${gzip}&id=${++pages}`;
    const lengths = new Set();
    for (const server of servers) {
      for (let i = 0; i < 50; i++) server.length = (await fetchPage(server.port, path, headers)).length;
      if (!gzip) lengths.add(server.length);
    }
    if (lengths.size > 1) throw new Error(`pages of ${[...lengths].join(' and ')} bytes: ${path}`);
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of servers) {
        const before = cpuSeconds(server.pid);
        const requests = await wrk(server.port, path, headers);
        // Whatever the server still does for these requests (log, counters) belongs to them.
        await sleep(300);
        note(what, server.name, ((cpuSeconds(server.pid) - before) * 1e6) / requests, 'µs CPU');
      }
    }
  }
}

async function memory(servers) {
  for (const server of servers) {
    const pid = largest(server.pid);
    const before = residentBytes(pid);
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, residentBytes(pid));
    }, 20);
    const began = performance.now();
    const path = () => `/page?n=100&size=1000&delay=20&life=0&id=${++pages}`;
    const got = await Promise.all(Array.from({ length: CLIENTS }, () => fetchPage(server.port, path())));
    clearInterval(timer);
    if (got.some((g) => g.length < 100_000))
      throw new Error(`${server.name}: a page of ${Math.min(...got.map((g) => g.length))} bytes`);
    note(`memory of ${CLIENTS} cold pages of 100 fragments`, server.name, (most - before) / 1e6, 'MB more');
    note(`time of ${CLIENTS} cold pages of 100 fragments`, server.name, performance.now() - began, 'ms');
  }
}

if (find('taskset') === null) {
  say('bench skipped: it needs taskset (Debian: apt-get install util-linux)');
  process.exit(0);
}
if (!existsSync(PROXYD)) {
  console.error('dist/ is missing: run `npm run build` first');
  process.exit(1);
}
const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-esi-bench-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const origin = await startScript(LOAD_CPU, 'origin', 'esi-origin.js');
const servers = [];
try {
  for (const [name, start] of Object.entries({ proxyd: startProxyd, varnish: startVarnish })) {
    const server = await start(SERVER_CPU, dir, origin.port, PROGRAM, 'malloc,256m');
    if (server === null) say(`${name}: not installed, left out`);
    else servers.push({ ...server, name });
  }
  const parts = { cold, warm, memory };
  for (const part of options.only.split(',')) {
    if (parts[part] === undefined)
      throw new Error(`no part ${part}; there are ${Object.keys(parts).join(', ')}`);
    if (part === 'warm' && find('wrk') === null) say('warm pages skipped: they need wrk');
    else await parts[part](servers);
  }
} finally {
  for (const server of servers) await server.stop();
  await origin.stop();
}

const summary = {};
for (const [what, { unit, ...values }] of Object.entries(figures)) {
  const [ours, theirs] = [values.proxyd, values.varnish].map((list) =>
    list === undefined ? NaN : median(list),
  );
  const ratio = Number.isNaN(theirs)
    ? ''
    : `  varnish ${theirs.toFixed(1).padStart(8)}  proxyd / varnish: ${(ours / theirs).toFixed(2)}`;
  say(`${what.padEnd(48)} ${ours.toFixed(1).padStart(8)} ${unit}${ratio}`);
  summary[what] = { unit, proxyd: ours, varnish: theirs };
}
if (options.json) process.stdout.write(`${JSON.stringify(summary)}\n`);
process.exit(0);
