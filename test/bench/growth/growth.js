// How the cost of the proxy grows with what a program asks, with what clients send and with how many there are, beside
// Varnish in the same run. Started by run.js --growth.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from '../processes.js';
import {
  LOAD_CPU,
  ROOT,
  SERVER_CPU,
  sleep,
  startNginx,
  startProxyd,
  startScript,
  startVarnish,
} from '../servers/start.js';
import { hitLatency, output, wrk } from './loads.js';
import { longestStep } from './longest-step.js';
import { probes } from './probes.js';
import { ROWS } from './rows.js';
import { uploads } from './uploads.js';
import { WAITS } from './waits.js';

/** Rows with tables of their own. */
const OTHERS = { probes, uploads, start };

/** From the start of a daemon to its first answer. */
async function start({ say }) {
  say(
    (
      await output(process.execPath, [`${ROOT}test/bench/start-up.js`, '--rounds', '7', '--daemon'])
    ).trimEnd(),
  );
}

const GB = 1e9;
const SIDE_SECONDS = 3;
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** µs of CPU a request, or ms a GB. */
async function cost(server, seconds, row) {
  const before = cpuSeconds(server.pid);
  const { requests, bytes } = await wrk(server.port, seconds, row);
  // Whatever the server still does for these requests (log, counters) belongs to them.
  await sleep(300);
  const used = cpuSeconds(server.pid) - before;
  return row.per === 'GB' ? (used * 1e3 * GB) / bytes : (used * 1e6) / requests;
}

/** Servers of a row by name; those that are not installed are left out. */
async function candidates(dir, originPort, { program = 'sub vcl_recv { }', storage, nginx, floor }) {
  mkdirSync(dir);
  const all = {
    proxyd: await startProxyd(SERVER_CPU, dir, originPort, program, storage),
    varnishd: await startVarnish(SERVER_CPU, dir, originPort, program, storage),
    nginx: nginx === true ? await startNginx(SERVER_CPU, dir, originPort, program === true) : null,
    floor: floor === undefined ? null : await startScript(SERVER_CPU, 'bare', floor, String(originPort)),
  };
  return Object.fromEntries(Object.entries(all).filter(([, server]) => server !== null));
}

async function playRow(row, home, originPort, { seconds, rounds }) {
  const servers = await candidates(home, originPort, row);
  const found = Object.fromEntries(Object.keys(servers).map((who) => [who, { costs: [], p99: [] }]));
  try {
    for (const server of Object.values(servers)) {
      await row.prepare?.(server);
      await wrk(server.port, 2, row);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [who, server] of Object.entries(servers))
        found[who].costs.push(await cost(server, seconds, row));
      for (const who of ['proxyd', 'varnishd'].filter((name) => name in servers)) {
        const load = wrk(servers[who].port, SIDE_SECONDS + 1, row);
        await sleep(500);
        found[who].p99.push((await hitLatency(servers[who].port, SIDE_SECONDS)).p99);
        await load;
      }
    }
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
  const warm = {
    ...row,
    async prepare(server) {
      await row.prepare?.(server);
      await wrk(server.port, 2, row);
    },
  };
  const step = await longestStep(`${home}-steps`, originPort, warm, async (server) => {
    await wrk(server.port, SIDE_SECONDS, row);
  });
  return { found, step };
}

async function playWait(wait, home, originPort) {
  const servers = await candidates(home, originPort, wait);
  const took = {};
  try {
    for (const [who, server] of Object.entries(servers)) took[who] = await wait.play(server);
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
  const step = await longestStep(`${home}-steps`, originPort, wait, (server) => wait.play(server));
  return { took, step };
}

const ratio = (ours, theirs) => (theirs === undefined ? '-' : (ours / theirs).toFixed(2));
const cells = (name, texts) => `${name.padEnd(38)}${texts.map((text) => String(text).padStart(10)).join('')}`;

/** Prints a line a row; `only` is part of the rows' names. */
export async function growth({ dir, seconds, rounds, only, say }) {
  const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');
  // Some loads are sent from here.
  spawnSync('taskset', ['-apc', String(LOAD_CPU), String(process.pid)]);
  // Each child that is started leaves one.
  process.setMaxListeners(200);
  const wanted = ({ name }) => only === undefined || name.includes(only);
  try {
    say(
      'CPU: µs a request, ms a GB. p99: ms of small hits beside the load. step, gc: ms, the longest of the worker.',
    );
    say(cells('', ['proxyd', 'varnishd', 'ratio', 'nginx', 'floor', 'p99', 'varnishd', 'step', 'gc']));
    for (const [i, row] of ROWS.entries()) {
      if (!wanted(row)) continue;
      const { found, step } = await playRow(row, join(dir, `row${i}`), origin.port, { seconds, rounds });
      const of = (who, what) => (who in found ? median(found[who][what]) : undefined);
      const text = (value) => value?.toFixed(1) ?? '-';
      const ours = of('proxyd', 'costs');
      say(
        cells(row.name, [
          ...[text(ours), text(of('varnishd', 'costs')), ratio(ours, of('varnishd', 'costs'))],
          ...[text(of('nginx', 'costs')), text(of('floor', 'costs'))],
          ...[text(of('proxyd', 'p99')), text(of('varnishd', 'p99')), text(step.step), text(step.gc)],
        ]),
      );
    }
    say('');
    say(cells('ms by the clock', ['proxyd', 'varnishd', 'ratio', '', '', '', '', 'step', 'gc']));
    for (const [i, wait] of WAITS.entries()) {
      if (!wanted(wait)) continue;
      const { took, step } = await playWait(wait, join(dir, `wait${i}`), origin.port);
      const { proxyd, varnishd } = took;
      say(
        cells(wait.name, [
          ...[proxyd.toFixed(1), varnishd?.toFixed(1) ?? '-', ratio(proxyd, varnishd)],
          ...['', '', '', '', step.step.toFixed(1), step.gc.toFixed(1)],
        ]),
      );
    }
    for (const [name, play] of Object.entries(OTHERS)) {
      if (!wanted({ name })) continue;
      const home = join(dir, name);
      mkdirSync(home);
      say('');
      await play({ dir: home, seconds, say });
    }
  } finally {
    await origin.stop();
  }
}
