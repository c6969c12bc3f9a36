// Effect of worker threads on this machine: hits of 1 KiB with one thread and with several, in turns, the load
// generator on the same cores. Rates, CPU per request of the whole process tree, and the distribution of requests.
// Usage: node test/bench/threads.js [--threads 1,2] [--seconds 5] [--rounds 3] [--connections 64] Plain requests cost
// the generator about as much as the server; pipelined ones (16 per write) next to nothing.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuSeconds } from './processes.js';
import { find, sleep, startProxyd, startScript } from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    threads: { type: 'string', default: '1,2' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
  },
});
if (find('wrk') === null || find('taskset') === null) {
  console.log('bench skipped: it needs wrk and taskset (Debian: apt-get install wrk util-linux)');
  process.exit(0);
}
const cores = availableParallelism();
const everywhere = `0-${cores - 1}`;
const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-bench-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const pipeline = join(dir, 'pipeline.lua');
writeFileSync(
  pipeline,
  'init = function(args)\n  local r = {}\n  for i = 1, 16 do r[i] = wrk.format() end\n  whole = table.concat(r)\nend\nrequest = function() return whole end\n',
);

function wrk(port, seconds, script) {
  const args = ['-t', '1', '-c', options.connections, '-d', `${seconds}s`];
  if (script !== null) args.push('-s', script);
  const child = spawn('wrk', [...args, `http://127.0.0.1:${port}/page`], {
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
      if (requests === 0) reject(new Error(`wrk got no answers: ${out}`));
      else resolve(requests);
    });
  });
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const origin = await startScript(everywhere, 'origin', 'origin.js');
const servers = [];
for (const count of options.threads.split(',')) {
  const own = join(dir, count);
  mkdirSync(own);
  const more = ['-p', `worker_threads=${count}`];
  const server = await startProxyd(everywhere, own, origin.port, false, 'malloc,64m', {}, more);
  servers.push({ ...server, count: Number(count) });
}
const kinds = [
  { name: 'plain', script: null },
  { name: 'pipelined', script: pipeline },
];
try {
  for (const server of servers) for (const { script } of kinds) await wrk(server.port, 3, script);
  for (const kind of kinds) {
    const seen = servers.map(() => ({ rates: [], micros: [] }));
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const [i, server] of servers.entries()) {
        const before = cpuSeconds(server.pid);
        const requests = await wrk(server.port, Number(options.seconds), kind.script);
        await sleep(300);
        seen[i].rates.push(requests / Number(options.seconds));
        seen[i].micros.push(((cpuSeconds(server.pid) - before) * 1e6) / requests);
      }
    }
    const base = seen[0];
    for (const [i, { rates, micros }] of seen.entries()) {
      const rate = median(rates);
      const cpu = median(micros);
      console.log(
        `${kind.name.padEnd(10)} ${servers[i].count} thread(s): ${Math.round(rate)} requests/s (${(rate / median(base.rates)).toFixed(2)}),` +
          ` ${cpu.toFixed(2)} µs CPU a request (${(cpu / median(base.micros)).toFixed(2)})`,
      );
    }
  }
} finally {
  for (const server of servers) await server.stop();
  await origin.stop();
}
process.exit(0);
