// A disk tier with many objects: it shares the event loop with everything else.
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

const WRITE = 50;
const LARGE = Buffer.alloc(8 << 20, 'x');

/** Requests of these paths over eight connections, WRITE of them in a write, all of which are answered. */
async function ask(port, paths, method = 'GET') {
  let next = 0;
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let left = 0;
      const more = () => {
        const some = paths.slice(next, next + WRITE);
        next += some.length;
        left = some.length;
        if (left === 0) {
          socket.destroy();
          resolve();
        } else
          socket.write(some.map((path) => `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`).join(''));
      };
      socket.setEncoding('latin1');
      let tail = '';
      socket.on('connect', more);
      socket.on('error', reject);
      socket.on('data', (data) => {
        const all = tail + data;
        left -= all.split('HTTP/1.1 ').length - 1;
        // A part of the mark, at the most.
        tail = all.slice(-8);
        if (left === 0) more();
      });
    });
  await Promise.all(Array.from({ length: 8 }, one));
}

const paths = (n) => Array.from({ length: n }, (_, i) => `/object/${i}`);

/** @param size of the disk: the index has room for an object each 4 KiB */
const onDisk = (name, size, more) => ({
  name: `${name} of a disk tier`,
  sizes: [1000, 10_000, 100_000],
  aim: 50,
  args: () => ['-p', 'disk_sync=off'],
  beside: async (dir) => {
    mkdirSync(join(dir, 'disk'));
    return { args: ['-s', `tier=disk,${join(dir, 'disk')},${size}`], servers: '', stop: () => undefined };
  },
  program: () =>
    'sub vcl_recv { if (req.method == "PURGE") { return (purge); } }\nsub vcl_purge { return (synth(200)); }',
  origin: (request, response) => {
    const body = request.url.startsWith('/large/') ? LARGE : 'x'.repeat(100);
    response.writeHead(200, { 'Cache-Control': 'max-age=100000', 'Content-Length': body.length });
    response.end(body);
  },
  ...more,
});

/** @type {import('../row.d.ts').Row[]} */
export default [
  onDisk('objects that are stored, in segments of 64 MiB,', '2g', {
    load: ({ port, n }) => ask(port, paths(n)),
  }),
  onDisk('objects, all of them checked,', '4g', {
    prepare: ({ port, n }) => ask(port, paths(n)),
    load: ({ adm }) => adm('storage.check tier'),
  }),
  onDisk('objects, all of them dropped,', '4g', {
    prepare: ({ port, n }) => ask(port, paths(n)),
    load: ({ adm }) => adm('storage.drop tier'),
  }),
  onDisk('purges', '4g', {
    // The last is beyond those that are kept.
    sizes: [2000, 20_000, 200_000],
    load: ({ port, n }) => ask(port, paths(n), 'PURGE'),
  }),
  onDisk('bodies of 8 MiB that are stored', '4g', {
    sizes: [3, 30],
    load: async ({ port, n }) => {
      for (let i = 0; i < n; i++) await ask(port, [`/large/${i}`]);
    },
  }),
];
