// Objects in slices: a purge, and a read, of one that has very many.
import { createHash } from 'node:crypto';
import { get } from 'node:http';

const SLICE = 4096;
const ETAG = `"${createHash('md5').update('slices').digest('hex')}"`;

function read(port, path, method = 'GET') {
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', path, method, agent: false }, (response) => {
      response.resume();
      response.on('end', resolve);
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

const sliced = (name, more) => ({
  name: `${name}; slices`,
  sizes: [100, 1000, 10_000],
  aim: 50,
  program: () => `sub vcl_recv {
  if (req.url == "/sliced") { set req.slice = ${SLICE}B; }
  if (req.method == "PURGE") { return (purge); }
}`,
  origin: ({ headers }, response, n) => {
    const size = SLICE * n;
    const [, from, to] = /bytes=(\d+)-(\d*)/.exec(headers.range ?? '') ?? [];
    const first = Number(from ?? 0);
    const last = to === undefined || to === '' ? size - 1 : Math.min(size - 1, Number(to));
    response.writeHead(from === undefined ? 200 : 206, {
      ETag: ETAG,
      'Cache-Control': 'max-age=100000',
      'Content-Length': last - first + 1,
      ...(from !== undefined && { 'Content-Range': `bytes ${first}-${last}/${size}` }),
    });
    response.end(Buffer.alloc(last - first + 1, 'x'));
  },
  ...more,
});

/** @type {import('../row.d.ts').Row[]} */
export default [
  sliced('an object in slices that is fetched', { load: ({ port }) => read(port, '/sliced') }),
  sliced('an object in slices that is read', {
    prepare: ({ port }) => read(port, '/sliced'),
    load: ({ port }) => read(port, '/sliced'),
  }),
  sliced('an object in slices that is purged', {
    prepare: ({ port }) => read(port, '/sliced'),
    load: ({ port }) => read(port, '/sliced', 'PURGE'),
  }),
];
