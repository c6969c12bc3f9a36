// The floor: a TLS server of the runtime that writes a canned response. Arguments: certificate and key. Prints its port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';

const [cert, key] = process.argv.slice(2, 4).map((file) => readFileSync(file));
const response = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\nConnection: keep-alive\r\n\r\n${'x'.repeat(1024)}`,
);
const server = createServer({ cert, key, noDelay: true }, (socket) => {
  socket.on('data', (data) => {
    if (data.includes('Connection: close')) socket.end(response);
    else socket.write(response);
  });
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
