// The floor of what Node can do: a `net` server that writes one canned response for every packet it
// reads, and ends the connection where that asks for it. It parses nothing else, so it is right only for clients that do
// not pipeline. Prints its port.
import { createServer } from 'node:net';

const body = Buffer.alloc(1024, 'x');
const head = [
  'HTTP/1.1 200 OK',
  'Content-Type: text/plain',
  'Cache-Control: max-age=3600',
  'Date: Thu, 01 Jan 2026 00:00:00 GMT',
  'Content-Length: 1024',
  'Age: 12',
  'Accept-Ranges: bytes',
  'Connection: keep-alive',
  '',
  '',
].join('\r\n');
const response = Buffer.concat([Buffer.from(head, 'latin1'), body]);

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', (bytes) => {
    if (bytes.includes('Connection: close')) socket.end(response);
    else socket.write(response);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
