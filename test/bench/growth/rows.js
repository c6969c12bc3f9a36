// Loads played with wrk, one thing in large numbers each: CPU of the whole process tree per request or GB.
import { ask } from './loads.js';

const many = (n, text) => Array.from({ length: n }, (_, i) => text(i));
const recv = (body) => `sub vcl_recv {\n${body}\n}`;
const recvAll = (lines) => recv(lines.join('\n'));

const BIG_ACL = `acl big {\n${many(10_000, (i) => `"10.${i >> 8}.${i & 255}.0"/24;`).join('\n')}\n}\n`;

/** Stores 10,000 variants of one URL. */
async function vary(server) {
  await ask(
    server.port,
    many(10_000, (i) => ['/vary', `x-v: ${i}`]),
  );
}

/**
 * name; program (true: every request is passed); path, further headers and connections of wrk; per ('request' or 'GB');
 * prepare(server) before it; floor: a script that does no more than the system needs for it; nginx: played there too.
 */
export const ROWS = [
  { name: 'plain', nginx: true, floor: 'bare-handles.js' },
  { name: '64 KiB', path: '/64k', nginx: true },
  {
    name: '100 MB to 50 clients',
    path: '/100m',
    connections: 50,
    per: 'GB',
    storage: 'malloc,300m',
    nginx: true,
  },
  { name: 'pass', program: true, nginx: true, floor: 'bare-proxy.js' },
  {
    name: 'acl of 10,000 networks',
    program: `${BIG_ACL}${recv('if (client.ip ~ big) { set req.http.x-in = "1"; }')}`,
  },
  {
    name: '500 regexes with a literal start',
    program: recvAll(many(500, (i) => `if (req.url ~ "^/section${i}/") { set req.http.x-s = "${i}"; }`)),
  },
  {
    name: '500 regexes without one',
    program: recvAll(many(500, (i) => `if (req.url ~ "[a-z]${i}(x|y)$") { set req.http.x-s = "${i}"; }`)),
  },
  {
    name: '1,600 url ~ ... && header',
    program: recvAll(
      many(1600, (i) => `if (req.url ~ "^/s${i}/" && req.http.x-a${i % 20}) { set req.http.x-s = "${i}"; }`),
    ),
  },
  { name: '50 request headers', headers: many(50, (i) => `x-header-${i}: value of ${i}`) },
  {
    name: '10,000 variants of one URL',
    path: '/vary',
    headers: ['x-v: 5000'],
    connections: 8,
    prepare: vary,
  },
  { name: 'Connection: close', headers: ['Connection: close'], nginx: true, floor: 'bare-handles.js' },
];
