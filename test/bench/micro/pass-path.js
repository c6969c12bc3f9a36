// The pass path with real origin sockets and no client sockets: CPU a request of the whole process, the kernel's part
// included. Run after `npm run build`: node test/bench/micro/pass-path.js [requests]
import { spawn } from 'node:child_process';
import { openSession, startWorker } from './in-process.js';

const total = Number(process.argv[2] ?? 200_000);
const WIDTH = 32;
const origin = spawn(
  process.execPath,
  [
    '-e',
    `
const resp = Buffer.from('HTTP/1.1 200 OK\\r\\nContent-Length: 1024\\r\\nContent-Type: text/plain\\r\\nDate: Sat, 21 Nov 2026 00:00:00 GMT\\r\\nCache-Control: no-store\\r\\n\\r\\n' + 'x'.repeat(1024));
require('net').createServer((s) => { s.on('data', () => s.write(resp)); s.on('error', () => {}); }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const port = Number(await new Promise((resolve) => origin.stdout.once('data', (d) => resolve(String(d)))));
const text = `vcl 4.1; backend default { .host = "127.0.0.1"; .port = "${port}"; } sub vcl_recv { return (pass); }`;
const { worker, close } = await startWorker(text);

const request = Buffer.from('GET /bench HTTP/1.1\r\nHost: 127.0.0.1:9011\r\n\r\n');
const ready = [];
function drain() {
  for (const next of ready.splice(0)) next();
}
let done = 0;
let goal = 0;
let finished = () => {};
function client() {
  const session = openSession(worker, () => {
    ready.push(next);
    if (ready.length === 1) setImmediate(drain);
  });
  const next = () => {
    if (++done === goal) finished();
    if (done + WIDTH <= goal) session.receive(request, 0, request.length);
  };
  return session;
}
const clients = Array.from({ length: WIDTH }, client);
async function batch(count) {
  done = 0;
  goal = count;
  const start = process.cpuUsage();
  await new Promise((resolve) => {
    finished = resolve;
    for (const c of clients) c.receive(request, 0, request.length);
  });
  const used = process.cpuUsage(start);
  return (used.user + used.system) / count;
}
await batch(20_000);
const figures = [];
for (let i = 0; i < 20; i++) figures.push(await batch(total / 20));
figures.sort((a, b) => a - b);
console.log(
  `pass path: ${figures[10].toFixed(1)} us (min ${figures[0].toFixed(1)}), ${worker.stats.s_pass} passes`,
);
origin.kill();
close();
process.exit(0);
