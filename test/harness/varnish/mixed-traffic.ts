// A Varnish with an example of everything distinguished by its log and counters, and traffic at an even rate: hits,
// misses, passes, hit-for-miss, pages of fragments, restarts before and after the lookup, synthetic responses, purges
// and bans, statuses, a slow page, a sick backend, one that resets, invalid requests, clients that disconnect. The
// mix is the same each time.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { Origin, respond } from '../origin.ts';
import { delay } from '../processes.ts';

export function mixedProgram(origin: Origin): string {
  return `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
backend sick {
  .host = "127.0.0.1"; .port = "9";
  .probe = { .interval = 1s; .timeout = 1s; .threshold = 1; .initial = 0; }
}
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "BAN") { ban("req.url ~ ^/ban"); return (synth(200, "Banned")); }
  if (req.url ~ "^/sick") { set req.backend_hint = sick; }
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/pipe") { return (pipe); }
  if (req.url ~ "^/moved") { return (synth(301)); }
  if (req.url ~ "^/old/") { set req.url = regsub(req.url, "^/old", "/o"); }
  if (req.url ~ "^/early" && req.restarts == 0) { return (restart); }
}
sub vcl_backend_response {
  if (bereq.url ~ "^/page") { set beresp.do_esi = true; }
  set beresp.grace = 0s;
}
sub vcl_deliver {
  if (req.url ~ "^/again" && req.restarts == 0) { set req.url = "/after" + req.url; return (restart); }
}`;
}

export async function mixedOrigin(): Promise<Origin> {
  const origin = await Origin.start();
  const kept = { 'Cache-Control': 'max-age=1000' };
  const sized = (url: string): string => 'x'.repeat(200 + (Number(/\d+/.exec(url)?.[0] ?? 0) % 40) * 300);
  origin.on('*', ({ url }) => {
    if (url.startsWith('/cookie')) return respond('200 OK', { ...kept, 'Set-Cookie': 'a=1' }, 'mine\n');
    if (url.startsWith('/none')) return respond('404 Not Found', kept, 'none\n');
    if (url.startsWith('/busy')) return respond('503 Service Unavailable', {}, 'busy\n');
    if (url.startsWith('/reset')) return [{ reset: true }];
    if (url.startsWith('/short')) return respond('200 OK', { 'Cache-Control': 'max-age=1' }, 'short\n');
    if (url.startsWith('/slow')) return [{ wait: 150 }, ...respond('200 OK', {}, sized(url))];
    if (url.startsWith('/page'))
      return respond(
        '200 OK',
        kept,
        '<p><esi:include src="/part1"/> and <esi:include src="/pass-part"/></p>\n',
      );
    return respond('200 OK', kept, sized(url));
  });
  return origin;
}

/** Of each hundred requests; `n` counts them, so that some are new. */
const MIX: readonly [number, (n: number) => [string, string]][] = [
  [45, (n) => ['GET', `/o/${[0, 0, 0, 1, 1, 2, 3, 4][n % 8]}`]],
  [3, (n) => ['GET', `/old/${n % 4}`]],
  [8, (n) => ['GET', `/new/${n}`]],
  [6, (n) => ['GET', `/pass/${n % 3}`]],
  [5, () => ['GET', '/page']],
  [4, (n) => ['GET', `/again/${n % 5}`]],
  [3, (n) => ['GET', `/early/${n % 5}`]],
  [3, (n) => ['GET', `/cookie/${n % 2}`]],
  [4, (n) => ['GET', `/none/${n % 3}`]],
  [2, () => ['GET', '/busy']],
  [3, (n) => ['GET', `/sick/${n % 2}`]],
  [1, () => ['GET', '/reset']],
  [2, () => ['GET', '/moved']],
  [2, (n) => ['GET', `/slow/${n}`]],
  [2, () => ['GET', '/short']],
  [2, (n) => ['HEAD', `/o/${n % 5}`]],
  [1, (n) => ['POST', `/o/${n % 5}`]],
  [1, () => ['GET', '/ban/1']],
  [1, () => ['PURGE', '/o/0']],
  [1, () => ['BAN', '/']],
  [1, () => ['PIPE', '/pipe']],
];

/** The kinds in turns, the frequent ones spread. */
const ORDER = MIX.flatMap(([share, make]) =>
  Array.from({ length: share }, (_, i) => ({ at: (i + 0.5) / share, make })),
).sort((a, b) => a.at - b.at);

/** Plays `seconds` of it; resolves when all is answered. Returns how many there were. */
export async function playMixed(port: number, seconds: number, rate: number): Promise<number> {
  const agents = [1, 2, 3].map(
    (n) => new Agent({ keepAlive: true, maxSockets: 8, localAddress: `127.0.0.${n}` }),
  );
  const open: Promise<void>[] = [];
  const began = performance.now();
  let n = 0;
  for (; n < seconds * rate; n++) {
    const wait = began + (n * 1000) / rate - performance.now();
    if (wait > 1) await delay(wait);
    const [method, path] = (ORDER[n % ORDER.length] as (typeof ORDER)[number]).make(n);
    if (n % 97 === 50) open.push(sendRaw(port, 'GET / HTTP/1.1\r\nbad header\r\n\r\n'));
    else if (method === 'PIPE')
      open.push(sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`));
    else
      open.push(
        send(port, method, path, agents[n % 10 < 6 ? 0 : n % 10 < 9 ? 1 : 2] as Agent, n % 89 === 40),
      );
  }
  await Promise.all(open);
  for (const agent of agents) agent.destroy();
  return n;
}

/** `leaves`: without waiting for the answer. */
function send(port: number, method: string, path: string, agent: Agent, leaves: boolean): Promise<void> {
  return new Promise((resolve) => {
    const headers = { Host: 'shop.example', ...(method === 'POST' ? { 'Content-Length': 3 } : {}) };
    const asked = request(
      { host: '127.0.0.1', port, method, path, agent: leaves ? false : agent, headers },
      (answer) => {
        answer.resume();
        answer.on('close', () => resolve());
      },
    );
    asked.on('error', () => resolve());
    asked.end(method === 'POST' ? 'a=b' : undefined, () => {
      if (leaves) asked.destroy();
    });
    asked.on('close', () => resolve());
  });
}

function sendRaw(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.resume();
  });
}
