// Pages of edge-side includes: of very many statements, within pages, for very many clients.
import { get } from 'node:http';
import { gzipSync } from 'node:zlib';

const PROGRAM = 'sub vcl_backend_response { if (beresp.http.X-Esi == "1") { set beresp.do_esi = true; } }';
/** Includes of a page that includes itself. */
const EACH = 10;

const text = (size) => '<p>9973 price of the basket</p>\n'.repeat(size / 16).slice(0, size);
const include = (path) => `<esi:include src="${path}"/>`;
const many = (each) => (n) => `<html>${Array.from({ length: n }, (_, i) => each(i)).join('')}</html>`;
const ONE = { '/one': () => text(300) };

function read(port, path, isPacked) {
  return new Promise((resolve, reject) => {
    const headers = isPacked ? { 'Accept-Encoding': 'gzip' } : {};
    get({ port, host: '127.0.0.1', path, agent: false, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
      response.resume();
      response.on('end', resolve);
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** The row of a page that is fetched; `fragments` are the bodies of what it includes. */
function fetched({ name, body, fragments = {}, isPacked = false }) {
  const made = new Map();
  const bytesOf = (path, n) => {
    const key = `${path} ${n}`;
    if (!made.has(key)) {
      const whole = fragments[path]?.(n) ?? body(n);
      made.set(key, isPacked ? gzipSync(whole) : Buffer.from(whole));
    }
    return made.get(key);
  };
  return {
    name,
    sizes: [1000, 10_000, 100_000],
    aim: 10,
    varnish: true,
    program: () => PROGRAM,
    origin({ url }, response, n) {
      const bytes = bytesOf(url, n);
      response.writeHead(200, {
        'Cache-Control': 'max-age=10000',
        'Content-Length': bytes.length,
        'X-Esi': fragments[url] === undefined ? '1' : '0',
        ...(isPacked ? { 'Content-Encoding': 'gzip' } : {}),
      });
      setTimeout(() => response.end(bytes), url === '/slow' ? 100 : 0);
    },
    prepare: ({ port, n }) => {
      // Not to be made while others wait.
      bytesOf('/page-of-many', n);
      return fragments['/one'] === undefined ? undefined : read(port, '/one', isPacked);
    },
    load: ({ port }) => read(port, '/page-of-many', isPacked),
  };
}

/** The row of the same page out of the cache. */
function cached(kind) {
  const row = fetched(kind);
  return { ...row, name: `${row.name}, a hit`, prepare: row.load };
}

const both = (kind) => [fetched(kind), cached(kind)];
const depthOf = (n) => ['-p', `max_esi_depth=${String(n).length - 1}`];

const ofIncludes = {
  name: 'a page of includes of one object',
  body: many(() => `${include('/one')}\n`),
  fragments: ONE,
};
const ofRemoves = { name: 'a page of removes', body: many((i) => `${i % 10}<esi:remove>x</esi:remove>`) };
const ofComments = { name: 'a page of comments', body: many((i) => `${i % 10}<esi:comment text="x"/>`) };

export default [
  {
    ...cached({
      name: `pages of one that includes itself ${EACH} times`,
      body: () => `<html>${include('/page-of-many').padEnd(59, ' ').repeat(EACH)}</html>`,
    }),
    sizes: [1111, 11_111, 111_111],
    args: depthOf,
    varnishArgs: depthOf,
  },
  ...both(ofIncludes),
  ...both(ofRemoves),
  ...both(ofComments),
  ...both({
    ...ofIncludes,
    name: 'a packed page of includes of one object',
    // With text between them the plan of the last size finds no place in one block of the store.
    body: many(() => include('/one')),
    isPacked: true,
  }),
  ...both({ ...ofRemoves, name: 'a packed page of removes', isPacked: true }),
  {
    ...fetched({
      name: 'a packed fragment of so many KB',
      body: () => `<html>${include('/one')}</html>`,
      fragments: {
        '/one': (n) =>
          Array.from({ length: n * 64 }, (_, i) => (i * 2654435761).toString(36).padEnd(16, 'ab')).join(''),
      },
      isPacked: true,
    }),
    sizes: [300, 3000, 30_000],
  },
  fetched({
    name: 'a page of a slow fragment and of a cached one many times',
    body: (n) => `<html>${include('/slow')}${many(() => include('/one'))(n)}</html>`,
    fragments: { ...ONE, '/slow': () => 'slow' },
  }),
  {
    ...cached({
      name: 'clients of a page of 100 includes',
      body: () => many(() => include('/one'))(100),
      fragments: ONE,
    }),
    sizes: [20, 200, 2000],
    aim: 50,
    load: ({ port, n }) => Promise.all(Array.from({ length: n }, () => read(port, '/page-of-many'))),
  },
];
