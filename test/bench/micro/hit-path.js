// The hit path without sockets: the JavaScript cost of a cache hit, from the bytes of a request to the bytes of
// its response, log included. Prints nanoseconds of CPU a request (whole process); run after `npm run build`:
//   node test/bench/micro/hit-path.js [requests]
import { createServer } from 'node:http';
import { openSession, startWorker } from './in-process.js';

const total = Number(process.argv[2] ?? 1_000_000);
const origin = createServer((_, res) => {
  res.setHeader('Cache-Control', 'max-age=6000');
  res.setHeader('Content-Type', 'text/plain');
  res.setHeader('ETag', '"abc"');
  res.end('x'.repeat(1024));
});
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
const text = `vcl 4.1; backend default { .host = "127.0.0.1"; .port = "${origin.address().port}"; }`;
const { worker, close } = await startWorker(text);
const session = openSession(worker);
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
close();
process.exit(0);
