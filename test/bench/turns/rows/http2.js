// HTTP/2: many streams at once, and what a client can do to a connection.
import { connect } from 'node:http2';
import { freePort } from '../../servers/start.js';

const args = () => ['-p', 'feature=+http2', '-p', 'h2_max_concurrent_streams=10000'];

const open = (port) =>
  new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`, { settings: { enablePush: false } });
    session.once('error', reject);
    // Streams opened before would be limited to 100.
    session.once('remoteSettings', () => resolve(session));
  });

/** One request to its end. */
const ask = (session, fields, body) =>
  new Promise((resolve) => {
    const stream = session.request(fields, { endStream: body === undefined });
    stream.on('error', resolve);
    stream.on('close', resolve);
    stream.resume();
    if (body !== undefined) stream.end(body);
  });

/** nginx speaks HTTP/2 in clear on a port of its own. */
const ofNginx = await freePort();

const crowd = {
  aim: 50,
  args,
  sizes: [50, 500, 5000],
};

/** @type {import('../row.d.ts').Row[]} */
export default [
  {
    ...crowd,
    name: 'HTTP/2: streams of one connection that get a hit',
    load: async ({ port, n }) => {
      const session = await open(port);
      await Promise.all(Array.from({ length: n }, () => ask(session, { ':path': '/page' })));
      session.destroy();
    },
  },
  {
    ...crowd,
    name: 'HTTP/2: connections that get a hit on ten streams each',
    sizes: [5, 50, 500],
    nginx: () => `listen 127.0.0.1:${ofNginx} http2;`,
    load: async ({ port: own, by, n }) => {
      const port = by === 'nginx' ? ofNginx : own;
      const sessions = await Promise.all(Array.from({ length: n }, () => open(port)));
      await Promise.all(
        sessions.flatMap((session) => Array.from({ length: 10 }, () => ask(session, { ':path': '/page' }))),
      );
      for (const session of sessions) session.destroy();
    },
  },
  {
    ...crowd,
    name: 'HTTP/2: streams that wait for one object',
    origin: (_, res) =>
      setTimeout(() => {
        res.writeHead(200, { 'Cache-Control': 'max-age=1000' });
        res.end('body');
      }, 1500),
    load: async ({ port, n }) => {
      const session = await open(port);
      await Promise.all(Array.from({ length: n }, () => ask(session, { ':path': '/waited-for' })));
      session.destroy();
    },
  },
  {
    ...crowd,
    name: 'HTTP/2: streams that are reset as they begin',
    args: () => [...args(), '-p', 'h2_rapid_reset_limit=100000'],
    load: async ({ port, n }) => {
      const session = await open(port);
      await Promise.all(
        Array.from(
          { length: n },
          (_, i) =>
            new Promise((resolve) => {
              const stream = session.request({ ':path': `/reset/${i}` });
              stream.on('error', () => undefined);
              stream.on('close', resolve);
              stream.close(8);
            }),
        ),
      );
      session.destroy();
    },
  },
];
