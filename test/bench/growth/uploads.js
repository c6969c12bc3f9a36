// How small hits fare beside 500 slow uploads, and how much memory an upload holds, beside Varnish and nginx: latencies of
// hits that are sent at an even pace, alone and with the uploads, and the resident memory of the server's processes
// before and while the uploads last. The servers take turns, each alone on its core; uploads and origin share the other.
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { cpuSeconds, residentBytes, tree } from '../processes.js';
import {
  LOAD_CPU,
  SERVER_CPU,
  sleep,
  startNginx,
  startProxyd,
  startScript,
  startVarnish,
} from '../servers/start.js';

const UPLOADS = 500;
const PIECE = 1024;
/** Milliseconds between the pieces of one upload. */
const INTERVAL = 100;
/** Seconds until memory has come to rest. */
const SETTLED = 5;

const REQUEST = 'GET /page HTTP/1.1\r\nHost: bench\r\n\r\n';
const MARK = 'HTTP/1.1 200';
/** Connections that take turns, and milliseconds between two requests. */
const CLIENTS = 8;
const PACE = 2;

function client(port, latencies) {
  const waiting = [];
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('data', (data) => {
    // Each has long been answered when the next is sent, unless the server is far behind.
    const answers = data.toString('latin1').split(MARK).length - 1;
    for (let i = 0; i < answers; i++) latencies.push(performance.now() - waiting.shift());
  });
  const ask = () => {
    waiting.push(performance.now());
    socket.write(REQUEST);
  };
  return new Promise((made, failed) =>
    socket.once('error', failed).once('connect', () => made({ ask, end: () => socket.destroy() })),
  );
}

/** Milliseconds: p50, p90 and p99. They do not wait for each other, so a stall counts for all that it holds up. */
async function hits(port, seconds) {
  const latencies = [];
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => client(port, latencies)));
  const end = performance.now() + seconds * 1000;
  for (let i = 0; performance.now() < end; i++) {
    clients[i % CLIENTS].ask();
    await sleep(PACE);
  }
  await sleep(500);
  for (const each of clients) each.end();
  latencies.sort((a, b) => a - b);
  return [0.5, 0.9, 0.99].map((share) => latencies[Math.floor(latencies.length * share)]);
}

/** Of the whole process tree. */
const resident = (server) => tree(server.pid).reduce((sum, pid) => sum + residentBytes(pid), 0);

/** Prints a line a server. */
export async function uploads({ dir, seconds, say }) {
  const origin = await startScript(LOAD_CPU, 'origin', 'upload-origin.js');
  const home = join(dir, 'uploads');
  mkdirSync(home);
  say(
    `${`hits beside ${UPLOADS} slow uploads, ms`.padEnd(36)} ${['p50', 'p90', 'p99'].map((p) => p.padStart(7)).join('')}   alone${['p50', 'p90', 'p99'].map((p) => p.padStart(7)).join('')}   kB an upload   CPU of a core`,
  );
  try {
    for (const [name, start] of [
      ['proxyd', startProxyd],
      ['varnishd', startVarnish],
      ['nginx', startNginx],
    ]) {
      const server = await start(SERVER_CPU, home, origin.port);
      if (server === null) continue;
      let load = null;
      try {
        await hits(server.port, 2);
        await sleep(SETTLED * 1000);
        const before = resident(server);
        const words = [server.port, UPLOADS, PIECE, INTERVAL].map(String);
        load = await startScript(LOAD_CPU, 'uploads', 'slow-uploads.js', ...words);
        await sleep(SETTLED * 1000);
        const held = (resident(server) - before) / UPLOADS / 1000;
        const cpu = cpuSeconds(server.pid);
        await sleep(SETTLED * 1000);
        const share = ((cpuSeconds(server.pid) - cpu) / SETTLED) * 100;
        const beside = await hits(server.port, seconds);
        await load.stop();
        await sleep(1000);
        const alone = await hits(server.port, seconds);
        const ms = (list) => list.map((value) => value.toFixed(2).padStart(7)).join('');
        say(
          `${name.padEnd(36)} ${ms(beside)}        ${ms(alone)} ${held.toFixed(1).padStart(14)} ${`${share.toFixed(1)} %`.padStart(15)}`,
        );
      } finally {
        await load?.stop();
        await server.stop();
      }
    }
  } finally {
    await origin.stop();
  }
}
