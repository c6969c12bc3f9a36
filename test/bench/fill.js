// Fills a cache: an origin that answers every URL with a body of one size, and a client that asks for /o/0 to
// /o/<n - 1>, each once, over some connections. Plain sockets, so that the machine is the caches'.
import { connect, createServer } from 'node:net';

/** Starts an origin on a port of its own; returns {port, stop}. */
export function startOrigin(size) {
  const head = `HTTP/1.1 200 OK\r\nDate: ${new Date().toUTCString()}\r\nContent-Type: text/plain\r\nCache-Control: max-age=36000\r\nContent-Length: ${size}\r\n\r\n`;
  const answer = Buffer.from(head + 'x'.repeat(size), 'latin1');
  const server = createServer((socket) => {
    let tail = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const heads = (tail + bytes.toString('latin1')).split('\r\n\r\n');
      tail = heads.pop() ?? '';
      for (let i = 0; i < heads.length; i++) socket.write(answer);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port, stop: () => server.close() }));
  });
}

/** Asks for the objects `from` to below `to`; resolves when all are answered whole. */
export async function fill(port, from, to, size, connections = 32) {
  let next = from;
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let head = '';
      let left = 0;
      const ask = () => {
        if (next === to) {
          socket.destroy();
          resolve();
        } else socket.write(`GET /o/${next++} HTTP/1.1\r\nHost: bench\r\n\r\n`);
      };
      socket.once('connect', ask);
      socket.once('error', reject);
      socket.on('data', (bytes) => {
        if (left === 0) {
          head += bytes.toString('latin1');
          const end = head.indexOf('\r\n\r\n');
          if (end < 0) return;
          if (!head.startsWith('HTTP/1.1 200')) reject(new Error(head.slice(0, 80)));
          left = size - (head.length - end - 4);
          head = '';
        } else left -= bytes.length;
        if (left === 0) ask();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
}
