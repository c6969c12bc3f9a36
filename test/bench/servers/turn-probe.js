// A thread that asks a server for /page over and over and says on demand how long an answer took at the most since it was
// asked last, the one under way included: by the clock, and by the processor time of one thread of the server (`tid`),
// which other processes on the machine do not lengthen. With `command` it pings the manager over the console protocol
// instead. A lost connection is made again.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 2;
const URGENT = -15;
// The server's load shares this thread's core: a response must not wait for it. Only root may; without, figures are
// larger.
try {
  setPriority(0, URGENT);
} catch {
  // Not allowed.
}
const { port, tid, dir } = workerData;
let longest = { wall: 0, cpu: 0 };
let sent = null;

function processorMillis() {
  try {
    return Number(readFileSync(`/proc/${tid}/task/${tid}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    return 0;
  }
}

function ask(request) {
  sent = { wall: performance.now(), cpu: processorMillis() };
  request();
}

function answered() {
  if (sent === null) return;
  longest = {
    wall: Math.max(longest.wall, performance.now() - sent.wall),
    cpu: Math.max(longest.cpu, processorMillis() - sent.cpu),
  };
}

function open() {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const next = () => ask(() => socket.write('GET /page HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'));
  socket.on('connect', next);
  // Head and body of this small page come in one piece.
  socket.on('data', () => {
    answered();
    sent = null;
    setTimeout(next, EVERY_MS);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    sent = null;
    setTimeout(open, 10);
  });
}

async function ping() {
  const { connect: toManager } = await import('../../../dist/modules/console/client/client.js');
  const client = await toManager({ dir, name: 'bench' });
  for (;;) {
    let reply;
    ask(() => {
      reply = client.command('banner');
    });
    await reply;
    answered();
    sent = null;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

parentPort.on('message', () => {
  answered();
  parentPort.postMessage(longest);
  longest = { wall: 0, cpu: 0 };
});
if (dir === undefined) open();
else void ping();
