// Clients that upload slowly: each sends a piece of a body at even intervals, and never comes to its end. All of them
// send at the same moment, which is the worst for others. Prints a number once all of them are at it; ends when it is
// killed.
//   node slow-uploads.js PORT CLIENTS PIECE_BYTES INTERVAL_MS
import { connect } from 'node:net';

const [port, clients, bytes, interval] = process.argv.slice(2).map(Number);
/** A minute and more of pieces, and below the size that nginx accepts by default. */
const LENGTH = 1_000_000;
const head = Buffer.from(`POST /upload HTTP/1.1\r\nHost: bench\r\nContent-Length: ${LENGTH}\r\n\r\n`);
const piece = Buffer.alloc(bytes, 'u');
const sockets = [];

function begin() {
  const socket = connect(port, '127.0.0.1', () => {
    socket.setNoDelay(true);
    socket.write(head);
    if (sockets.push(socket) < clients) return;
    setInterval(() => {
      for (const each of sockets) each.write(piece);
    }, interval);
    console.log(clients);
  });
  socket.on('error', (error) => console.error(error.message));
  socket.on('data', (data) => console.error(`answered early: ${data.toString('latin1', 0, 60)}`));
}

for (let i = 0; i < clients; i++) setTimeout(begin, (i * 1000) / clients);
