// Requests to a real proxyd that produce records for each rule of "why?". A step is a request or an admin command;
// every request carries the name of its case, by which the test finds it.

export type CaseStep =
  | {
      get: string;
      headers?: Record<string, string>;
      method?: string;
      body?: string;
      /** Sent unchanged after the head. */
      raw?: string;
      together?: number;
    }
  | { command: string }
  | { wait: number };

export interface WhyCase {
  name: string;
  steps: readonly CaseStep[];
}

const get = (url: string, headers: Record<string, string> = {}): CaseStep => ({ get: url, headers });

export const WHY_CASES: readonly WhyCase[] = [
  { name: 'never seen', steps: [get('/plain')] },
  { name: 'hit', steps: [get('/plain')] },
  { name: 'expired', steps: [get('/short'), { wait: 1.4 }, get('/short')] },
  { name: 'hit-for-miss: Set-Cookie', steps: [get('/set-cookie'), get('/set-cookie')] },
  { name: 'hit-for-miss: private', steps: [get('/private'), get('/private')] },
  { name: 'hit-for-miss: no-store', steps: [get('/no-store'), get('/no-store')] },
  { name: 'hit-for-miss: Vary *', steps: [get('/vary-all'), get('/vary-all')] },
  { name: 'hit-for-miss: program', steps: [get('/uncacheable'), get('/uncacheable')] },
  { name: 'hit-for-pass', steps: [get('/hfp'), get('/hfp')] },
  { name: 'no lifetime', steps: [get('/zero'), get('/zero')] },
  {
    name: 'other variant',
    steps: [get('/vary', { 'Accept-Language': 'de' }), get('/vary', { 'Accept-Language': 'fr' })],
  },
  { name: 'purged', steps: [get('/purge-me'), { get: '/purge-me', method: 'FLUSH' }, get('/purge-me')] },
  {
    name: 'purged by recipe',
    steps: [get('/recipe'), { get: '/recipe', method: 'PURGE' }, get('/recipe')],
  },
  { name: 'purged in vain', steps: [{ get: '/nothing', method: 'PURGE' }, get('/nothing')] },
  {
    name: 'soft purge',
    steps: [get('/softly'), { get: '/softly', method: 'SOFTPURGE' }, get('/softly')],
  },
  {
    name: 'purged by key',
    steps: [get('/keyed'), { get: '/', method: 'PURGE', headers: { xkey: 'blue pink' } }, get('/keyed')],
  },
  {
    name: 'soft purge by key',
    steps: [get('/keyed'), { get: '/', method: 'SOFTPURGE', headers: { xkey: 'blue' } }, get('/keyed')],
  },
  {
    name: 'banned over HTTP',
    steps: [
      get('/ban-http'),
      { get: '/', method: 'BAN', headers: { 'X-Ban': 'req.url == /ban-http' } },
      get('/ban-http'),
    ],
  },
  { name: 'refreshed', steps: [get('/refresh'), { get: '/refresh', method: 'REFRESH' }] },
  { name: 'synth after lookup', steps: [get('/synth-in-miss')] },
  { name: 'banned by url', steps: [get('/ban-me'), { command: 'ban req.url == /ban-me' }, get('/ban-me')] },
  {
    name: 'banned by tag',
    steps: [get('/tagged'), { command: 'ban obj.http.xkey ~ red' }, get('/tagged')],
  },
  { name: 'cookie', steps: [get('/plain', { Cookie: 'session=1' })] },
  { name: 'authorization', steps: [get('/plain', { Authorization: 'Basic eDp5' })] },
  { name: 'method', steps: [{ get: '/plain', method: 'POST', body: 'x=1' }] },
  { name: 'return pass', steps: [get('/pass')] },
  { name: 'pass after hit', steps: [get('/pass-in-hit'), get('/pass-in-hit')] },
  { name: 'pipe', steps: [{ get: '/plain', method: 'BREW' }] },
  { name: 'synth', steps: [get('/synth')] },
  { name: 'grace', steps: [get('/grace'), { wait: 0.5 }, get('/grace')] },
  { name: 'streaming', steps: [{ get: '/dribble', together: 2 }] },
  { name: 'waited', steps: [{ get: '/slow', together: 2 }] },
  { name: 'did not wait', steps: [{ get: '/slow?busy', headers: { 'X-Busy': '1' }, together: 2 }] },
  { name: 'waited in vain', steps: [{ get: '/slow?fail', headers: { 'X-Fail': '1' }, together: 2 }] },
  { name: 'closed', steps: [get('/close')] },
  { name: 'refused', steps: [get('/refused')] },
  { name: 'first byte', steps: [get('/stall')] },
  { name: 'backend says 500', steps: [get('/fail')] },
  {
    name: 'sick',
    steps: [
      { command: 'backend.set_health shop sick' },
      get('/sick'),
      { command: 'backend.set_health shop auto' },
    ],
  },
  { name: 'restart', steps: [get('/restart')] },
  ...[
    'fail-in-fetch',
    'fail-in-response',
    'abandon-in-response',
    'error-in-response',
    'fail-after-retry',
  ].map((path) => ({ name: path.replaceAll('-', ' '), steps: [get(`/${path}`), get(`/${path}`)] })),
  { name: 'retried too often', steps: [get('/retry-always'), get('/retry-always')] },
  { name: 'error with a lifetime', steps: [get('/kept-error'), get('/kept-error')] },
  { name: 'retried', steps: [get('/retry-once'), get('/retry-once')] },
  {
    name: 'kept, then started again',
    steps: [get('/restarted', { 'X-Again': '1' }), { wait: 1.4 }, get('/restarted')],
  },
  {
    name: 'purged, then failed',
    steps: [
      get('/fails-later'),
      { get: '/fails-later', method: 'FLUSH' },
      get('/fails-later', { 'X-Fail': '1' }),
      get('/fails-later'),
    ],
  },
  { name: 'not kept', steps: [get('/flaky'), get('/flaky')] },
  {
    name: 'removed',
    steps: [
      { command: 'param.set ban_lurker_age 0.1' },
      get('/evict-me'),
      { command: 'ban obj.http.x-evict == 1' },
      { wait: 1.5 },
      get('/evict-me'),
    ],
  },
  { name: 'bad request', steps: [get('/plain', { 'Bad Name': 'x' })] },
  { name: 'two hosts', steps: [get('/plain', { host: 'other.example' })] },
  {
    name: 'bad upload',
    steps: [
      { get: '/plain', method: 'POST', headers: { 'Transfer-Encoding': 'chunked' }, raw: '5 \r\nhello' },
    ],
  },
  { name: 'two lengths', steps: [get('/two-lengths')] },
  { name: 'bad head', steps: [get('/bad-head')] },
  { name: 'bad chunk', steps: [get('/bad-chunk')] },
  { name: 'program error', steps: [get('/vcl-error')] },
];

/** The program under which the cases are played; `port` is the origin's. */
export function whyProgram(port: number): string {
  return `vcl 4.1;
backend shop { .host = "127.0.0.1"; .port = "${port}"; .first_byte_timeout = 0.4s; }
backend nobody { .host = "127.0.0.1"; .port = "1"; }
acl invalidators { "127.0.0.1"; }
include "invalidate.vcl";
sub vcl_recv {
  set req.backend_hint = shop;
  if (req.http.X-Busy) { set req.hash_ignore_busy = true; }
  if (req.method == "FLUSH") { return (purge); }
  if (req.url == "/pass") { return (pass); }
  if (req.url == "/synth") { return (synth(418, "Teapot")); }
  if (req.url == "/vcl-error") { return (fail("told to")); }
  if (req.url == "/refused") { set req.backend_hint = nobody; }
  if (req.url == "/restart" && req.restarts == 1) { set req.url = "/plain"; }
}
sub vcl_hit {
  if (req.url == "/pass-in-hit") { return (pass); }
}
sub vcl_miss {
  if (req.url == "/synth-in-miss") { return (synth(404, "Not here")); }
}
sub vcl_backend_fetch {
  if (bereq.url == "/fail-in-fetch") { return (fail); }
  if (bereq.url == "/kept-error") { set bereq.backend = nobody; }
}
sub vcl_backend_error {
  if (bereq.url == "/kept-error") { set beresp.ttl = 60s; return (deliver); }
}
sub vcl_backend_response {
  if (bereq.url == "/fail-in-response" || bereq.http.X-Fail) { return (fail); }
  if (bereq.url == "/abandon-in-response") { return (abandon); }
  if (bereq.url == "/error-in-response") { return (error(502, "Not so")); }
  if (bereq.url == "/retry-always" || (bereq.url ~ "^/(retry-once|fail-after-retry)$" && bereq.retries == 0)) { return (retry); }
  if (bereq.url == "/fail-after-retry") { return (fail); }
  if (bereq.url == "/restarted") { set beresp.ttl = 1s; set beresp.grace = 0s; }
  if (bereq.url == "/hfp") { return (pass(60s)); }
  if (bereq.url == "/uncacheable") { set beresp.uncacheable = true; }
  if (bereq.url == "/grace") { set beresp.ttl = 0.2s; set beresp.grace = 60s; }
  if (bereq.url == "/short") { set beresp.grace = 0s; }
}
sub vcl_deliver {
  if ((req.url == "/restart" || req.http.X-Again) && req.restarts == 0) { return (restart); }
}
`;
}
