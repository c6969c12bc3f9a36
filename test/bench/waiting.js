// Clients that wait for one fetch: how long they wait, and how many fetches the origin sees, by what it answers. Beside
// Varnish, and another release of it:
//   node test/bench/waiting.js [--clients 1000] [--newer DIR]
// DIR is where test/harness/varnish/other-releases.sh has put that release. Each answer of the origin takes 100 ms; what
// is fetched one after the other takes a tenth of a second a client, and is cut off after ten seconds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { find, freePort, LOAD_CPU, PROXYD, SERVER_CPU, sleep, startProgram } from './servers/start.js';

const { values } = parseArgs({
  options: { clients: { type: 'string', default: '1000' }, newer: { type: 'string' } },
});
const CLIENTS = Number(values.clients);
const LIMIT_MS = 10_000;
const ORIGIN_MS = 100;
/** By path: what the origin answers, after ORIGIN_MS. */
const KINDS = {
  fresh: (res) => res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('fresh'),
  'ttl 0': (res) => res.writeHead(200).end('zero'),
  private: (res) => res.writeHead(200, { 'Cache-Control': 'private' }).end('private'),
  'hit-for-miss': (res) => res.writeHead(200, { 'Set-Cookie': 'a=b' }).end('marked'),
  500: (res) => res.writeHead(500).end('failed'),
  cut: (res) => {
    res.writeHead(200, { 'Content-Length': '10' }).write('cut');
    setTimeout(() => res.destroy(), 1);
  },
};

const dir = mkdtempSync('/dev/shm/proxyd-bench-waiting-');
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
const fetches = new Map();
const origin = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  const [, kind, n] = req.url.split('/');
  fetches.set(`${kind} ${n}`, (fetches.get(`${kind} ${n}`) ?? 0) + 1);
  setTimeout(() => KINDS[decodeURIComponent(kind)](res), ORIGIN_MS);
});
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
const program = join(dir, 'site.vcl');
writeFileSync(
  program,
  `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.address().port}"; }
sub vcl_backend_response {
  set beresp.do_stream = false;
  if (bereq.url ~ "^/ttl") { set beresp.ttl = 0s; set beresp.grace = 0s; return (deliver); }
}
`,
);

/** Milliseconds until the answer is there; null after LIMIT_MS. */
function ask(port, path) {
  return new Promise((resolve) => {
    const from = performance.now();
    const socket = connect(port, '127.0.0.1');
    const end = (ms) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(ms);
    };
    const timer = setTimeout(() => end(null), LIMIT_MS);
    let text = '';
    socket.on('error', () => end(null));
    socket.on('data', (bytes) => {
      text += bytes;
      if (text.includes('\r\n\r\n')) end(performance.now() - from);
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  });
}

const rows = [];
let round = 0;
async function play(name, port) {
  for (const kind of Object.keys(KINDS)) {
    const path = `/${encodeURIComponent(kind)}/${round}`;
    const all = await Promise.all(Array.from({ length: CLIENTS }, () => ask(port, path)));
    const times = all.filter((ms) => ms !== null).sort((a, b) => a - b);
    rows.push({
      name,
      answer: kind,
      fetches: fetches.get(`${encodeURIComponent(kind)} ${round}`) ?? 0,
      'median ms': Math.round(times[times.length >> 1] ?? -1),
      'last ms': Math.round(times.at(-1) ?? -1),
      'after 10 s': all.length - times.length,
    });
    await sleep(300);
  }
  round++;
}

async function peer(name, command, args) {
  const port = await freePort();
  const work = join(dir, name.replaceAll(' ', '-'));
  const given = ['-F', '-n', work, '-a', `127.0.0.1:${port}`, '-f', program, ...args];
  const running = await startProgram(SERVER_CPU, name, command[0], [...command.slice(1), ...given], port);
  await sleep(1000);
  await play(name, port);
  await running.stop();
}

await peer('proxyd', [process.execPath, PROXYD], ['-p', 'worker_threads=1']);
await peer('proxyd 9.0', [process.execPath, PROXYD], ['-p', 'worker_threads=1', '-p', 'varnish_release=9.0']);
// Enough threads for all who fetch at once.
const THREADS = ['-j', 'none', '-p', 'thread_pool_max=4000', '-p', 'thread_pool_min=1000'];
if (find('varnishd') !== null) await peer('Varnish', [find('varnishd')], THREADS);
if (values.newer !== undefined) await peer('newer Varnish', [join(values.newer, 'bin/varnishd')], THREADS);
console.log(`${CLIENTS} clients, load on core ${LOAD_CPU}`);
console.table(rows);
process.exit(0);
