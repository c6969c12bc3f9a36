// The origin for the probes of growth/probes.js: reads one request, answers it and closes. Listens on every loopback
// address and prints its port.
import { createServer } from 'node:net';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
const server = createServer({ noDelay: true }, (socket) => {
  socket.once('data', () => socket.end(ANSWER));
  socket.on('error', () => socket.destroy());
});
server.listen({ host: '0.0.0.0', port: 0, backlog: 1024 }, () => console.log(server.address().port));
