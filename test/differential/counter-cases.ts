// The traffic whose counters are compared, in groups: a case plays requests (and commands) and judges nothing; its
// connections are closed when it ends. After a group both products have counted the same, but for what `differs`
// says: by how much ours are more than Varnish's (or 'any'), and why that is meant.
import { gzipSync } from 'node:zlib';
import { type Action, type Origin, type Reply, respond, respondChunked } from '../harness/origin.ts';
import type { RunningProxy } from '../harness/proxy.ts';
import { worked } from './at-rest.ts';
import type { Player } from './runner.ts';

export interface Difference {
  more: number | 'any';
  reason: string;
}

export interface CounterGroup {
  name: string;
  cases: readonly CounterCase[];
  /** By counter, as in MAIN.client_req and VBE.default.req. */
  differs?: Readonly<Record<string, Difference>>;
}

export interface CounterCase {
  name: string;
  script?: (origin: Origin) => void;
  play: (p: Player, proxy: RunningProxy, origin: Origin) => Promise<void>;
}

const TEXT = 'The quick brown fox jumps over the lazy dog.\n';
const LONG = TEXT.repeat(60);
const FRESH = { 'Cache-Control': 'max-age=100' };

function ok(fields: Record<string, string> = {}, body: string | Buffer = TEXT): Reply {
  return respond('200 OK', { ...FRESH, ...fields }, body);
}

/** One URL, its reply and the fields of the requests for it, on one connection. */
function page(name: string, reply: Reply, ...requests: Record<string, string>[]): CounterCase {
  const url = `/${name.replaceAll(/[^a-z0-9]+/gi, '-')}`;
  return {
    name,
    script: (o) => o.on(url, reply),
    play: async (p) => {
      for (const fields of requests) await p.get(url, fields);
    },
  };
}

/** A backend that answers these bytes and closes. */
const bytes = (...texts: string[]): Reply => [
  ...texts.flatMap((send): Action[] => [{ send }, { wait: 25 }]),
  { close: true },
];
const OK_LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n';
const OK_CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

function broken(name: string, reply: Reply): CounterCase {
  return page(`backend: ${name}`, reply, {}, { 'X-Do': 'pass' });
}

/** One connection that ends in its own way. */
function ending(name: string, play: CounterCase['play']): CounterCase {
  return { name: `session: ${name}`, script: (o) => o.on('/end', ok()), play };
}

const GET = (url: string, more = ''): string => `GET ${url} HTTP/1.1\r\nHost: example.test\r\n${more}\r\n`;

const NO_CLOSE_FIELD = 'a refusal says Connection: close, which Varnish leaves out';
const TOLD_APART = 'soft purges are counted apart, too';
const RETRIES_TWICE = 'Varnish counts the bytes of the first try again with the second';

export const COUNTER_GROUPS: readonly CounterGroup[] = [
  {
    name: 'bodies of all kinds',
    cases: [
      page('hit', ok(), {}, {}, {}),
      page('chunked', respondChunked('200 OK', FRESH, [TEXT, TEXT], 30), {}, {}),
      page('until close', bytes('HTTP/1.1 200 OK\r\nCache-Control: max-age=99\r\n\r\n', TEXT), {}, {}),
      page('empty', ok({}, ''), {}, {}),
      page('no content', respond('204 No Content', FRESH), {}, {}),
    ],
  },
  {
    name: 'an interim response',
    differs: {
      '*': {
        more: 'any',
        reason: 'interim responses are passed over; Varnish takes them for the response',
      },
    },
    cases: [page('interim', [{ send: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' }, ...ok()], {})],
  },
  {
    name: 'what the program makes of a request',
    cases: [
      page('pass', ok(), { 'X-Do': 'pass' }, { 'X-Do': 'pass' }),
      page('synth', ok(), { 'X-Do': 'synth' }),
      page('restart', ok(), { 'X-Do': 'restart' }),
      page('restart until refused', ok(), { 'X-Do': 'restarts' }),
      // For an empty key: Varnish keeps the object replaced by a forced miss next to the new one until it expires.
      page('always miss', ok(), { 'X-Do': 'always-miss' }),
      page('hit for miss', ok({ 'X-Bedo': 'uncacheable' }), {}, {}, {}),
      page('hit for pass', ok({ 'X-Bedo': 'hfp' }), {}, {}, {}),
      page('not cacheable by its fields', ok({ 'Set-Cookie': 'a=b' }), {}, {}),
      page('synth from miss', ok(), { 'X-Miss': 'synth' }),
      page('pass from miss', ok(), { 'X-Miss': 'pass' }),
      page('restart from miss', ok(), { 'X-Miss': 'restart' }),
      page('pass from hit', ok(), {}, { 'X-Hit': 'pass' }),
      page('restart from hit', ok(), {}, { 'X-Hit': 'restart' }),
      page('synth from hit', ok(), {}, { 'X-Hit': 'synth' }),
      page('restart from deliver', ok(), {}, { 'X-Deliver': 'restart' }),
      page('synth from deliver', ok(), {}, { 'X-Deliver': 'synth' }),
    ],
  },
  {
    name: 'purges, variants and parts',
    differs: {
      'MAIN.n_soft_purges': { more: 1, reason: TOLD_APART },
      'MAIN.n_obj_soft_purged': { more: 1, reason: TOLD_APART },
    },
    cases: [
      page('purge', ok(), {}, { 'X-Do': 'purge' }, { 'X-Do': 'purge' }, {}),
      page('purge from hit', ok(), {}, { 'X-Hit': 'purge' }, {}),
      page('soft purge from hit', ok(), {}, { 'X-Hit': 'soft' }),
      page(
        'vary',
        ok({ Vary: 'X-Colour' }),
        { 'X-Colour': 'red' },
        { 'X-Colour': 'blue' },
        { 'X-Colour': 'red' },
      ),
      page(
        'range',
        ok({ 'Accept-Ranges': 'bytes' }, LONG),
        {},
        { Range: 'bytes=5-9' },
        { Range: 'bytes=99999-' },
      ),
      page('not modified', ok({ ETag: '"a"' }), {}, { 'If-None-Match': '"a"' }),
    ],
  },
  {
    name: 'compression',
    cases: [
      page('gzip by program', ok({ 'X-Bedo': 'gzip' }, LONG), { 'Accept-Encoding': 'gzip' }, {}),
      page(
        'gunzip by program',
        ok({ 'X-Bedo': 'gunzip', 'Content-Encoding': 'gzip' }, gzipSync(LONG)),
        {},
        {},
      ),
      page(
        'gunzip for a client',
        ok({ 'Content-Encoding': 'gzip' }, gzipSync(LONG)),
        { 'Accept-Encoding': 'gzip' },
        {},
        {},
      ),
      page(
        'broken gzip',
        [
          { send: 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 14\r\n\r\n' },
          { wait: 25 },
          { send: 'no gzip at all' },
        ],
        { 'Accept-Encoding': 'gzip' },
      ),
    ],
  },
  {
    name: 'what the program makes of a response',
    differs: {
      'VBE.default.bereq_hdrbytes': { more: -94, reason: RETRIES_TWICE },
      'VBE.default.beresp_hdrbytes': { more: -82, reason: RETRIES_TWICE },
    },
    cases: [
      page('retry', ok({ 'X-Bedo': 'retry' }), {}),
      page('abandon', ok({ 'X-Bedo': 'abandon' }), {}),
      page('error by program', ok({ 'X-Bedo': 'error' }), {}),
      page('status 500', respond('500 Broken', {}, 'x'), {}, {}),
      page('status 404', respond('404 Not Found', {}, 'x'), {}, {}),
      page('short life', respond('200 OK', { 'Cache-Control': 'max-age=2' }, 'x'), {}),
    ],
  },
  {
    name: 'responses that cannot be used',
    differs: {
      'MAIN.backend_recycle': {
        more: -1,
        reason: 'the body of a refused part is left unread',
      },
    },
    cases: [
      page('204 with a length', respond('204 No Content', { ...FRESH, 'Content-Length': '5' }), {}),
      page('304 that nobody asked for', respond('304 Not Modified', FRESH), {}),
      page(
        '206 that nobody asked for',
        respond('206 Partial Content', { 'Content-Range': 'bytes 0-4/9' }, 'hello'),
        {},
      ),
    ],
  },
  {
    name: 'grace and keep',
    cases: [
      {
        name: 'grace, then a restart',
        script: (o) => o.on('/grace-restart', ok({ 'X-Bedo': 'short' })),
        play: async (p) => {
          await p.get('/grace-restart');
          await p.sleep(150);
          await p.get('/grace-restart', { 'X-Hit': 'restart' });
          await p.fetched('/grace-restart', 2);
        },
      },
      {
        name: 'grace while somebody fetches',
        script: (o) =>
          o.on('/grace-busy', (_r, n) => (n === 1 ? ok({ 'X-Bedo': 'short' }) : [{ wait: 600 }, ...ok()])),
        play: async (p, proxy, origin) => {
          await p.get('/grace-busy');
          await p.sleep(150);
          await p.get('/grace-busy');
          await p.get('/grace-busy');
          await p.fetched('/grace-busy', 2);
          // Its connection is given back, or not, before the next case looks for one.
          await origin.answered();
          await worked(proxy);
        },
      },
      {
        name: 'grace, then a pass',
        script: (o) => o.on('/grace-pass', ok({ 'X-Bedo': 'short' })),
        play: async (p) => {
          await p.get('/grace-pass');
          await p.sleep(150);
          await p.get('/grace-pass', { 'X-Hit': 'pass' });
        },
      },
    ],
  },
  {
    name: 'methods and request bodies',
    differs: {
      'VBE.default.bereq_bodybytes': { more: -2, reason: 'Varnish writes chunk sizes with leading zeros' },
    },
    cases: [
      page('no stream', ok({ 'X-Bedo': 'nostream' }, LONG), {}, {}),
      {
        name: 'head',
        script: (o) => o.on('/head', ok()).on('/head-pass', respond('200 OK', { 'Content-Length': '45' })),
        play: async (p) => {
          await p.exchange('HEAD', '/head');
          await p.exchange('HEAD', '/head');
          await p.exchange('HEAD', '/head-pass', { 'X-Do': 'pass' });
        },
      },
      {
        name: 'request bodies',
        script: (o) => o.on('/post', ok()),
        play: async (p) => {
          await p.exchange('POST', '/post', {}, 'a=1&b=2');
          await p.raw(
            `POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
            'POST',
          );
          await p.exchange('GET', '/post', {}, 'body of a GET');
          await p.exchange('POST', '/post', { 'X-Do': 'synth' }, 'unread');
        },
      },
    ],
  },
  {
    name: 'time',
    cases: [
      {
        name: 'grace and background fetch',
        script: (o) => o.on('/grace', ok({ 'X-Bedo': 'short' })),
        play: async (p) => {
          await p.get('/grace');
          await p.sleep(150);
          await p.get('/grace');
          await p.fetched('/grace', 2);
        },
      },
      {
        name: 'background fetch fails',
        script: (o) =>
          o.on('/grace-bad', (_r, n) => (n === 1 ? ok({ 'X-Bedo': 'short' }) : bytes('nonsense\r\n\r\n'))),
        play: async (p) => {
          await p.get('/grace-bad');
          await p.sleep(150);
          await p.get('/grace-bad');
          await p.fetched('/grace-bad', 2);
        },
      },
      {
        name: 'revalidation',
        script: (o) =>
          o.on('/keep', (_r, n) =>
            n === 1 ? ok({ 'X-Bedo': 'keep', ETag: '"k"' }) : respond('304 Not Modified', FRESH),
          ),
        play: async (p) => {
          await p.get('/keep');
          await p.sleep(150);
          await p.get('/keep');
        },
      },
      {
        name: 'expiry',
        script: (o) => o.on('/gone', ok({ 'X-Bedo': 'gone' })),
        play: async (p, proxy) => {
          const before = (await proxy.counters())['MAIN.n_expired'] ?? 0;
          await p.get('/gone');
          await proxy.counterReaches('MAIN.n_expired', before + 1);
        },
      },
    ],
  },
  {
    name: 'waiting, pipelines and pipes',
    differs: {
      'MAIN.s_pipe_out': {
        more: 'any',
        reason: 'Varnish tells what a pipe moved only when its thread works again',
      },
      'MAIN.s_pipe_in': { more: 'any', reason: 'the same' },
      'MAIN.s_pipe_hdrbytes': { more: 'any', reason: 'the same' },
    },
    cases: [
      {
        name: 'waiting list',
        script: (o) => o.on('/busy', [{ wait: 600 }, ...ok()]),
        play: async (p) => {
          await p.as('a').send(GET('/busy'));
          await p.asked('/busy', 1);
          await p.as('b').send(GET('/busy'));
          await p.as('c').send(GET('/busy'));
          await p.as('a').receive();
          await p.as('b').receive();
          await p.as('c').receive();
        },
      },
      {
        name: 'pipelining',
        script: (o) => o.on('/line', ok()),
        play: (p) => p.rawMany(GET('/line').repeat(4), 4),
      },
      {
        name: 'pipe',
        script: (o) => o.on('/pipe', [...ok(), { close: true }]),
        play: async (p) => {
          await p.get('/pipe', { 'X-Do': 'pipe' });
          await p.expectClose();
        },
      },
      {
        name: 'pipe with a body',
        script: (o) => o.on('/pipe-body', [...ok(), { close: true }]),
        play: async (p) => {
          await p.exchange('POST', '/pipe-body', { 'X-Do': 'pipe' }, 'twelve bytes');
          await p.expectClose();
        },
      },
      {
        name: 'pipe to nobody',
        play: async (p) => {
          await p.send(GET('/pipe-dead', 'X-Do: pipe\r\nX-Backend: dead\r\n'));
          await p.expectClose();
        },
      },
      {
        name: 'more pipes than allowed',
        script: (o) => o.on('/pipe-slow', [{ wait: 700 }, ...ok(), { close: true }]),
        play: async (p, proxy) => {
          await proxy.adm('param.set', 'pipe_sess_max', '1');
          await p.as('a').send(GET('/pipe-slow', 'X-Do: pipe\r\n'));
          await p.asked('/pipe-slow', 1);
          await p.as('b').send(GET('/pipe-slow', 'X-Do: pipe\r\n'));
          await p.as('b').expectClose();
          await p.as('a').receive();
          await p.as('a').expectClose();
          await proxy.adm('param.reset', 'pipe_sess_max');
        },
      },
    ],
  },
  {
    name: 'eviction',
    cases: [
      {
        name: 'eviction',
        script: (o) => {
          for (let i = 0; i < 6; i++)
            o.on(`/large-${i}`, ok({ 'X-Bedo': 'small' }, Buffer.alloc(300_000, 'x')));
        },
        play: async (p) => {
          for (let i = 0; i < 6; i++) await p.get(`/large-${i}`);
        },
      },
    ],
  },
  {
    name: 'backends',
    cases: [
      page('backend: refused', ok(), { 'X-Backend': 'dead' }, { 'X-Backend': 'dead', 'X-Do': 'pass' }),
      page('backend: probed', ok(), { 'X-Backend': 'probed' }),
      page('backend: sick', ok(), { 'X-Backend': 'sick' }),
      page(
        'backend: silence',
        [{ wait: 600 }, { close: true }],
        { 'X-Backend': 'slow' },
        { 'X-Backend': 'slow', 'X-Do': 'pass' },
      ),
      broken('closes at once', [{ close: true }]),
      broken('resets', [{ reset: true }]),
      broken('garbage', bytes('nonsense\r\n\r\n')),
      broken('half a head', bytes('HTTP/1.1 200 OK\r\nContent-')),
      broken('short body', bytes(OK_LENGTH, 'short')),
      broken('bad chunks', bytes(OK_CHUNKED, '3\r\nyes\r\n', 'zz\r\nhello\r\n')),
      broken('bad length', bytes('HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello')),
      broken(
        'two framings',
        bytes('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      ),
      broken('unknown coding', bytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: what\r\n\r\nhello')),
      {
        name: 'backend: at its limit',
        script: (o) => o.on('/one-a', [{ wait: 600 }, ...ok()]).on('/one-b', ok()),
        play: async (p) => {
          await p.as('a').send(GET('/one-a', 'X-Backend: single\r\n'));
          await p.asked('/one-a', 1);
          await p.as('b').get('/one-b', { 'X-Backend': 'single' });
          await p.as('a').receive();
        },
      },
      {
        name: 'backend: a kept connection has closed',
        script: (o) => o.on('/kept', ok()),
        play: async (p, _proxy, origin) => {
          await p.get('/kept');
          await origin.endIdle();
          await p.get('/kept', { 'X-Do': 'pass' });
        },
      },
      {
        name: 'backend: set sick by command',
        script: (o) => o.on('/set-sick', ok()),
        play: async (p, proxy) => {
          await proxy.adm('backend.set_health', 'boot.single', 'sick');
          await p.get('/set-sick', { 'X-Backend': 'single' });
          await proxy.adm('backend.set_health', 'boot.single', 'auto');
        },
      },
    ],
  },
  {
    name: 'bans',
    differs: {
      'MAIN.bans_persisted_bytes': { more: 'any', reason: 'bans are not persisted' },
      'MAIN.bans_persisted_fragmentation': { more: 'any', reason: 'bans are not persisted' },
      'MAIN.bans_lurker_tested': { more: 'any', reason: 'how many objects are left of earlier groups' },
      'MAIN.bans_lurker_tests_tested': { more: 'any', reason: 'how many objects are left of earlier groups' },
    },
    cases: [
      {
        name: 'ban at lookup',
        script: (o) => o.on('/ban', ok()),
        play: async (p, proxy) => {
          await p.get('/ban');
          await proxy.adm('ban', 'req.url == /ban');
          await p.get('/ban');
          await p.get('/ban');
        },
      },
      {
        name: 'ban by the lurker',
        script: (o) => o.on('/lurk', ok({ 'X-Tag': 'lurk' })),
        play: async (p, proxy) => {
          await p.get('/lurk');
          const before = (await proxy.counters())['MAIN.bans_lurker_obj_killed'] ?? 0;
          await proxy.adm('ban', 'obj.http.X-Tag == lurk');
          await proxy.counterReaches('MAIN.bans_lurker_obj_killed', before + 1);
        },
      },
      {
        name: 'bans twice the same',
        play: async (_p, proxy) => {
          await proxy.adm('ban', 'req.url == /twice');
          await proxy.adm('ban', 'req.url == /twice');
        },
      },
      page('ban by program', ok(), { 'X-Ban': '/nowhere' }),
    ],
  },
  {
    name: 'ways in which a session ends',
    cases: [
      ending('client closes', async (p) => {
        await p.get('/end');
        p.leave();
      }),
      ending('client sends nothing', async (p) => {
        await p.send('');
        p.finish();
        await p.expectClose();
      }),
      ending('half a request', async (p) => {
        await p.send('GET /end HTTP/1.1\r\nHo');
        p.finish();
        await p.expectClose();
      }),
      ending('connection: close', async (p) => {
        await p.raw(GET('/end', 'Connection: close\r\n'));
        await p.expectClose();
      }),
      ending('version 1.0', async (p) => {
        await p.raw('GET /end HTTP/1.0\r\n\r\n');
        await p.expectClose();
      }),
      ending('version 1.0 kept', async (p) => {
        await p.raw('GET /end HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
      }),
      ending('the response closes', async (p) => {
        await p.get('/end', { 'X-Deliver': 'close' });
        await p.expectClose();
      }),
    ],
  },
  {
    name: 'refused requests',
    differs: {
      'MAIN.client_req': { more: -2, reason: 'what is refused for its Host or Expect is no good request' },
      'MAIN.s_resp_hdrbytes': { more: 'any', reason: NO_CLOSE_FIELD },
    },
    cases: [
      ending('malformed', (p) => p.bad('GET /end HTTP/1.1\r\nHost: a\r\nbad field\r\n\r\n')),
      ending('no host', (p) => p.bad('GET /end HTTP/1.1\r\n\r\n')),
      ending('two hosts', (p) => p.bad('GET /end HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')),
      ending('unknown version', (p) => p.bad('GET /end HTTP/3.7\r\nHost: a\r\n\r\n')),
      ending('junk', (p) => p.bad('\x01\x02\x03\r\n\r\n')),
      ending('expectation', (p) => p.bad(GET('/end', 'Expect: miracles\r\n'))),
      ending('a head too large', (p) => p.bad(GET('/end', `X-Large: ${'x'.repeat(40_000)}\r\n`))),
      ending('a field too large', (p) => p.bad(GET('/end', `X-Large: ${'x'.repeat(10_000)}\r\n`))),
      ending('too many fields', (p) => p.bad(GET('/end', 'X-A: b\r\n'.repeat(80)))),
    ],
  },
  {
    name: 'broken sessions',
    differs: {
      'VBE.default.bereq_bodybytes': {
        more: -5,
        reason: 'Varnish ends a broken body with a last chunk, as if it were whole',
      },
      'MAIN.s_synth': { more: 1, reason: 'PRI is answered' },
      'MAIN.client_req': { more: 1, reason: 'PRI is answered' },
      'MAIN.s_req_hdrbytes': { more: 18, reason: 'PRI is answered' },
      'MAIN.s_resp_hdrbytes': {
        more: 'any',
        reason: 'PRI is answered; a response until close does not say keep-alive',
      },
      'MAIN.s_resp_bodybytes': { more: 4, reason: 'PRI is answered' },
    },
    cases: [
      ending('a body that breaks off', async (p) => {
        await p.send('POST /end HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nshort');
        p.finish();
        await p.rest();
      }),
      ending('a bad chunk', async (p) => {
        await p.bad('POST /end HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
      }),
      ending('idle for too long', async (p, proxy) => {
        await proxy.adm('param.set', 'timeout_idle', '0.2');
        await p.get('/end');
        await p.expectClose();
        await proxy.adm('param.set', 'timeout_idle', '60');
      }),
      ending('waits between requests', async (p, proxy) => {
        await proxy.adm('param.set', 'timeout_linger', '0.1');
        await p.get('/end');
        await p.sleep(300);
        await p.get('/end');
        await p.sleep(300);
        p.leave();
        await proxy.adm('param.set', 'timeout_linger', '20');
      }),
      ending('a request that comes too slowly', async (p, proxy) => {
        await proxy.adm('param.set', 'timeout_idle', '0.2');
        await p.send('GET /end HTTP/1.1\r\n');
        await p.expectClose();
        await proxy.adm('param.set', 'timeout_idle', '60');
      }),
      ending('http/2 not accepted', async (p) => {
        await p.bad('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      }),
      {
        name: 'session: the response is cut',
        script: (o) => o.on('/cut', bytes(OK_LENGTH, 'short')),
        play: async (p) => {
          await p.get('/cut');
          await p.expectClose();
        },
      },
      {
        name: 'session: a response until close',
        script: (o) => o.on('/eof', bytes('HTTP/1.1 200 OK\r\n\r\n', TEXT)),
        play: async (p) => {
          await p.raw('GET /eof HTTP/1.0\r\nConnection: keep-alive\r\nX-Do: pass\r\n\r\n');
          await p.expectClose();
        },
      },
    ],
  },
];
