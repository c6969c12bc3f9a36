// Cost of probes in Node over plain sockets: for each address one connection per interval that sends a request, reads
// to the end and closes, with one timer per address and nothing else: no health window, no log, no counters. node
// bare-prober.js ORIGIN_PORT ADDRESSES INTERVAL_SECONDS
import { connect } from 'node:net';
import { addressOf } from '../growth/probes.js';

const [port, count, interval] = process.argv.slice(2).map(Number);
const request = Buffer.from('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
const onread = { buffer: Buffer.allocUnsafeSlow(64 * 1024), callback: () => true };

function poll(host) {
  const socket = connect({ host, port, onread });
  socket.on('connect', () => socket.write(request));
  socket.on('error', () => socket.destroy());
}

function begin(host) {
  poll(host);
  setInterval(poll, interval * 1000, host);
}

for (let i = 0; i < count; i++) setTimeout(begin, (i * interval * 1000) / count, addressOf(i));
// No one asks for this: the bench waits for a number.
console.log(port);
