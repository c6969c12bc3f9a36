// Input of clients and origins: many requests at once, many variants, heads and bodies in small pieces.
import { connect } from 'node:net';
import { sleep } from '../../servers/start.js';

const LIMITS = ['-p', 'http_max_hdr=65535', '-p', 'http_req_size=16m', '-p', 'http_req_hdr_len=8m'];
const VARNISH_LIMITS = [
  '-p',
  'http_max_hdr=65535',
  '-p',
  'http_req_size=16m',
  '-p',
  'http_req_hdr_len=8m',
  '-p',
  'workspace_client=32m',
  '-p',
  'workspace_backend=32m',
];

const LARGE = Buffer.alloc(8 << 20, 'x');

const request = (path, fields = '', method = 'GET') =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n`;

/** Writes a text and resolves once this many responses have begun, or when the connection ends. */
function exchange(port, text, answers) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let seen = 0;
    let tail = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      const all = tail + data;
      seen += all.split('HTTP/1.1 ').length - 1;
      // A part of the mark, at the most.
      tail = all.slice(-8);
      if (seen >= answers) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(seen));
  });
}

/** n clients that send one request each, all at once. */
async function together(port, n, textOf) {
  const sockets = await Promise.all(
    Array.from(
      { length: n },
      () =>
        new Promise((resolve) => {
          const socket = connect(port, '127.0.0.1', () => resolve(socket));
          socket.on('error', () => undefined);
        }),
    ),
  );
  return Promise.all(
    sockets.map(
      (socket, i) =>
        new Promise((resolve) => {
          socket.once('data', () => {
            socket.destroy();
            resolve();
          });
          socket.once('close', resolve);
          socket.write(textOf(i));
        }),
    ),
  );
}

/** A path that each daemon asks its origin for once. */
let number = 0;
const fresh = () => `/fresh${number++}`;

/** An origin that takes its time for the first request, so that all others wait for it. */
const slowOrigin = (answer) => {
  const seen = new Set();
  return (req, res) => {
    const isFirst = !seen.has(req.url);
    seen.add(req.url);
    if (!isFirst) answer(req, res, false);
    // Others come in meanwhile, however many.
    else setTimeout(() => answer(req, res, true), 1500);
  };
};

const cached = (res, fields = {}, body = 'body') => {
  res.writeHead(200, { 'Cache-Control': 'max-age=1000', ...fields });
  res.end(body);
};

/** Milliseconds. A crowd is many clients, each of which asks for one thing that is ready when its request is read. Nobody
 * can be served before those who came first, so that its turn is what its requests cost: for 5,000 of them compare with
 * the row of as many hits. */
const CROWD = 50;

const waiting = (name, answer, program = undefined) => ({
  name,
  sizes: [50, 500, 5000],
  aim: CROWD,
  varnish: true,
  varnishArgs: () => ['-p', 'thread_pool_max=5000', '-p', 'thread_pool_min=500'],
  ...(program === undefined ? {} : { program: () => program }),
  origin: slowOrigin(answer),
  load: async ({ port, n }) => {
    const path = fresh();
    await together(port, n, () => request(path));
  },
});

const variants = (names) => ({
  name: `variants of one URL fetched at once, Vary of ${names} names`,
  sizes: [50, 500, 5000],
  aim: CROWD,
  varnish: true,
  varnishArgs: () => ['-p', 'thread_pool_max=5000', '-p', 'thread_pool_min=500'],
  origin: slowOrigin((_req, res) =>
    cached(res, { Vary: Array.from({ length: names }, (_, i) => `X-Part-${i}`).join(', ') }),
  ),
  load: async ({ port, n }) => {
    const path = fresh();
    const fields = Array.from({ length: names - 1 }, (_, i) => `X-Part-${i}: some value\r\n`).join('');
    await together(port, n, (i) => request(path, `${fields}X-Part-${names - 1}: ${i}\r\n`));
  },
});

/** A raw answer in chunks of one byte, over the response's own socket. */
function inBytes(_req, res, n) {
  const { socket } = res;
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: max-age=1000\r\n\r\n');
  socket.end(`${'1\r\nx\r\n'.repeat(n)}0\r\n\r\n`);
}

/** When all objects of the row about expiry end, in milliseconds of the clock. */
let ends = 0;

export default [
  {
    name: 'pipelined hits in one write',
    sizes: [100, 1000, 10_000],
    aim: 10,
    varnish: true,
    load: ({ port, n }) => exchange(port, request('/page').repeat(n), n),
  },
  {
    name: 'pipelined uploads of one byte, answered at once',
    sizes: [100, 1000, 10_000],
    aim: 10,
    varnish: true,
    program: () => 'sub vcl_recv { if (req.method == "POST") { return (synth(204)); } }',
    load: ({ port, n }) =>
      exchange(port, `${request('/page', 'Content-Length: 1\r\n', 'POST')}x`.repeat(n), n),
  },
  {
    name: 'clients that get a hit',
    sizes: [50, 500, 5000],
    aim: CROWD,
    varnish: true,
    nginx: () => '',
    varnishArgs: () => ['-p', 'thread_pool_max=5000', '-p', 'thread_pool_min=500'],
    load: ({ port, n }) => together(port, n, () => request('/page')),
  },
  waiting('clients that wait for what becomes hit-for-miss', (_req, res) => {
    res.writeHead(200, { 'Cache-Control': 'private, max-age=0', 'Set-Cookie': 'a=1' });
    res.end('body');
  }),
  waiting('clients that wait for what fails', (req) => req.socket.destroy()),
  waiting('clients that wait for what becomes a hit', (_req, res) => cached(res)),
  {
    name: 'clients that leave while they wait',
    sizes: [50, 500, 5000],
    aim: 10,
    varnish: false,
    origin: (_req, res) => setTimeout(() => cached(res), 4000),
    load: async ({ port, n }) => {
      const text = request(fresh());
      const sockets = Array.from({ length: n }, () => connect(port, '127.0.0.1'));
      for (const socket of sockets) {
        socket.on('error', () => undefined);
        socket.write(text);
      }
      await sleep(2000);
      for (const socket of sockets) socket.destroy();
      await sleep(3000);
    },
  },
  {
    name: 'clients that get what is in grace',
    sizes: [50, 500, 5000],
    aim: CROWD,
    varnish: true,
    varnishArgs: () => ['-p', 'thread_pool_max=5000', '-p', 'thread_pool_min=500'],
    program: () =>
      'sub vcl_backend_response { if (bereq.url != "/page") { set beresp.ttl = 1s; set beresp.grace = 1h; } }',
    origin: (_req, res) => cached(res),
    load: async ({ port, n }) => {
      const path = fresh();
      await exchange(port, request(path), 1);
      await sleep(1500);
      await together(port, n, () => request(path));
    },
  },
  {
    name: 'clients that read in pieces what is being fetched',
    sizes: [50, 500, 5000],
    aim: 10,
    varnish: true,
    varnishArgs: () => ['-p', 'thread_pool_max=5000', '-p', 'thread_pool_min=500'],
    origin: (_req, res) => {
      res.writeHead(200, { 'Cache-Control': 'max-age=1000' });
      let left = 5;
      const piece = () => {
        if (left-- === 0) res.end();
        else {
          res.write('x'.repeat(100));
          setTimeout(piece, 1000);
        }
      };
      piece();
    },
    load: async ({ port, n }) => {
      const path = fresh();
      await Promise.all(
        Array.from({ length: n }, () =>
          exchange(port, request(path, 'Connection: close\r\n'), Number.POSITIVE_INFINITY),
        ),
      );
    },
  },
  variants(31),
  variants(1),
  {
    name: 'clients that each have another object fetched',
    sizes: [50, 500, 5000],
    aim: 10,
    varnish: true,
    varnishArgs: () => ['-p', 'thread_pool_max=5000', '-p', 'thread_pool_min=500'],
    nginx: () => '',
    origin: (_req, res) => cached(res),
    load: async ({ port, n }) => {
      await together(port, n, () => request(fresh()));
    },
  },
  {
    name: 'fetches of bodies of 8 MiB',
    sizes: [3, 30, 300],
    aim: 10,
    varnish: true,
    nginx: () => '',
    origin: (_req, res) => {
      res.writeHead(200, { 'Cache-Control': 'max-age=1000', 'Content-Length': LARGE.length });
      res.end(LARGE);
    },
    load: async ({ port, n }) => {
      const paths = Array.from({ length: n }, fresh);
      await Promise.all(
        paths.map((path) => exchange(port, request(path, 'Connection: close\r\n'), Number.POSITIVE_INFINITY)),
      );
    },
  },
  {
    name: "an origin's body in chunks of one byte",
    sizes: [1000, 10_000, 100_000, 1_000_000],
    aim: 50,
    varnish: true,
    origin: inBytes,
    load: ({ port }) => exchange(port, request(fresh(), 'Connection: close\r\n'), Number.POSITIVE_INFINITY),
  },
  {
    name: 'Connection with names, limits raised',
    sizes: [90, 900, 9000],
    aim: 50,
    varnish: true,
    args: () => LIMITS,
    varnishArgs: () => VARNISH_LIMITS,
    load: async ({ port, n }) => {
      const names = Array.from({ length: n }, (_, i) => `x-name-${i}`);
      const fields = names.map((name) => `${name}: 1\r\n`).join('');
      await exchange(port, request('/page', `Connection: ${names.join(', ')}\r\n${fields}`), 1);
    },
  },
  {
    name: 'lines of Connection, limits raised',
    sizes: [90, 900, 9000],
    aim: 50,
    varnish: true,
    args: () => LIMITS,
    varnishArgs: () => VARNISH_LIMITS,
    load: async ({ port, n }) => {
      const fields = Array.from({ length: n }, (_, i) => `Connection: x-name-${i}\r\n`).join('');
      await exchange(port, request('/page', fields), 1);
    },
  },
  {
    name: 'cookies in one header, limits raised, read and filtered',
    sizes: [100, 1000, 10_000],
    aim: 50,
    varnish: true,
    args: () => LIMITS,
    varnishArgs: () => VARNISH_LIMITS,
    program: () => `import cookie;
sub vcl_recv {
  cookie.parse(req.http.cookie);
  cookie.filter_re("^name1");
  cookie.keep_re("^name");
  cookie.delete("name5");
  set req.http.Cookie = cookie.get_string();
  unset req.http.Cookie;
}`,
    load: async ({ port, n }) => {
      const text = Array.from({ length: n }, (_, i) => `name${i}=value${i}`).join('; ');
      for (let i = 0; i < 5; i++) await exchange(port, request('/page', `Cookie: ${text}\r\n`), 1);
    },
  },
  {
    name: 'lines of Cookie, limits raised, read and filtered',
    sizes: [100, 1000, 10_000],
    aim: 50,
    varnish: true,
    args: () => LIMITS,
    varnishArgs: () => VARNISH_LIMITS,
    program: () => `import cookie;
import std;
sub vcl_recv {
  std.collect(req.http.Cookie, "; ");
  cookie.parse(req.http.cookie);
  cookie.filter_re("^name1");
  set req.http.Cookie = cookie.get_string();
  unset req.http.Cookie;
}`,
    load: async ({ port, n }) => {
      const text = Array.from({ length: n }, (_, i) => `Cookie: name${i}=value${i}\r\n`).join('');
      for (let i = 0; i < 5; i++) await exchange(port, request('/page', text), 1);
    },
  },
  {
    name: 'names of two lines each, limits raised, all collected',
    sizes: [45, 450, 4500],
    aim: 50,
    args: () => LIMITS,
    program: () => 'import std; sub vcl_recv { std.collect_all(req); }',
    load: async ({ port, n }) => {
      const text = Array.from({ length: 2 * n }, (_, i) => `X-Name-${i % n}: ${i}\r\n`).join('');
      for (let i = 0; i < 5; i++) await exchange(port, request('/page', text), 1);
    },
  },
  {
    name: 'objects that expire in one second',
    sizes: [2000, 20_000, 200_000],
    aim: 50,
    program: () =>
      'sub vcl_backend_response { if (bereq.url != "/page") { set beresp.grace = 0s; set beresp.keep = 0s; } }',
    origin: (_req, res) =>
      cached(res, { 'Cache-Control': `max-age=${Math.max(1, Math.round((ends - Date.now()) / 1000))}` }),
    prepare: async ({ port, n }) => {
      ends = Date.now() + 5000 + n / 2;
      let next = 0;
      const one = async () => {
        while (next < n) {
          const first = next;
          next += 50;
          const text = Array.from({ length: 50 }, (_, i) => request(`/expires${first + i}`)).join('');
          await exchange(port, text, 50);
        }
      };
      await Promise.all(Array.from({ length: 20 }, one));
      if (Date.now() > ends - 2000) throw new Error('some have ended already');
      await sleep(ends - Date.now() - 1500);
    },
    load: () => sleep(4000),
  },
];
