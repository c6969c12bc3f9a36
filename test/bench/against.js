// CPU per request of this build and of another one in turns: plain hit, hit of 64 KiB, pass, a miss that is stored, a hit on a
// connection of its own, and a warm page of 20 fragments, each over HTTP/1. A round is one run of wrk on each, in changing order, and gives a ratio; its middle over many short rounds moves
// less than the figures do on a shared machine. The quartiles say how much it may be believed. Usage:
//   node test/bench/against.js DIR [--seconds 2] [--rounds 15] [--only hit,hit64k,pass,miss,close,page] [--newest] [--disk]
// With --newest this build is played on the recommended Node (npm's package `node`); `.` as DIR then compares runtimes alone.
// With --disk this build has a disk tier, in the system's directory for temporary files; `.` as DIR then shows what it costs.
// DIR is a checkout of the other version in which `npm ci && npm run build` has been run. Needs taskset and wrk.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuSeconds } from './processes.js';
import {
  find,
  LOAD_CPU,
  newestNode,
  PROXYD,
  SERVER_CPU,
  sleep,
  startProxyd,
  startScript,
} from './servers/start.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '15' },
    only: { type: 'string', default: 'hit,hit64k,pass,miss,close,page' },
    newest: { type: 'boolean', default: false },
    disk: { type: 'boolean', default: false },
  },
});

const ESI = 'sub vcl_backend_response { if (beresp.http.X-Esi == "1") { set beresp.do_esi = true; } }';
const ALL_MISSES = 'sub vcl_recv { set req.url = req.url + "?" + req.xid; }';
const ROWS = {
  hit: { path: '/page', origin: 'origin.js', program: false },
  hit64k: { path: '/64k', origin: 'origin.js', program: false },
  pass: { path: '/page', origin: 'origin.js', program: true },
  miss: { path: '/page', origin: 'origin.js', program: ALL_MISSES },
  close: { path: '/page', origin: 'origin.js', program: false, header: 'Connection: close' },
  page: { path: '/page?n=20&size=300', origin: 'esi-origin.js', program: ESI },
};

const other = positionals[0] === undefined ? '' : join(resolve(positionals[0]), 'dist/daemon/proxyd.js');
const missing = [other, PROXYD].find((file) => !existsSync(file));
if (missing !== undefined) {
  console.error(
    positionals[0] === undefined
      ? 'usage: node test/bench/against.js DIR'
      : `${missing} is missing: run \`npm ci && npm run build\` there first`,
  );
  process.exit(1);
}
for (const program of ['wrk', 'taskset']) {
  if (find(program) === null) {
    console.error(`needs ${program}`);
    process.exit(1);
  }
}

const now = options.newest ? newestNode() : process.execPath;
if (now === null) {
  console.error("the recommended Node cannot be had here: npm's package `node`");
  process.exit(1);
}

function wrk(port, { path, header = 'Accept: */*' }) {
  const args = [
    '-c',
    String(LOAD_CPU),
    'wrk',
    '-t',
    '1',
    '-c',
    '32',
    '-d',
    `${options.seconds}s`,
    '-H',
    header,
  ];
  const child = spawn('taskset', [...args, `http://127.0.0.1:${port}${path}`], {
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
      if (requests === 0 || bad !== undefined) reject(new Error(`wrk: ${bad ?? out}`));
      else done(requests);
    });
  });
}

function fetchPage(port, path) {
  return new Promise((done, reject) => {
    get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.resume();
      response.on('end', done);
    }).on('error', reject);
  });
}

/** The value below which a share of a list lies. */
const quantile = (list, share) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)];

const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-against-'));
const onDisk = options.disk ? mkdtempSync(join(tmpdir(), 'proxyd-against-')) : dir;
process.once('exit', () => {
  for (const each of new Set([dir, onDisk])) rmSync(each, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

async function micros({ port, pid }, row) {
  const before = cpuSeconds(pid);
  const requests = await wrk(port, row);
  await sleep(200); // its log and counters belong to these requests, too
  return ((cpuSeconds(pid) - before) * 1e6) / requests;
}

async function compare(name, row) {
  const origin = await startScript(LOAD_CPU, 'origin', row.origin);
  const args = ['-j', 'none', '-p', 'worker_threads=1'];
  const start = (which, file, node = process.execPath, more = []) => {
    const work = join(dir, `${name}-${which}`);
    mkdirSync(work);
    const all = [...args, ...more];
    return startProxyd(SERVER_CPU, work, origin.port, row.program, 'malloc,64m', {}, all, file, node);
  };
  const before = await start('before', other);
  const disk = options.disk ? ['-s', `disk,${join(onDisk, name)},1g`] : [];
  const after = await start('after', PROXYD, now, disk);
  const figures = [];
  try {
    for (const server of [before, after]) {
      await fetchPage(server.port, row.path);
      await wrk(server.port, row);
      await wrk(server.port, row);
    }
    for (let round = 0; round < Number(options.rounds); round++) {
      const pair = { before: 0, after: 0 };
      const order = round % 2 === 0 ? ['before', 'after'] : ['after', 'before'];
      for (const which of order) pair[which] = await micros(which === 'before' ? before : after, row);
      figures.push(pair);
    }
  } finally {
    await Promise.all([before.stop(), after.stop(), origin.stop()]);
  }
  const ratios = figures.map((pair) => pair.after / pair.before);
  const middle = (which) =>
    quantile(
      figures.map((pair) => pair[which]),
      0.5,
    ).toFixed(1);
  console.log(
    `${name.padEnd(8)} before ${middle('before').padStart(7)} µs  now ${middle('after').padStart(7)} µs` +
      `  ratio ${quantile(ratios, 0.5).toFixed(3)}  quartiles ${quantile(ratios, 0.25).toFixed(3)} to ${quantile(ratios, 0.75).toFixed(3)}`,
  );
}

for (const name of options.only.split(',')) {
  if (ROWS[name] === undefined) throw new Error(`no row ${name}; there are ${Object.keys(ROWS).join(', ')}`);
  await compare(name, ROWS[name]);
}
process.exit(0);
