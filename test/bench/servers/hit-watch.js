// A thread that asks for /page over and over, and says on demand how long an answer took at the most since it was asked last,
// the one under way included. A lost connection is made again.
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 2;
let longest = 0;
let sent = null;

function open() {
  const socket = connect({ port: workerData.port, host: '127.0.0.1', noDelay: true });
  const ask = () => {
    sent = performance.now();
    socket.write('GET /page HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  };
  socket.on('connect', ask);
  // Head and body of this small page come in one piece.
  socket.on('data', () => {
    longest = Math.max(longest, performance.now() - sent);
    sent = null;
    setTimeout(ask, EVERY_MS);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    sent = null;
    setTimeout(open, 10);
  });
}

parentPort.on('message', () => {
  if (sent !== null) longest = Math.max(longest, performance.now() - sent);
  parentPort.postMessage(longest);
  longest = 0;
});
open();
