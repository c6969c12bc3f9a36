// Asks for /page at a moderate rate over a few kept connections, one request at a time on each, and prints as JSON how long
// the answers took: {"p50", "p99", "max"} in milliseconds, and how many there were. Usage: hit-latency.js PORT SECONDS
import { connect } from 'node:net';

const [port, seconds] = process.argv.slice(2).map(Number);
const CONNECTIONS = 4;
const EVERY_MS = 10;
const REQUEST = 'GET /page HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

const took = [];
const end = performance.now() + seconds * 1000;
await Promise.all(
  Array.from({ length: CONNECTIONS }, async (_, i) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let onData = () => undefined;
    const lost = (cause) => {
      console.error(`hit-latency: connection ${i} to port ${port} has ended: ${cause?.message ?? ''}`);
      process.exit(1);
    };
    socket.on('error', lost).on('end', lost);
    socket.on('data', (bytes) => onData(bytes));
    await new Promise((go) => socket.once('connect', go));
    await new Promise((go) => setTimeout(go, (i * EVERY_MS) / CONNECTIONS));
    while (performance.now() < end) {
      const sent = performance.now();
      socket.write(REQUEST);
      let length = 0;
      let whole = Number.POSITIVE_INFINITY;
      while (length < whole) {
        const bytes = await new Promise((go) => {
          onData = go;
        });
        const text = bytes.toString('latin1');
        const head = text.indexOf('\r\n\r\n');
        if (whole === Number.POSITIVE_INFINITY)
          whole = head + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        length += bytes.length;
      }
      took.push(performance.now() - sent);
      await new Promise((go) => setTimeout(go, EVERY_MS));
    }
    socket.off('end', lost).destroy();
  }),
);
took.sort((a, b) => a - b);
const at = (share) => Number((took[Math.floor(took.length * share)] ?? 0).toFixed(2));
console.log(JSON.stringify({ p50: at(0.5), p99: at(0.99), max: at(0.9999), count: took.length }));
process.exit(0);
