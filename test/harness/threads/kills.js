// The worker killed with SIGKILL at random moments under load: how long until the next answer, and whether any byte that a
// client got was wrong. Usage (after a build):
//   node test/harness/threads/kills.js [--threads 4] [--seconds 600] [--clients 32] [--seed 1]
// Bodies are made from their URL, so that each can be checked; connections that break off are what a kill does. Ends with
// status 1 when a body was wrong, or when service was away for longer than --most milliseconds (1000).

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    threads: { type: 'string', default: String(availableParallelism()) },
    seconds: { type: 'string', default: '600' },
    clients: { type: 'string', default: '32' },
    seed: { type: 'string', default: '1' },
    most: { type: 'string', default: '1000' },
  },
});
const ROOT = new URL('../../../', import.meta.url).pathname;
const KEYS = 500;
/** Between two kills: longer than the two seconds after which the manager calls a worker well (README). */
const [SOONEST, LATEST] = [2200, 5200];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let state = Number(options.seed) >>> 0;
function random(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const bodyOf = (url) => {
  const number = Number(url.slice(1));
  const line = `${url} `.repeat(20);
  return Buffer.from(line.repeat(1 + ((number * 7919) % 400)));
};

const origin = createServer((request, response) => {
  const body = bodyOf(request.url);
  // Some stream slowly, so that a kill finds fetches under way.
  const isSlow = Number(request.url.slice(1)) % 10 === 0;
  response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': body.length });
  if (!isSlow) return response.end(body);
  response.write(body.subarray(0, body.length / 2));
  setTimeout(() => response.end(body.subarray(body.length / 2)), 50);
});
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));

const dir = mkdtempSync('/dev/shm/proxyd-kills-');
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
const daemon = spawn(
  process.execPath,
  [
    join(ROOT, 'dist/daemon/proxyd.js'),
    ...['-F', '-n', dir, '-a', '127.0.0.1:0', '-b', `127.0.0.1:${origin.address().port}`, '-s', 'malloc,16m'],
    ...['-p', `worker_threads=${options.threads}`],
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
);
process.once('exit', () => daemon.kill('SIGKILL'));
let output = '';
daemon.stderr.setEncoding('utf8').on('data', (text) => {
  output = (output + text).slice(-4000);
});
const adm = (...words) =>
  spawnSync(process.execPath, [join(ROOT, 'dist/console/bin/proxyadm.js'), '-n', dir, ...words], {
    encoding: 'utf8',
  }).stdout;
const workerPid = () => {
  const { stdout } = spawnSync('pgrep', ['-P', String(daemon.pid), '-f', 'proxyd worker'], {
    encoding: 'utf8',
  });
  return Number(stdout.trim().split('\n')[0]);
};
while (!adm('status').includes('running')) {
  if (daemon.exitCode !== null) throw new Error(`proxyd has ended: ${output}`);
  await sleep(100);
}
const port = Number(/127\.0\.0\.1[ :](\d+)/.exec(adm('debug.listen_address'))?.[1]);

const agent = new Agent({ keepAlive: true, maxSockets: Number(options.clients) });
const count = { good: 0, broken: 0, wrong: 0 };
let lastGood = performance.now();

/** Whether the answer was whole and right. */
function ask(url, over) {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: url, agent: over }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        const body = Buffer.concat(parts);
        if (response.statusCode !== 200) resolve(false);
        else if (body.equals(bodyOf(url))) {
          count.good++;
          lastGood = performance.now();
          resolve(true);
        } else {
          count.wrong++;
          console.log(`wrong: ${url}: ${body.length} bytes of ${bodyOf(url).length}`);
          resolve(false);
        }
      });
      response.on('error', () => resolve(false));
    });
    request.setTimeout(5000, () => request.destroy());
    request.on('error', () => {
      count.broken++;
      resolve(false);
    });
  });
}

const end = performance.now() + Number(options.seconds) * 1000;
let isOver = false;
async function client() {
  while (!isOver) if (!(await ask(`/${random(KEYS)}`, agent))) await sleep(5);
}
const clients = Array.from({ length: Number(options.clients) }, client);
const away = [];
let slow = 0;
await sleep(2500);
while (performance.now() < end) {
  const worker = workerPid();
  const killed = performance.now();
  process.kill(worker, 'SIGKILL');
  while (lastGood < killed || workerPid() === worker) await sleep(5);
  // Answers that were on their way when it died do not count: one of a new connection does.
  while (!(await ask(`/${random(KEYS)}`, false))) await sleep(5);
  const ms = performance.now() - killed;
  away.push(ms);
  if (ms > Number(options.most)) slow++;
  await sleep(SOONEST + random(LATEST - SOONEST));
}
isOver = true;
await Promise.all(clients);
away.sort((a, b) => a - b);
const at = (share) => (away[Math.min(away.length - 1, Math.floor(away.length * share))] ?? 0).toFixed(0);
console.log(
  `${options.threads} threads, ${away.length} kills in ${options.seconds} s: away for ${at(0.5)} ms (median), ${at(0.99)} ms (p99), ${at(1)} ms (longest), ${slow} times above ${options.most} ms; ` +
    `${count.good} right answers, ${count.broken} broken off, ${count.wrong} wrong`,
);
process.exit(count.wrong > 0 || slow > 0 || away.length === 0 ? 1 : 0);
