// Measured by the clock rather than by CPU time: small hits while something large happens to the server, and how long
// the large thing takes. Each returns milliseconds.
import { connect } from 'node:net';
import { ask, hitLatency } from './loads.js';

const BANS = 10_000;
const CLIENTS = 300;
const CONNECTIONS = 9000;
const GET = (path, more = '') => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}\r\n`;

const many = (n, text) => Array.from({ length: n }, (_, i) => text(i));

function opened(port) {
  const socket = connect({ port, host: '127.0.0.1' });
  return new Promise((done, failed) => {
    socket.once('connect', () => done(socket)).once('error', failed);
  });
}

/** The worst hit while 200 objects are tested against 10,000 bans that came after them. */
async function bans(server) {
  const objects = many(200, (i) => [`/object/${i}`]);
  await ask(server.port, [['/page'], ...objects]);
  await ask(
    server.port,
    many(BANS, (i) => [`/ban/${i}`]),
  );
  const hits = hitLatency(server.port, 2);
  await new Promise((go) => setTimeout(go, 300));
  await ask(server.port, objects);
  return (await hits).max;
}

/** The worst hit while 300 clients ask for 8 MB and read nothing. */
async function stalled(server) {
  await ask(server.port, [['/page'], ['/8m']]);
  const hits = hitLatency(server.port, 4);
  await new Promise((go) => setTimeout(go, 500));
  const sockets = await Promise.all(many(CLIENTS, () => opened(server.port)));
  for (const socket of sockets) socket.pause().write(GET('/8m'));
  const { max } = await hits;
  for (const socket of sockets) socket.destroy();
  return max;
}

/** Until 9,000 connections that come at once have had a hit each. */
async function connections(server) {
  await ask(server.port, [['/page']]);
  const begun = performance.now();
  const sockets = await Promise.all(
    many(CONNECTIONS, async () => {
      const socket = await opened(server.port);
      const answered = new Promise((done, failed) => {
        socket.once('data', done).once('close', () => failed(new Error('a connection was not served')));
      });
      socket.write(GET('/page'));
      await answered;
      return socket;
    }),
  );
  const took = performance.now() - begun;
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  return took;
}

const BAN_BY_URL = `sub vcl_recv {
  if (req.url ~ "^/ban/") { ban("obj.http.x-tag ~ ^(a|b)" + regsub(req.url, "^/ban/", "") + "x+$"); return (synth(200)); }
}`;

/** name; program; play(server); descriptors it needs of the one who plays and of the server. */
export const WAITS = [
  { name: 'worst hit beside 10,000 new bans', program: BAN_BY_URL, play: bans },
  {
    name: 'worst hit beside 300 that do not read',
    program: 'sub vcl_recv { }',
    storage: 'malloc,300m',
    play: stalled,
  },
  { name: '9,000 connections, a hit each', program: 'sub vcl_recv { }', play: connections },
];
