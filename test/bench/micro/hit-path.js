// The hit path without sockets: the JavaScript cost of a cache hit, from the bytes of a request to the bytes of
// its response, log included. Prints nanoseconds of CPU a request (whole process); run after `npm run build`:
//   node test/bench/micro/hit-path.js [requests]
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { Worker } = await import('../../../dist/daemon/worker/worker.js');
const { Session } = await import('../../../dist/daemon/net/session.js');
const { run } = await import('../../../dist/daemon/request/loop.js');
const { compile } = await import('../../../dist/daemon/vcl/compile.js');

const total = Number(process.argv[2] ?? 1_000_000);
const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hit-path-'));
const origin = createServer((_, res) => {
  res.setHeader('Cache-Control', 'max-age=6000');
  res.setHeader('Content-Type', 'text/plain');
  res.setHeader('ETag', '"abc"');
  res.end('x'.repeat(1024));
});
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
const text = `vcl 4.1; backend default { .host = "127.0.0.1"; .port = "${origin.address().port}"; }`;
const { program } = compile({ name: 'bench', text });
const worker = new Worker(
  {
    t: 'init',
    dir,
    identity: 'bench',
    params: {},
    storages: [{ name: 's0', kind: 'malloc', size: 64 << 20 }],
    listeners: [],
    programs: [{ name: 'boot', program, state: 'auto' }],
    active: 'boot',
    generation: 0,
  },
  () => {},
);
await worker.start();

const socket = {
  remoteAddress: '127.0.0.1',
  remotePort: 12345,
  localAddress: '127.0.0.1',
  localPort: 80,
  writableLength: 0,
  write: () => true,
  _write: (_chunk, _encoding, done) => done(),
  pause() {},
  resume() {},
  destroy() {},
  end() {},
};
const session = new Session(worker, { sessionClosed() {} }, socket, { name: 'a0', socketText: ':80' }, run);
const request = Buffer.from('GET /bench HTTP/1.1\r\nHost: 127.0.0.1:9011\r\n\r\n');
session.receive(request, 0, request.length);
await new Promise((resolve) => setTimeout(resolve, 200));

/** 64 requests a turn, as 64 busy connections give; then the turn ends and the log is written. */
async function batch(count) {
  const start = process.cpuUsage();
  for (let i = 0; i < count; i += 64) {
    for (let k = 0; k < 64; k++) session.receive(request, 0, request.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const used = process.cpuUsage(start);
  return ((used.user + used.system) * 1000) / count;
}
await batch(200_000);
const figures = [];
for (let i = 0; i < 40; i++) figures.push(await batch(total / 40));
figures.sort((a, b) => a - b);
console.log(
  `hit path without sockets: ${figures[20].toFixed(0)} ns (min ${figures[0].toFixed(0)}), ${worker.stats.cache_hit} hits`,
);
rmSync(dir, { recursive: true, force: true });
process.exit(0);
