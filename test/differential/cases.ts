// The exchanges that are played against both products. A case scripts the origin under its own URLs and
// plays requests; it judges nothing, since what counts is that both products do the same.
import { gzipSync } from 'node:zlib';
import { type Origin, type Reply, respond, respondChunked } from '../harness/origin.ts';
import type { Player } from './runner.ts';
import { STRICT_CASES } from './strict-cases.ts';

export interface Case {
  name: string;
  /** One client, and an origin that neither waits nor closes: what happens is no matter of time. */
  timeless?: boolean;
  script?: (origin: Origin) => void;
  play: (p: Player) => Promise<void>;
}

const TEXT = 'The quick brown fox jumps over the lazy dog.\n';
const FRESH = { 'Cache-Control': 'max-age=100', 'Content-Type': 'text/plain' };
const LONG = Buffer.from(TEXT.repeat(60), 'latin1');
/** A body no two kilobytes of which are alike. */
const MEGABYTE = Buffer.from(
  Uint8Array.from({ length: 1_000_000 }, (_, i) => (i * 31 + (i >> 8) * 17 + (i >> 16)) & 0xff),
);

function ok(fields: Record<string, string> = {}, body: string | Buffer = TEXT): Reply {
  return respond('200 OK', { ...FRESH, ...fields }, body);
}

/** A case of one URL: the reply, and the requests on one connection. */
function page(name: string, reply: Reply, requests: Record<string, string>[]): Case {
  const url = `/${name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`;
  return {
    name,
    script: (o) => o.on(url, reply),
    play: async (p) => {
      for (const fields of requests) await p.get(url, fields);
    },
  };
}

const TWICE = [{}, {}];

export const CASES: Case[] = [
  // Freshness
  page('miss, then hit', ok(), TWICE),
  page('no freshness given', respond('200 OK', { 'Content-Type': 'text/plain' }, TEXT), TWICE),
  page('max-age zero', ok({ 'Cache-Control': 'max-age=0' }), TWICE),
  page('private', ok({ 'Cache-Control': 'private' }), TWICE),
  page('no-store', ok({ 'Cache-Control': 'no-store, max-age=50' }), TWICE),
  page('no-cache', ok({ 'Cache-Control': 'no-cache' }), TWICE),
  page('surrogate-control no-store', ok({ 'Surrogate-Control': 'no-store' }), TWICE),
  page('set-cookie', ok({ 'Set-Cookie': 'a=b' }), TWICE),
  page('s-maxage wins', ok({ 'Cache-Control': 'max-age=1, s-maxage=200' }), TWICE),
  page('age of the origin counts', ok({ 'Cache-Control': 'max-age=100', Age: '40' }), TWICE),
  page('older than its max-age', ok({ 'Cache-Control': 'max-age=100', Age: '400' }), TWICE),
  page('expires in the past', respond('200 OK', { Expires: 'Thu, 01 Jan 2015 00:00:00 GMT' }, TEXT), TWICE),
  page(
    'etag and last-modified',
    ok({ ETag: '"abc"', 'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT' }),
    TWICE,
  ),
  page('stale-while-revalidate', ok({ 'Cache-Control': 'max-age=100, stale-while-revalidate=30' }), TWICE),
  page('uncacheable by program', ok({ 'X-Bedo': 'uncacheable' }), TWICE),
  page('hit-for-pass', ok({ 'X-Bedo': 'hfp' }), [{}, {}, {}]),
  page('headers changed by the program', ok({ 'X-Bedo': 'headers', 'X-Secret': 's' }), TWICE),

  // Statuses
  page('status 404', respond('404 Not Found', {}, 'nothing here\n'), TWICE),
  page('status 500', respond('500 Internal Server Error', {}, 'broken\n'), TWICE),
  page(
    'status 503 of the origin',
    respond('503 Service Unavailable', { 'Retry-After': '7' }, 'later\n'),
    TWICE,
  ),
  page('status 301', respond('301 Moved Permanently', { Location: '/x' }), TWICE),
  page('status 302', respond('302 Found', { Location: '/x' }), TWICE),
  page(
    'status 302 with max-age',
    respond('302 Found', { Location: '/x', 'Cache-Control': 'max-age=9' }),
    TWICE,
  ),
  page('status 204', respond('204 No Content', FRESH), TWICE),
  page('status 410', respond('410 Gone', {}, 'gone\n'), TWICE),
  page('status 299 unknown', respond('299 Odd', {}, 'odd\n'), TWICE),
  page('empty reason', respond('200 ', FRESH, TEXT), TWICE),
  page('empty body', ok({}, ''), TWICE),
  page(
    'interim response first',
    [{ send: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' }, ...ok()],
    TWICE,
  ),

  // Methods
  {
    name: 'head on a miss fetches a get',
    script: (o) => o.on('/head', ok()),
    play: async (p) => {
      await p.exchange('HEAD', '/head');
      await p.exchange('GET', '/head');
      await p.exchange('HEAD', '/head');
    },
  },
  {
    name: 'head passed stays a head',
    script: (o) => o.on('/head-pass', respond('200 OK', { 'Content-Length': '45' })),
    play: async (p) => {
      await p.exchange('HEAD', '/head-pass', { 'X-Do': 'pass' });
    },
  },
  {
    name: 'post with a length',
    script: (o) => o.on('/post', ok()),
    play: async (p) => {
      await p.exchange('POST', '/post', {}, 'a=1&b=2');
      await p.exchange('POST', '/post', {}, 'a=3');
    },
  },
  {
    name: 'post in chunks',
    script: (o) => o.on('/post-chunked', ok()),
    play: async (p) => {
      await p.raw(
        'POST /post-chunked HTTP/1.1\r\nHost: example.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n',
      );
    },
  },
  {
    name: 'put, delete, options, patch',
    script: (o) => o.on('/methods', ok()),
    play: async (p) => {
      await p.exchange('PUT', '/methods', {}, 'data');
      await p.exchange('DELETE', '/methods');
      await p.exchange('OPTIONS', '/methods');
      await p.exchange('PATCH', '/methods', {}, 'patch');
    },
  },
  {
    name: 'post of a large body',
    script: (o) => o.on('/upload', ok({}, 'thanks\n')),
    play: async (p) => {
      await p.exchange('POST', '/upload', {}, MEGABYTE.toString('latin1', 0, 300_000));
      p.noteUpload('/upload');
    },
  },
  {
    name: 'get with a body',
    script: (o) => o.on('/get-body', ok()),
    play: async (p) => {
      await p.exchange('GET', '/get-body', {}, 'surprise');
      await p.exchange('GET', '/get-body');
    },
  },
  {
    name: 'unknown method is piped',
    script: (o) => o.on('/unknown', [...ok(), { close: true }]),
    play: async (p) => {
      await p.exchange('FROBNICATE', '/unknown');
    },
  },
  {
    name: 'pipe by program',
    script: (o) => o.on('/pipe', [...ok({ 'X-Origin': 'as it is' }), { close: true }]),
    play: async (p) => {
      await p.exchange('GET', '/pipe', { 'X-Do': 'pipe' });
    },
  },
  {
    name: 'the preface of http/2',
    play: (p) => p.bad('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  },

  // Pass
  page('pass by program', ok(), [{ 'X-Do': 'pass' }, { 'X-Do': 'pass' }]),
  page('authorization', ok(), [{ Authorization: 'Basic Zm9vOmJhcg==' }, {}]),
  page('cookie', ok(), [{ Cookie: 'a=b' }, {}]),
  page('hit-for-miss and back', ok({ 'Cache-Control': 'private' }), [{}, {}, {}]),

  // Vary
  {
    name: 'vary on a language',
    script: (o) => {
      o.on('/vary', (req) =>
        ok({ Vary: 'Accept-Language' }, `in ${/Accept-Language: (\S+)/.exec(req.head)?.[1]}\n`),
      );
    },
    play: async (p) => {
      await p.get('/vary', { 'Accept-Language': 'de' });
      await p.get('/vary', { 'Accept-Language': 'en' });
      await p.get('/vary', { 'Accept-Language': 'de' });
      await p.get('/vary');
      await p.get('/vary', { 'Accept-Language': 'en' });
    },
  },
  page('vary on everything', ok({ Vary: '*' }), TWICE),
  page('vary on two fields', ok({ Vary: 'X-A, X-B' }), [
    { 'X-A': '1' },
    { 'X-A': '1', 'X-B': '' },
    { 'X-A': '1' },
  ]),
  page('vary on accept-encoding', ok({ Vary: 'Accept-Encoding' }), [
    { 'Accept-Encoding': 'gzip, deflate, br' },
    { 'Accept-Encoding': 'br' },
    {},
  ]),

  // Conditionals
  page('if-none-match matches', ok({ ETag: '"v1"' }), [{}, { 'If-None-Match': '"v1"' }]),
  page('if-none-match differs', ok({ ETag: '"v1"' }), [{}, { 'If-None-Match': '"v2"' }]),
  page('if-none-match weak', ok({ ETag: '"v1"' }), [{}, { 'If-None-Match': 'W/"v1"' }]),
  page('if-none-match list', ok({ ETag: 'W/"v3"' }), [{}, { 'If-None-Match': '"v1", "v2", "v3"' }]),
  page('if-none-match on a miss', ok({ ETag: '"v1"' }), [{ 'If-None-Match': '"v1"' }]),
  page('if-modified-since equal', ok({ 'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT' }), [
    {},
    { 'If-Modified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
  ]),
  page('if-modified-since older', ok({ 'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT' }), [
    {},
    { 'If-Modified-Since': 'Wed, 01 Jan 2014 00:00:00 GMT' },
  ]),
  {
    name: 'conditional passed through',
    script: (o) => o.on('/cond-pass', respond('304 Not Modified', { ETag: '"v1"' })),
    play: async (p) => {
      await p.get('/cond-pass', { 'X-Do': 'pass', 'If-None-Match': '"v1"' });
    },
  },

  // Ranges
  page('range of a hit', ok({}, '0123456789'), [{}, { Range: 'bytes=2-4' }]),
  page('range of a miss', ok({}, '0123456789'), [{ Range: 'bytes=2-4' }, {}]),
  page('range suffix', ok({}, '0123456789'), [{}, { Range: 'bytes=-3' }]),
  page('range open', ok({}, '0123456789'), [{}, { Range: 'bytes=7-' }]),
  page('range past the end', ok({}, '0123456789'), [{}, { Range: 'bytes=5-99' }]),
  page('range unsatisfiable', ok({}, '0123456789'), [{}, { Range: 'bytes=20-30' }]),
  page('range of odd units', ok({}, '0123456789'), [{}, { Range: 'lines=1-2' }]),
  page('range of a head', ok({}, '0123456789'), [{}, { Range: 'bytes=1-2', 'If-None-Match': '"no"' }]),

  // Gzip
  page('gzip for one that takes it', ok({ 'Content-Encoding': 'gzip' }, gzipSync(LONG)), [
    { 'Accept-Encoding': 'gzip' },
    { 'Accept-Encoding': 'gzip' },
  ]),
  page(
    'gzip for one that does not',
    ok({ 'X-Bedo': 'nostream', 'Content-Encoding': 'gzip' }, gzipSync(LONG)),
    [{}, {}, { 'Accept-Encoding': 'gzip' }],
  ),
  page(
    'gzip strong etag weakened',
    ok({ 'X-Bedo': 'nostream', 'Content-Encoding': 'gzip', ETag: '"g"' }, gzipSync(LONG)),
    TWICE,
  ),
  page('packed by the program', ok({ 'X-Bedo': 'gzip' }, LONG), [{ 'Accept-Encoding': 'gzip' }, {}]),
  page('unpacked by the program', ok({ 'X-Bedo': 'gunzip', 'Content-Encoding': 'gzip' }, gzipSync(LONG)), [
    { 'Accept-Encoding': 'gzip' },
    {},
  ]),
  page(
    'range of an unpacked body',
    ok({ 'X-Bedo': 'nostream', 'Content-Encoding': 'gzip' }, gzipSync(LONG)),
    [{}, { Range: 'bytes=4-8' }],
  ),

  // Bodies
  {
    name: 'a large body, miss and hit',
    script: (o) => o.on('/large', ok({ 'X-Bedo': 'nostream' }, MEGABYTE)),
    play: async (p) => {
      await p.get('/large');
      await p.get('/large');
    },
  },
  {
    name: 'a large body, streamed',
    script: (o) => o.on('/large-stream', ok({}, MEGABYTE)),
    play: async (p) => {
      await p.get('/large-stream');
      await p.get('/large-stream');
    },
  },
  {
    name: 'a body in chunks',
    script: (o) => o.on('/chunks', respondChunked('200 OK', FRESH, ['one ', 'two ', 'three\n'], 60)),
    play: async (p) => {
      await p.get('/chunks');
      await p.get('/chunks');
    },
  },
  {
    name: 'a body in chunks, passed',
    script: (o) => o.on('/chunks-pass', respondChunked('200 OK', FRESH, ['one ', 'two\n'], 60)),
    play: async (p) => {
      await p.get('/chunks-pass', { 'X-Do': 'pass' });
    },
  },
  {
    name: 'a body that ends with the connection',
    script: (o) =>
      o.on('/eof', [
        { send: 'HTTP/1.0 200 OK\r\nCache-Control: max-age=50\r\n\r\nuntil ' },
        { wait: 80 },
        { send: 'the end\n' },
        { wait: 80 },
        { close: true },
      ]),
    play: async (p) => {
      await p.get('/eof');
      await p.get('/eof');
    },
  },
  {
    name: 'chunks for a client of http/1.0',
    script: (o) => o.on('/chunks-10', respondChunked('200 OK', FRESH, ['one ', 'two\n'], 60)),
    play: async (p) => {
      await p.raw('GET /chunks-10 HTTP/1.0\r\nHost: example.test\r\n\r\n');
    },
  },
  page('not streamed', ok({ 'X-Bedo': 'nostream' }), TWICE),

  // Connections
  {
    name: 'client of http/1.0 is closed',
    script: (o) => o.on('/http10', ok()),
    play: async (p) => {
      await p.raw('GET /http10 HTTP/1.0\r\nHost: example.test\r\n\r\n');
      await p.expectClose();
    },
  },
  {
    name: 'client of http/1.0 asks to keep',
    script: (o) => o.on('/http10-keep', ok()),
    play: async (p) => {
      await p.raw('GET /http10-keep HTTP/1.0\r\nHost: example.test\r\nConnection: keep-alive\r\n\r\n');
      await p.raw('GET /http10-keep HTTP/1.0\r\nHost: example.test\r\n\r\n');
      await p.expectClose();
    },
  },
  {
    name: 'client asks to close',
    script: (o) => o.on('/close', ok()),
    play: async (p) => {
      await p.get('/close', { Connection: 'close' });
      await p.expectClose();
    },
  },
  {
    name: 'three requests in one packet',
    script: (o) => {
      for (const n of [1, 2, 3]) o.on(`/pipeline/${n}`, ok({}, `page ${n}\n`));
    },
    play: async (p) => {
      const one = (n: number) => `GET /pipeline/${n} HTTP/1.1\r\nHost: example.test\r\n\r\n`;
      await p.rawMany(one(1) + one(2) + one(3), 3);
    },
  },
  {
    name: 'origin closes after the response',
    script: (o) => o.on('/origin-close', [...ok({ Connection: 'close' }), { close: true }]),
    play: async (p) => {
      await p.get('/origin-close');
      await p.get('/origin-close');
    },
  },
  {
    name: 'hop-by-hop fields',
    script: (o) =>
      o.on('/hop', ok({ 'Keep-Alive': 'timeout=5', Connection: 'keep-alive', 'Proxy-Authenticate': 'x' })),
    play: async (p) => {
      await p.get('/hop', { Connection: 'keep-alive', 'Keep-Alive': '7', TE: 'trailers', Upgrade: 'foo' });
    },
  },
  {
    name: 'expect 100-continue',
    script: (o) => o.on('/expect', ok()),
    play: async (p) => {
      await p.exchange('POST', '/expect', { Expect: '100-continue' }, 'body');
    },
  },

  // The request line and fields
  {
    name: 'query is part of the key',
    script: (o) => {
      o.on('/query?a=1', ok({}, 'one\n')).on('/query?a=2', ok({}, 'two\n'));
    },
    play: async (p) => {
      await p.get('/query?a=1');
      await p.get('/query?a=2');
      await p.get('/query?a=1');
    },
  },
  {
    name: 'host is part of the key, in any case of letters',
    script: (o) => o.on('/host', (req) => ok({}, `${/host: (\S+)/i.exec(req.head)?.[1]}\n`)),
    play: async (p) => {
      await p.get('/host', {}, 'one.test');
      await p.get('/host', {}, 'two.test');
      await p.get('/host', {}, 'ONE.test');
    },
  },
  {
    name: 'absolute form',
    script: (o) => o.on('/absolute', ok()),
    play: async (p) => {
      await p.raw('GET http://example.test/absolute HTTP/1.1\r\nHost: other.test\r\n\r\n');
      await p.get('/absolute');
    },
  },
  page('fields with blanks', ok({ 'X-Blank': '  padded  ' }), [{ 'X-Padded': '   three blanks   ' }]),
  page('forwarded-for grows', ok(), [{ 'X-Forwarded-For': '192.0.2.1' }]),
  {
    name: 'a long url and a long field',
    script: (o) => o.on(`/long/${'u'.repeat(400)}`, ok()),
    play: async (p) => {
      await p.get(`/long/${'u'.repeat(400)}`, { 'X-Long': 'v'.repeat(500) });
    },
  },
  {
    name: 'many fields',
    script: (o) =>
      o.on('/many', ok(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`X-R${i}`, `r${i}`])))),
    play: async (p) => {
      await p.get('/many', Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`X-Q${i}`, `q${i}`])));
    },
  },
  page(
    'same field twice',
    [{ send: 'HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nok' }],
    TWICE,
  ),

  // The program
  page('fields touched', ok(), [{ 'X-Do': 'touch', 'X-Gone': 'go' }, { 'X-Do': 'touch' }]),
  page('unset fields are empty', ok(), [{ 'X-Do': 'null' }]),
  page('deliver sets fields', ok({ 'X-Secret': 's' }), [{ 'X-Do': 'deliver' }, { 'X-Do': 'deliver' }]),
  page('deliver sets a status', ok(), [{ 'X-Do': 'deliver-status' }]),
  page('deliver turns into a page', ok(), [{ 'X-Do': 'deliver-synth' }]),
  page('hashed at once', ok(), [
    { 'X-Do': 'hash', Cookie: 'c=1' },
    { 'X-Do': 'hash', Cookie: 'c=2' },
  ]),
  page('own hash data', ok(), [{ 'X-Hash': 'a' }, { 'X-Hash': 'b' }, { 'X-Hash': 'a' }]),
  page('always miss', ok(), [{}, { 'X-Do': 'always-miss' }, {}]),
  {
    name: 'backend request rewritten',
    script: (o) => o.on('/bereq/rewritten', ok()),
    play: async (p) => {
      await p.get('/bereq/original', { 'X-Do': 'bereq', 'User-Agent': 'test' });
    },
  },
  { name: 'synth', play: (p) => p.get('/synth', { 'X-Do': 'synth' }) },
  { name: 'synth with a reason', play: (p) => p.get('/synth-reason', { 'X-Do': 'synth-reason' }) },
  { name: 'synth of a redirect', play: (p) => p.get('/redirect', { 'X-Do': 'redirect' }) },
  { name: 'synth of an own page', play: (p) => p.get('/custom-page', { 'X-Do': 'custom-page' }) },
  { name: 'synth for a head', play: (p) => p.exchange('HEAD', '/synth-head', { 'X-Do': 'custom-page' }) },
  { name: 'fail', play: (p) => p.get('/fail', { 'X-Do': 'fail' }) },
  page('purge', ok(), [{}, { 'X-Do': 'purge' }, {}]),

  // Time
  {
    name: 'stale within grace is served while it is fetched anew',
    script: (o) => o.on('/grace', (_req, n) => ok({ 'X-Bedo': 'short' }, `number ${n}\n`)),
    play: async (p) => {
      await p.get('/grace');
      await p.sleep(400);
      await p.get('/grace');
      await p.fetched('/grace', 2);
      await p.get('/grace');
    },
  },
  {
    name: 'kept object is asked for conditionally',
    script: (o) =>
      o.on('/keep', (req) =>
        /if-none-match/i.test(req.head)
          ? respond('304 Not Modified', { ETag: '"k"', 'X-Bedo': 'short-nograce', 'X-Again': 'yes' })
          : ok({ ETag: '"k"', 'X-Bedo': 'short-nograce' }),
      ),
    play: async (p) => {
      await p.get('/keep');
      await p.sleep(400);
      await p.get('/keep');
    },
  },
  {
    name: 'expired without grace is fetched',
    script: (o) => o.on('/expired', (_req, n) => ok({ 'X-Bedo': 'gone' }, `number ${n}\n`)),
    play: async (p) => {
      await p.get('/expired');
      await p.sleep(400);
      await p.get('/expired');
    },
  },
  {
    name: 'age of a hit counts seconds',
    script: (o) => o.on('/age', ok()),
    play: async (p) => {
      await p.get('/age');
      await p.sleep(1200);
      await p.get('/age');
    },
  },

  // Failures
  { name: 'origin is down', play: (p) => p.get('/dead', { 'X-Do': 'dead' }) },
  {
    name: 'origin resets before the head',
    script: (o) => o.on('/reset', [{ reset: true }]),
    play: (p) => p.get('/reset'),
  },
  {
    name: 'origin closes before the head',
    script: (o) => o.on('/shut', [{ close: true }]),
    play: (p) => p.get('/shut'),
  },
  {
    name: 'origin sends no http',
    script: (o) => o.on('/garbage', [{ send: 'SSH-2.0-OpenSSH\r\n\r\n' }, { wait: 50 }, { close: true }]),
    play: (p) => p.get('/garbage'),
  },
  {
    name: 'origin is slow with its first byte',
    script: (o) => o.on('/slow', [{ wait: 1600 }, ...ok()]),
    play: (p) => p.get('/slow'),
  },
  {
    name: 'origin cuts a body, not streamed',
    script: (o) =>
      o.on('/cut', [
        { send: 'HTTP/1.1 200 OK\r\nX-Bedo: nostream\r\nContent-Length: 100\r\n\r\nonly this' },
        { wait: 50 },
        { close: true },
      ]),
    play: (p) => p.get('/cut'),
  },
  {
    name: 'origin cuts a body, streamed',
    script: (o) =>
      o.on('/cut-stream', [
        { send: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this' },
        { wait: 150 },
        { close: true },
      ]),
    play: async (p) => {
      await p.get('/cut-stream');
      await p.expectClose();
    },
  },
  {
    name: 'origin cuts a chunked body, streamed',
    script: (o) =>
      o.on('/cut-chunks', [
        { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\n' },
        { wait: 150 },
        { close: true },
      ]),
    play: async (p) => {
      await p.get('/cut-chunks');
      await p.expectClose();
    },
  },
  page('abandoned by the program', ok({ 'X-Bedo': 'abandon' }), [{}]),
  page('failed by the program', ok({ 'X-Bedo': 'fail' }), [{}]),

  // Bad requests
  { name: 'no host', play: (p) => p.bad('GET /nohost HTTP/1.1\r\n\r\n') },
  { name: 'two hosts', play: (p) => p.bad('GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n') },
  { name: 'no version', play: (p) => p.bad('GET /\r\nHost: a.test\r\n\r\n') },
  { name: 'odd version', play: (p) => p.bad('GET / HTTP/3.7\r\nHost: a.test\r\n\r\n') },
  { name: 'no target', play: (p) => p.bad('GET HTTP/1.1\r\nHost: a.test\r\n\r\n') },
  {
    name: 'length is no number',
    play: (p) => p.bad('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: abc\r\n\r\n'),
  },
  {
    name: 'two lengths',
    play: (p) => p.bad('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
  },
  {
    name: 'length and chunks',
    play: (p) =>
      p.bad(
        'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
  },
  { name: 'blank before the colon', play: (p) => p.bad('GET / HTTP/1.1\r\nHost: a.test\r\nX-A : b\r\n\r\n') },
  { name: 'line without a colon', play: (p) => p.bad('GET / HTTP/1.1\r\nHost: a.test\r\nnonsense\r\n\r\n') },
  {
    name: 'control character in a field',
    play: (p) => p.bad('GET / HTTP/1.1\r\nHost: a.test\r\nX-A: b\x01c\r\n\r\n'),
  },
  {
    name: 'too many fields',
    play: (p) => p.bad(`GET / HTTP/1.1\r\nHost: a.test\r\n${'X-A: b\r\n'.repeat(90)}\r\n`),
  },
  {
    name: 'a field of 10 kB',
    play: (p) => p.bad(`GET / HTTP/1.1\r\nHost: a.test\r\nX-A: ${'b'.repeat(10_000)}\r\n\r\n`),
  },
  {
    name: 'a head of 40 kB',
    play: (p) => p.bad(`GET / HTTP/1.1\r\nHost: a.test\r\n${`X-A: ${'b'.repeat(4000)}\r\n`.repeat(10)}\r\n`),
  },
  {
    name: 'unknown expectation',
    play: (p) => p.bad('GET / HTTP/1.1\r\nHost: a.test\r\nExpect: tea\r\n\r\n'),
  },
  ...STRICT_CASES,
];
