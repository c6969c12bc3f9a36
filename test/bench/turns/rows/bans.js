// Bans, purges by key, substitutions and limits of rates.
import { get } from 'node:http';
import { connect as open } from 'node:net';

const NESTED = Array.from({ length: 27 }, (_, i) => `(?:(?:${String.fromCharCode(97 + (i % 26))}+)+x+)+y`);

/** Writes requests in one go on one connection and waits until it has closed. */
function pipeline(port, requests) {
  return new Promise((resolve, reject) => {
    const socket = open(port, '127.0.0.1');
    socket.on('error', reject).on('end', resolve).resume();
    socket.write(requests.join(''));
  });
}

const request = (path, fields = '', close = false) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}${close ? 'Connection: close\r\n' : ''}\r\n`;

/** One request on a connection of its own. It is served here; Varnish fails where the limit of a match is reached. */
function one({ port, by }, path) {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 || by === 'varnish'
          ? resolve()
          : reject(new Error(`status ${response.statusCode}`)),
      );
    }).on('error', reject);
  });
}

/** Asks for paths on some connections, one after another on each. */
async function ask(port, paths, fields = () => '') {
  const sockets = 16;
  const each = Math.ceil(paths.length / sockets);
  await Promise.all(
    Array.from({ length: sockets }, async (_, s) => {
      const own = paths.slice(s * each, (s + 1) * each);
      for (let i = 0; i < own.length; i += 100) {
        const part = own.slice(i, i + 100);
        await pipeline(
          port,
          part.map((path, k) => request(path, fields(path), k === part.length - 1)),
        );
      }
    }),
  );
}

const count = (n, of) => Array.from({ length: n }, (_, i) => of(i));

function substitution(name, pattern, unit) {
  const path = (n) => `/${unit.repeat((n - 1) / unit.length)}`;
  return {
    name: `regsuball of a URL, ${name}; bytes`,
    sizes: [300, 3000, 30_000],
    aim: 10,
    varnish: true,
    program: () =>
      `sub vcl_recv { if (req.url != "/page") {
        set req.http.x = regsuball(req.url, "${pattern}", "d"); return (synth(200)); } }`,
    // The first ones of a process run before the matcher is compiled (decision 8), and take five times as long.
    prepare: async (played) => {
      for (let i = 0; i < 64; i++) await one(played, path(played.n));
    },
    load: (played) => one(played, path(played.n)),
  };
}

/** `add` bans that match nothing, from a program. */
const BANS = `import std;
sub vcl_recv {
  if (req.url ~ "^/ban/") { ban("obj.http.x == " + req.url); return (synth(200)); }
}`;
const NO_LURKER = () => ['-p', 'ban_lurker_sleep=0'];
const addBans = ({ port, n }) =>
  ask(
    port,
    count(n, (i) => `/ban/${i}`),
  );

const listed = (json) => ({
  name: `ban.list${json ? ' -j' : ''}, all of it; bans`,
  sizes: [500, 5000, 50_000],
  aim: 50,
  manager: true,
  program: () => BANS,
  args: () => [...NO_LURKER(), '-p', 'cli_limit=99999999b'],
  varnishArgs: () => [...NO_LURKER(), '-p', 'cli_limit=99999999b'],
  prepare: addBans,
  load: async ({ adm }) => {
    await adm(`ban.list${json ? ' -j' : ''}`);
  },
});

const PURGES = `import xkey;
sub vcl_recv {
  if (req.url == "/purge") {
    if (req.http.soft) { xkey.softpurge(req.http.soft); }
    xkey.purge(req.http.keys);
    return (synth(200));
  }
}`;

const ROOM = () => [
  ...['-p', 'http_req_hdr_len=128k', '-p', 'http_req_size=512k', '-p', 'workspace_client=1m'],
  ...['-p', 'workspace_backend=1m', '-p', 'http_resp_size=512k', '-p', 'http_resp_hdr_len=128k'],
];

/** Eight objects a key. */
function purged(name, fields, single) {
  return {
    name: `${name}, 8 objects a key; keys`,
    sizes: [45, 450, 4500],
    aim: 50,
    program: () => PURGES,
    args: ROOM,
    origin: (asked, response) => {
      const [, key] = asked.url.split('/');
      response.writeHead(200, { 'Cache-Control': 'max-age=100000', xkey: `k${key}` });
      response.end('x');
    },
    prepare: ({ port, n }) =>
      ask(
        port,
        count(8 * n, (i) => `/${i % n}/${i}`),
      ),
    load: ({ port, n }) => {
      const keys = count(n, (i) => `k${i}`);
      return single
        ? pipeline(port, [request('/purge', fields(keys.join(' ')), true)])
        : pipeline(
            port,
            keys.map((key, i) => request('/purge', fields(key), i === n - 1)),
          );
    },
  };
}

const DENIES = `import vsthrottle;
sub vcl_recv {
  if (req.url ~ "^/key/") {
    if (vsthrottle.is_denied(req.url, 5, 100s)) { return (synth(429)); }
    return (synth(200));
  }
}`;

export default [
  substitution('27 alternatives of nested repeats', `${NESTED.join('|')}|c`, 'c'),
  substitution('one nested repeat', '(?:(?:a+)+b+)+|c', 'c'),
  substitution('a lookbehind', '(?<=c)c', 'c'),
  purged(
    'xkey.softpurge and xkey.purge, a request for each key',
    (key) => `soft: ${key}\r\nkeys: ${key}\r\n`,
    false,
  ),
  purged('xkey.softpurge and xkey.purge of all keys', (keys) => `soft: ${keys}\r\nkeys: ${keys}\r\n`, true),
  purged('xkey.purge of all keys', (keys) => `keys: ${keys}\r\n`, true),
  {
    name: 'vsthrottle, 20,000 new keys beside so many; keys',
    sizes: [22_000, 242_000, 402_000],
    aim: 50,
    program: () => DENIES,
    prepare: ({ port, n }) =>
      ask(
        port,
        count(n, (i) => `/key/${i}`),
      ),
    load: ({ port }) =>
      ask(
        port,
        count(20_000, (i) => `/key/new${i}`),
      ),
  },
  listed(false),
  listed(true),
  {
    name: '200 ban() in one write beside so many; bans',
    sizes: [500, 5000, 50_000],
    aim: 10,
    varnish: true,
    program: () => BANS,
    args: NO_LURKER,
    varnishArgs: NO_LURKER,
    prepare: addBans,
    load: ({ port }) =>
      pipeline(
        port,
        count(200, (i) => request(`/ban/new${i}`, '', i === 199)),
      ),
  },
  {
    name: 'a round of the lurker, one object; bans',
    sizes: [500, 5000, 50_000],
    aim: 10,
    varnish: true,
    program: () => BANS,
    args: () => [...NO_LURKER(), '-p', 'ban_lurker_age=0'],
    varnishArgs: () => [...NO_LURKER(), '-p', 'ban_lurker_age=0'],
    prepare: addBans,
    load: async ({ adm }) => {
      await adm('param.set ban_lurker_sleep 0.01');
      await new Promise((resolve) => setTimeout(resolve, 500));
    },
  },
];
