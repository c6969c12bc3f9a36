// New TLS connections with one request each, for some seconds: `full` handshakes or `resumed` ones, several at a time or
// so many a second. Arguments: port, full|resumed, seconds, connections at a time, most a second (0: as many as it can).
// Prints how many were answered.
import { connect } from 'node:tls';

const [port, kind, seconds, together, most] = process.argv
  .slice(2)
  .map((word) => (Number.isNaN(Number(word)) ? word : Number(word)));
const REQUEST = 'GET /page HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n';
const until = performance.now() + seconds * 1000;
let answered = 0;
let begun = 0;
let session;

function once() {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      servername: 'a.example',
      rejectUnauthorized: false,
      ...(kind === 'resumed' && session !== undefined ? { session } : {}),
    });
    socket.on('secureConnect', () => {
      if (kind === 'resumed' && session !== undefined && !socket.isSessionReused())
        reject(new Error('not resumed'));
      socket.write(REQUEST);
    });
    // The first ticket serves for all: a new one each time would be more work here than there.
    socket.on('session', (each) => {
      session ??= each;
    });
    socket.on('data', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      answered++;
      resolve();
    });
    socket.on('error', reject);
  });
}

async function loop() {
  while (performance.now() < until) {
    if (most > 0) {
      const due = (begun++ / most) * 1000;
      const wait = due - (performance.now() - (until - seconds * 1000));
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
    await once();
  }
}

await once();
answered = 0;
await Promise.all(Array.from({ length: together }, loop));
console.log(answered);
