// Sends GET requests for /page at a fixed rate over kept connections and waits for the answers; prints how many came.
// Usage: paced-load.js PORT RATE SECONDS CONNECTIONS. Unlike wrk it is no faster when the server has time.
import { connect } from 'node:net';

const [port, rate, seconds, connections] = process.argv.slice(2).map(Number);
const REQUEST = 'GET /page HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
const MARK = Buffer.from('HTTP/1.1 200');

let answered = 0;
const sockets = await Promise.all(
  Array.from({ length: connections }, async () => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    // A mark may come in two pieces.
    let rest = Buffer.alloc(0);
    socket.on('data', (data) => {
      const all = rest.length === 0 ? data : Buffer.concat([rest, data]);
      let at = 0;
      for (let next = all.indexOf(MARK); next >= 0; next = all.indexOf(MARK, at)) {
        answered++;
        at = next + MARK.length;
      }
      rest = all.subarray(Math.max(at, all.length - MARK.length + 1));
    });
    return socket;
  }),
);
const total = rate * seconds;
const begun = performance.now();
let sent = 0;
while (sent < total) {
  const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * rate));
  // Late requests are sent in small turns all the same, so that a busy machine does not make large ones.
  for (const until = Math.min(due, sent + rate / 100); sent < until; sent++) {
    sockets[sent % connections].write(REQUEST);
  }
  await new Promise((resolve) => setTimeout(resolve, 2));
}
for (let i = 0; answered < total && i < 500; i++) await new Promise((resolve) => setTimeout(resolve, 10));
process.stdout.write(`${answered}\n`);
process.exit(0);
