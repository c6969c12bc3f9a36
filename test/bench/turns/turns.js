// How long one turn of the worker lasts at the most under inputs of many kinds, each at several sizes, and which processor
// time they cost: rows/ has the inputs, row.d.ts their shape. A turn is the processor time of the worker's thread between
// a request for a cached object and its answer, while the input is worked on; the same of nginx, and of Varnish the wall time.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { connect } from '../../../dist/modules/console/client/client.js';
import { cpuMillis, tree } from '../processes.js';
import { LOAD_CPU, SERVER_CPU, sleep, startNginx, startProxyd, startVarnish } from '../servers/start.js';

/** Milliseconds in which nothing more may be done before an input counts as worked on. */
const QUIET = 300;
/** The most that costs may grow by beyond the size. */
const GROWTH = 1.2;
/** Milliseconds of processor time below which the growth of a cost says nothing. */
const NOTHING = 100;

export async function allRows() {
  const folder = new URL('./rows/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const modules = await Promise.all(files.toSorted().map((name) => import(new URL(name, folder))));
  return modules.flatMap((module) => module.default);
}

/** The process that serves: the one that a manager has begun. nginx's has another beside it, for its cache. */
const workerOf = (manager) =>
  tree(manager).find(
    (pid) => pid !== manager && !readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('cache'),
  );

function probe(workerData) {
  const worker = new Worker(new URL('../servers/turn-probe.js', import.meta.url), { workerData });
  return {
    longest: () =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('longest');
      }),
    end: () => worker.terminate(),
  };
}

function page(port) {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/page', agent: false }, (response) => {
      response.resume();
      response.on('end', resolve);
    }).on('error', reject);
  });
}

/** Waits until a process tree has next to nothing to do. */
async function quiet(pid) {
  for (let i = 0; i < 300; i++) {
    const before = cpuMillis(pid);
    await sleep(QUIET);
    // The probes alone cost less.
    if (cpuMillis(pid) - before < QUIET / 5) return;
  }
}

/** {cpu, spent}: milliseconds of processor time, and of the clock, that something takes. */
async function cost(server, work) {
  const before = cpuMillis(server.pid);
  const began = performance.now();
  await work();
  return { cpu: cpuMillis(server.pid) - before, spent: performance.now() - began };
}

async function ours(row, n, originPort, dir, beside) {
  const args = [
    '-j',
    'none',
    '-p',
    'worker_threads=1',
    '-p',
    'vcc_err_unref=off',
    ...(row.args?.(n) ?? []),
    ...(beside?.args ?? []),
  ];
  const server = await startProxyd(
    SERVER_CPU,
    dir,
    originPort,
    row.program?.(n) ?? 'sub vcl_hit { }',
    'malloc,512m',
    row.env?.(dir, n) ?? {},
    args,
  );
  const client = await connect({ dir: join(dir, 'proxyd'), name: 'bench' });
  const adm = async (line, may = false) => {
    const { status, body } = await client.command(line);
    if (status !== 200 && !may) throw new Error(`${line.slice(0, 100)}: ${status} ${body.slice(0, 300)}`);
    return body;
  };
  const stop = () => {
    client.close();
    return server.stop();
  };
  return { ...server, adm, stop };
}

async function varnish(row, n, originPort, dir) {
  const server = await startVarnish(
    SERVER_CPU,
    dir,
    originPort,
    row.program?.(n) ?? 'sub vcl_hit { }',
    'malloc,512m',
    ['-p', 'vcc_err_unref=off', ...(row.varnishArgs?.(n) ?? [])],
  );
  if (server === null) return null;
  const adm = (line, may = false) =>
    new Promise((resolve, reject) => {
      const child = spawn('varnishadm', ['-n', join(dir, 'varnish'), line]);
      let out = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (d) => {
          out += d;
        });
      child.on('exit', (code) => (code === 0 || may ? resolve(out) : reject(new Error(`${line}: ${out}`))));
    });
  return { ...server, adm };
}

/** One worker, whose cache is the origin's responses. */
async function nginx(row, _n, originPort, dir) {
  const server = await startNginx(SERVER_CPU, dir, originPort, false, null, 0, row.nginx());
  return server === null
    ? null
    : { ...server, adm: () => Promise.reject(new Error('nginx has no commands')) };
}

const DAEMONS = { proxyd: ours, varnish, nginx };

/** {cpu, turn, manager} in milliseconds, of one daemon and one size. */
async function play(row, n, dir, by) {
  const origin = createServer((request, response) => {
    if (request.url === '/page' || row.origin === undefined) {
      response.writeHead(200, { 'Cache-Control': 'max-age=100000' });
      response.end('body');
    } else row.origin(request, response, n);
  });
  await new Promise((resolve) => origin.listen(0, '127.0.0.1', 8192, resolve));
  const originPort = origin.address().port;
  mkdirSync(dir);
  const beside = (await row.beside?.(dir)) ?? null;
  const isComplete = row.beside === undefined || beside !== null;
  const server = isComplete ? await DAEMONS[by](row, n, originPort, dir, beside) : null;
  if (server === null) {
    origin.close();
    return null;
  }
  const tid = by === 'varnish' ? server.pid : workerOf(server.pid);
  const { port, adm } = server;
  const played = { port, originPort, dir, n, by, adm, beside };
  const probes = [];
  try {
    await page(port);
    await page(port);
    await row.prepare?.(played);
    probes.push(probe({ port, tid }));
    if (row.manager && by === 'proxyd') probes.push(probe({ dir: join(dir, 'proxyd'), tid: server.pid }));
    await sleep(QUIET);
    await quiet(server.pid);
    const idle = await cost(server, () => sleep(2 * QUIET));
    await Promise.all(probes.map((each) => each.longest()));
    const busy = await cost(server, async () => {
      await row.load(played);
      await quiet(server.pid);
    });
    // The probes and what a daemon does for itself would have cost as much.
    const cpu = Math.max(0, busy.cpu - (idle.cpu / idle.spent) * busy.spent);
    const [turn, manager] = await Promise.all(probes.map((each) => each.longest()));
    return {
      cpu,
      turn: by === 'varnish' ? turn.wall : turn.cpu,
      manager: manager === undefined ? null : manager.cpu,
    };
  } finally {
    for (const each of probes) await each.end();
    await server.stop();
    beside?.stop();
    origin.close();
    origin.closeAllConnections();
    rmSync(dir, { recursive: true, force: true });
  }
}

const cell = (figure) =>
  figure === null || figure === undefined ? '-' : figure.toFixed(figure < 10 ? 1 : 0);

/** How much more a cost grew than the size, from the last size but one to the last; null where it is too small to say. */
function growthOf(sizes, costs) {
  const [size, more] = sizes.slice(-2);
  const [cost, dearer] = costs.slice(-2);
  if (more === undefined || dearer < NOTHING) return null;
  return dearer / Math.max(cost, NOTHING / (more / size)) / (more / size);
}

/** Prints a line a row and size; `only` is part of the rows' names. */
export async function longestTurns({ dir, only, say }) {
  spawnSync('taskset', ['-apc', String(LOAD_CPU), String(process.pid)]);
  process.setMaxListeners(1000);
  say(
    'cpu: ms of all processes; turn: ms, the longest of the worker; manager: the same of the manager; aim in parentheses.',
  );
  say(
    `${''.padEnd(58)}${['cpu', 'turn', 'manager', 'varnishd cpu', 'turn', 'nginx cpu', 'turn'].map((t) => t.padStart(13)).join('')}`,
  );
  const beyond = [];
  let number = 0;
  for (const row of await allRows()) {
    if (only !== undefined && !row.name.includes(only)) continue;
    const costs = [];
    for (const n of row.sizes) {
      const own = await play(row, n, join(dir, `turns${number++}`), 'proxyd');
      if (own === null) {
        say(`${row.name}: a server that it needs is not installed, left out`);
        break;
      }
      const theirs = row.varnish ? await play(row, n, join(dir, `turns${number++}`), 'varnish') : null;
      const peer = row.nginx ? await play(row, n, join(dir, `turns${number++}`), 'nginx') : null;
      costs.push(own.cpu);
      const cells = [own.cpu, own.turn, own.manager, theirs?.cpu, theirs?.turn, peer?.cpu, peer?.turn].map(
        (f) => cell(f).padStart(13),
      );
      say(`${`${row.name}: ${n} (${row.aim})`.slice(0, 58).padEnd(58)}${cells.join('')}`);
      for (const [who, turn] of [
        ['worker', own.turn],
        ['manager', own.manager ?? 0],
      ])
        if (turn > row.aim) {
          const beside = peer === null ? '' : `; nginx ${cell(peer.turn)} ms`;
          beyond.push(`${row.name}: ${n}: ${cell(turn)} ms in one turn of the ${who}${beside}`);
        }
    }
    const growth = growthOf(row.sizes, costs);
    if (growth !== null && growth > GROWTH)
      beyond.push(`${row.name}: cost grows ${growth.toFixed(1)} times as much as the size`);
  }
  say(beyond.length === 0 ? 'all within the aim' : `beyond the aim:\n${beyond.join('\n')}`);
}
