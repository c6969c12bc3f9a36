// The floor of what Node can do: a `net` server that writes one canned response for every packet it
// reads, and ends the connection where that asks for it. It parses nothing else, so it is right only for clients that do
// not pipeline. Prints its port.
import { createServer } from 'node:net';
import { RESPONSE } from './canned-response.js';

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', (bytes) => {
    if (bytes.includes('Connection: close')) socket.end(RESPONSE);
    else socket.write(RESPONSE);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
