// Cost of body filters, and of pairs of them, by length: CPU of the whole process tree for a request of 1, 8 and 64
// MB, compared with Varnish in the same run. The first request of a fresh daemon is reported separately. For proxyd
// also the peak memory for a body of 64 MB, including stored bytes, and the longest step of its worker's event loop.
// Started by run.js --filters.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { longestStep } from '../growth/longest-step.js';
import { cpuMillis, residentBytes, tree } from '../processes.js';
import {
  LOAD_CPU,
  ROOT,
  SERVER_CPU,
  sleep,
  startProxyd,
  startScript,
  startVarnish,
} from '../servers/start.js';
import { programOf, ROWS } from './rows.js';

const MB = 2 ** 20;
const SIZES = [1, 8, 64];
const STORAGE = 'malloc,512m';
const EXTENSION = `${ROOT}test/bench/filters/passing.mjs`;
let ids = 0;

const pathOf = ({ kind, packed }, size, id) => `/${kind}?size=${size * MB}&packed=${packed ? 1 : 0}&id=${id}`;

/** Bytes of an answer. */
function ask(port, path, headers) {
  return new Promise((done, failed) => {
    const request = get({ port, host: '127.0.0.1', path, agent: false, headers }, (response) => {
      let bytes = 0;
      response.on('data', (data) => {
        bytes += data.length;
      });
      response.on('error', failed);
      response.on('end', () => {
        if (response.statusCode > 206) failed(new Error(`${path}: ${response.statusCode}`));
        done(bytes);
      });
    });
    request.on('error', failed);
  });
}

/** Milliseconds of CPU a request, of `count`, each for a body of its own unless they are hits. */
async function cost(server, row, size, count) {
  const asked = [];
  for (let i = 0; i < count; i++) {
    if (i === 0 || !row.hit) ids++;
    asked.push(pathOf(row, size, ids));
  }
  // The origin's bodies are shared by all, and a hit is in the store.
  if (row.hit) await ask(server.port, asked[0], { 'Accept-Encoding': 'gzip' });
  await sleep(50);
  const before = cpuMillis(server.pid);
  for (const path of asked) await ask(server.port, path, row.headers);
  await sleep(100);
  return (cpuMillis(server.pid) - before) / count;
}

async function figuresOf(server, row, repeats) {
  const found = { cold: await cost(server, row, 1, 1) };
  for (const size of SIZES) found[size] = await cost(server, row, size, Math.ceil(repeats / size));
  return found;
}

/** The memory of the daemon while a body passes, more than before. */
async function held(server, row) {
  const pids = tree(server.pid);
  const resident = () => pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  const before = resident();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, resident());
  }, 5);
  await cost(server, row, SIZES.at(-1), 1);
  clearInterval(timer);
  return (most - before) / 1e6;
}

const ratio = (ours, theirs) => (theirs > 0 ? (ours / theirs).toFixed(1) : '-');
const cells = (name, texts) => `${name.padEnd(38)}${texts.map((text) => String(text).padStart(8)).join('')}`;

/** Prints a line a row; `only` is part of the rows' names. */
export async function filters({ dir, seconds, only, say }) {
  const origin = await startScript(LOAD_CPU, 'origin', 'filter-origin.js');
  spawnSync('taskset', ['-apc', String(LOAD_CPU), String(process.pid)]);
  process.setMaxListeners(1000);
  const columns = ['cold', ...SIZES.map((size) => `${size} MB`)];
  say('CPU: ms a request. held: MB more beside 64 MB, step: ms, the longest of the worker.');
  say(cells('', [...columns.flatMap((column) => [column, 'varnishd', 'ratio']), 'held', 'step']));
  try {
    for (const [i, row] of ROWS.entries()) {
      if (only !== undefined && !row.name.includes(only)) continue;
      const home = join(dir, `filters${i}`);
      mkdirSync(home);
      const { text, own } = programOf(row, EXTENSION);
      const play = async (server, then) => {
        if (server === null) return {};
        try {
          // Its own files are read, its connection to the origin is made.
          await ask(server.port, `/text?size=99&packed=${row.packed ? 1 : 0}`, {});
          return { ...(await figuresOf(server, row, seconds)), held: await then?.(server) };
        } finally {
          await server.stop();
        }
      };
      for (const { kind, packed } of [row])
        for (const size of SIZES) await ask(origin.port, pathOf({ kind, packed }, size, 0), {});
      const theirs = own ? {} : await play(await startVarnish(SERVER_CPU, home, origin.port, text, STORAGE));
      const ours = await play(await startProxyd(SERVER_CPU, home, origin.port, text, STORAGE), (server) =>
        held(server, row),
      );
      const { step } = await longestStep(
        `${home}-steps`,
        origin.port,
        { program: text, storage: STORAGE, prepare: (server) => cost(server, row, 8, 1) },
        (server) => cost(server, row, SIZES.at(-1), 1),
      );
      const figures = ['cold', ...SIZES].flatMap((column) => [
        ours[column].toFixed(1),
        theirs[column]?.toFixed(1) ?? '-',
        ratio(ours[column], theirs[column]),
      ]);
      say(cells(row.name, [...figures, ours.held.toFixed(0), step.toFixed(1)]));
    }
  } finally {
    await origin.stop();
  }
}
