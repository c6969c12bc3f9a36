// Every way through the state machines of a request and of a fetch, one case each: what a program may return in
// each state, how often, with and without a body, and what the log and the counters make of it.
import { gzipSync } from 'node:zlib';
import { type Origin, type Reply, respond, respondChunked } from '../harness/origin.ts';
import type { Case } from './cases.ts';
import type { Player } from './runner.ts';

const TEXT = 'The quick brown fox jumps over the lazy dog.\n';
const FRESH = { 'Cache-Control': 'max-age=100' };
const GZIPPED = gzipSync(TEXT.repeat(40));

type Fields = Record<string, string>;

function ok(fields: Fields = {}, body: string | Buffer = TEXT): Reply {
  return respond('200 OK', { ...FRESH, ...fields }, body);
}

function urlOf(name: string): string {
  return `/${name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`;
}

/** One URL and one client: the reply and the requests' fields. */
function page(name: string, reply: Reply, requests: Fields[], method = 'GET', body?: string): Case {
  const url = urlOf(name);
  return {
    name,
    timeless: reply.every((action) => 'send' in action),
    script: (o) => o.on(url, reply),
    play: async (p) => {
      for (const fields of requests) await p.exchange(method, url, fields, body);
    },
  };
}

/** One URL, a reply made again each time and a play of its own. */
function play(
  name: string,
  reply: Reply | ((head: string, n: number) => Reply),
  steps: (p: Player, url: string, o: { origin: Origin | null }) => Promise<void>,
): Case {
  const url = urlOf(name);
  return {
    name,
    script: (o) =>
      o.on(
        url,
        typeof reply === 'function' ? (r, n) => (reply as (h: string, n: number) => Reply)(r.head, n) : reply,
      ),
    play: (p) => steps(p, url, { origin: null }),
  };
}

function get(url: string, fields: Fields = {}, method = 'GET', proto = 'HTTP/1.1'): string {
  let text = `${method} ${url} ${proto}\r\nHost: example.test\r\n`;
  for (const [name, value] of Object.entries(fields)) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}

const CLIENT_STATES: Case[] = [
  page('recv restarts', ok(), [{ 'X-Recv': 'restart', 'X-Restarts': '' }]),
  page('recv restarts too often', ok(), [{ 'X-Recv': 'restart', 'X-Times': '9' }, {}]),
  page('recv restarts four times', ok(), [{ 'X-Recv': 'restart', 'X-Times': '4' }, {}]),
  page('recv changes the url and restarts', ok(), [{ 'X-Recv': 'restart', 'X-Set': 'url' }]),
  page('recv rolls back', ok(), [{ 'X-Recv': 'rollback' }]),
  page('hash fails', ok(), [{ 'X-Hash': 'fail' }]),
  page('hit restarts', ok(), [{}, { 'X-Hit': 'restart' }]),
  page('hit synthesises', ok(), [{}, { 'X-Hit': 'synth' }]),
  page('hit fails', ok(), [{}, { 'X-Hit': 'fail' }]),
  page('hit passes', ok(), [{}, { 'X-Hit': 'pass' }, {}]),
  page('hit looks at the object', ok(), [{}, { 'X-Hit': 'log' }, { 'X-Hit': 'log' }]),
  page('miss restarts', ok(), [{ 'X-Miss': 'restart' }, {}]),
  page('miss restarts too often', ok(), [{ 'X-Miss': 'restart', 'X-Times': '9' }, {}]),
  page('miss synthesises', ok(), [{ 'X-Miss': 'synth' }, {}]),
  page('miss fails', ok(), [{ 'X-Miss': 'fail' }]),
  page('miss passes', ok(), [{ 'X-Miss': 'pass' }, {}]),
  page('pass restarts', ok(), [{ 'X-Recv': 'pass', 'X-Pass': 'restart' }]),
  page('pass synthesises', ok(), [{ 'X-Recv': 'pass', 'X-Pass': 'synth' }]),
  page('pass fails', ok(), [{ 'X-Recv': 'pass', 'X-Pass': 'fail' }]),
  page('purge restarts', ok(), [{}, { 'X-Recv': 'purge', 'X-Purge': 'restart' }, {}]),
  page('purge synthesises', ok(), [{}, { 'X-Recv': 'purge', 'X-Purge': 'synth' }, {}]),
  page('purge fails', ok(), [{}, { 'X-Recv': 'purge', 'X-Purge': 'fail' }]),
  page('deliver restarts a hit', ok(), [{}, { 'X-Deliver': 'restart' }]),
  page('deliver restarts a miss', ok(), [{ 'X-Deliver': 'restart' }]),
  page('deliver restarts a pass', ok(), [{ 'X-Recv': 'pass', 'X-Deliver': 'restart' }]),
  page('deliver restarts too often', ok(), [{ 'X-Deliver': 'restart', 'X-Times': '9' }]),
  page('deliver synthesises', ok(), [{ 'X-Deliver': 'synth' }, {}]),
  page('deliver fails', ok(), [{ 'X-Deliver': 'fail' }]),
  page('deliver fails on a hit', ok(), [{}, { 'X-Deliver': 'fail' }]),
  page('synth restarts', ok(), [{ 'X-Recv': 'synth', 'X-Synth': 'restart' }]),
  page('synth restarts too often', ok(), [{ 'X-Recv': 'synth', 'X-Synth': 'again', 'X-Times': '9' }]),
  page('synth fails', ok(), [{ 'X-Recv': 'synth', 'X-Synth': 'fail' }]),
  page('fail restarts nothing', ok(), [{ 'X-Recv': 'fail', 'X-Synth': 'restart' }]),
  page('synth with a condition', ok(), [{ 'X-Recv': 'synth', 'X-Synth': '304', 'If-None-Match': '"s"' }]),
  page('synth with a range', ok(), [{ 'X-Recv': 'synth', 'X-Synth': '304', Range: 'bytes=1-2' }]),
  page('restart after a failed fetch', ok(), [{ 'X-Set': 'dead', 'X-Deliver': 'restart' }]),
  page('deliver without a length', ok(), [{ 'X-Show': 'length' }, { 'X-Show': 'length' }]),
  page('deliver closes', ok(), [{ 'X-Show': 'close' }]),
  page('deliver another status', ok(), [{ 'X-Show': 'status' }]),
  page('deliver 204', ok(), [{}, { 'X-Show': '204' }]),
  page('deliver 304', ok(), [{}, { 'X-Show': '304' }]),
  page('deliver sets an etag', ok(), [{}, { 'X-Show': 'etag', 'If-None-Match': '"own"' }]),
  page('deliver without accept-ranges', ok(), [{}, { 'X-Show': 'ranges', Range: 'bytes=1-3' }]),
  page('deliver with another status and a range', ok(), [{}, { 'X-Show': 'status', Range: 'bytes=1-3' }]),
  page('deliver says what is streamed', ok(), [{ 'X-Show': 'streaming' }, { 'X-Show': 'streaming' }]),
  page('deliver sees the object', ok(), [{ 'X-Show': 'obj' }, { 'X-Show': 'obj' }]),
  page('obj of a pass', ok(), [{ 'X-Recv': 'pass', 'X-Show': 'obj' }]),
  page('obj of hit-for-miss', ok({ 'Cache-Control': 'private' }), [{ 'X-Show': 'obj' }, { 'X-Show': 'obj' }]),
];

const FETCH_STATES: Case[] = [
  page('fetch abandons', ok(), [{ 'X-Bf': 'abandon' }, {}]),
  page('fetch errs', ok(), [{ 'X-Bf': 'error' }, {}]),
  page('fetch errs plainly', ok(), [{ 'X-Bf': 'error0' }]),
  page('fetch fails', ok(), [{ 'X-Bf': 'fail' }]),
  page('fetch of a pass fails', ok(), [{ 'X-Bf': 'fail', 'X-Recv': 'pass' }]),
  page('fetch of a pass abandons', ok(), [{ 'X-Bf': 'abandon', 'X-Recv': 'pass' }]),
  page('fetch by another method', ok(), [{ 'X-Bf': 'method' }]),
  page('response retries', ok(), [{ 'X-Br': 'retry', 'X-Bf': 'mark' }]),
  page('response retries a pass', ok(), [{ 'X-Br': 'retry', 'X-Recv': 'pass' }]),
  page('response retries too often', ok(), [{ 'X-Br': 'retry', 'X-Times': '9' }]),
  page('response retries after a rollback', ok(), [{ 'X-Br': 'rollback', 'X-Bf': 'mark' }]),
  page('response abandons', ok(), [{ 'X-Br': 'abandon' }, {}]),
  page('response errs', ok(), [{ 'X-Br': 'error' }, {}]),
  page('response errs plainly', ok(), [{ 'X-Br': 'error0' }]),
  page('response errs with a status', ok(), [{ 'X-Br': 'error503' }]),
  page('response of nothing errs', ok({}, ''), [{ 'X-Br': 'error' }, { 'X-Br': 'abandon' }]),
  page('response of nothing retries', ok({}, ''), [{ 'X-Br': 'retry' }]),
  page('response fails', ok(), [{ 'X-Br': 'fail' }]),
  page('response passes for a while', ok(), [{ 'X-Br': 'pass' }, {}, {}]),
  page('response passes for no time', ok(), [{ 'X-Br': 'pass0' }, {}, {}]),
  page('response of a pass passes', ok(), [{ 'X-Br': 'pass', 'X-Recv': 'pass' }, {}]),
  page('error retries', ok(), [{ 'X-Bf': 'error', 'X-Be': 'retry' }]),
  page('error retries too often', ok(), [{ 'X-Bf': 'error', 'X-Be': 'retry', 'X-Times': '9' }]),
  page('error abandons', ok(), [{ 'X-Bf': 'error', 'X-Be': 'abandon' }]),
  page('error fails', ok(), [{ 'X-Bf': 'error', 'X-Be': 'fail' }]),
  page('error is kept', ok(), [{ 'X-Bf': 'error', 'X-Be': 'keep' }, {}, {}]),
  page('dead origin retried on another', ok(), [{ 'X-Bf': 'dead2', 'X-Be': 'retry' }]),
  page('status set in response', ok({ 'X-Do': 'status' }), [{}, {}]),
  page('what a response knows', ok({ 'X-Do': 'proto' }), [{}, { 'X-Recv': 'pass' }]),
  page('no ttl', ok({ 'X-Ttl': '0s' }), [{}, {}]),
  page('ttl below zero', ok({ 'X-Ttl': '-1s' }), [{}, {}]),
  page('uncacheable with a ttl', ok({ 'X-Do': 'uncacheable', 'X-Ttl': '10s' }), [{}, {}, {}]),
  page('uncacheable without a ttl', ok({ 'X-Do': 'uncacheable', 'X-Ttl': '0s' }), [{}, {}]),
  page('transient by wish', ok({ 'X-Storage': 'T' }), [{}, {}]),
  page('short lived', ok({ 'X-Ttl': '3s', 'X-Grace': '0s', 'X-Keep': '0s' }), [{}, {}]),
];

const RANGE_BODY = '0123456789abcdefghij';
const RANGES = [
  'bytes=0-0',
  'bytes=0-',
  'bytes=-1',
  'bytes=-0',
  'bytes=-20',
  'bytes=-21',
  'bytes=-99',
  'bytes=19-',
  'bytes=19-19',
  'bytes=20-',
  'bytes=5-3',
  'bytes=-',
  'bytes=',
  'bytes',
  'bytes=1',
  'bytes=a-b',
  'bytes=1-b',
  'bytes= 1-2',
  'bytes=1-2 ',
  'bytes=1-2,4-5',
  'bytes=1-2, 4-5',
  'bytes=1-2,',
  ',bytes=1-2',
  'Bytes=1-2',
  'bytes=01-02',
  'bytes=1-2x',
  'bytes=1 -2',
  'bytes = 1-2',
  'bytes=--1',
  'bytes=+1-2',
  'bytes=1-99999999999999999999',
  'bytes=99999999999999999999-',
  'bytes=0-19',
  'bytes=0-18',
  'bytes=0-20',
  'bytes=0-99',
];

const RANGE_CASES: Case[] = [
  page('ranges of a hit', ok({}, RANGE_BODY), [{}, ...RANGES.map((r) => ({ Range: r }))]),
  page('ranges of a head', ok({}, RANGE_BODY), [{}, { Range: 'bytes=1-2' }], 'HEAD'),
  page('range of a pass', ok({}, RANGE_BODY), [{ 'X-Recv': 'pass', Range: 'bytes=1-2' }]),
  page('range of a 404', respond('404 Not Found', FRESH, RANGE_BODY), [{}, { Range: 'bytes=1-2' }]),
  page('range of hit-for-miss', ok({ 'Cache-Control': 'private' }, RANGE_BODY), [
    { Range: 'bytes=1-2' },
    { Range: 'bytes=1-2' },
  ]),
  page(
    'range answered by the origin',
    respond('206 Partial Content', { ...FRESH, 'Content-Range': 'bytes 1-2/20' }, '12'),
    [{ Range: 'bytes=1-2' }, { Range: 'bytes=1-2', 'X-Recv': 'pass' }],
  ),
  page(
    'range that nobody asked for',
    respond('206 Partial Content', { ...FRESH, 'Content-Range': 'bytes 1-2/20' }, '12'),
    [{ 'X-Br': 'whole', 'X-Recv': 'pass' }, { 'X-Br': 'whole' }],
  ),
  page('range of nothing', ok({}, ''), [{}, { Range: 'bytes=0-1' }, { Range: 'bytes=-1' }]),
  page('if-range', ok({ ETag: '"r"', 'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT' }, RANGE_BODY), [
    {},
    ...[
      '"r"',
      'W/"r"',
      '"x"',
      'r',
      'Thu, 01 Jan 2015 00:00:00 GMT',
      'Thu, 01 Jan 2016 00:00:00 GMT',
      'Wed, 01 Jan 2014 00:00:00 GMT',
      'rubbish',
    ].map((v) => ({ Range: 'bytes=1-2', 'If-Range': v })),
  ]),
  page('if-range against a weak etag', ok({ ETag: 'W/"r"' }, RANGE_BODY), [
    {},
    { Range: 'bytes=1-2', 'If-Range': 'W/"r"' },
    { Range: 'bytes=1-2', 'If-Range': '"r"' },
  ]),
  page('if-range without validators', ok({}, RANGE_BODY), [{}, { Range: 'bytes=1-2', 'If-Range': '"r"' }]),
  page('if-range without range', ok({ ETag: '"r"' }, RANGE_BODY), [{}, { 'If-Range': '"r"' }]),
  page('range and condition', ok({ ETag: '"r"' }, RANGE_BODY), [
    {},
    { Range: 'bytes=1-2', 'If-None-Match': '"r"' },
  ]),
  page('range of gzip', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream' }, GZIPPED), [
    { 'Accept-Encoding': 'gzip' },
    { 'Accept-Encoding': 'gzip', Range: 'bytes=1-4' },
    { Range: 'bytes=1-4' },
    { Range: 'bytes=-4' },
    { Range: 'bytes=99999-' },
  ]),
  play(
    'range of a stream',
    respondChunked('200 OK', FRESH, ['0123456789', 'abcdefghij'], 80),
    async (p, url) => {
      await p.get(url, { Range: 'bytes=1-2' });
      await p.get(url, { Range: 'bytes=1-2' });
    },
  ),
  play(
    'range of a stream of known length',
    [
      { send: 'HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nContent-Length: 20\r\n\r\n0123456789' },
      { wait: 80 },
      { send: 'abcdefghij' },
    ],
    async (p, url) => {
      await p.get(url, { Range: 'bytes=1-2' });
      await p.get(url, { Range: 'bytes=12-13' });
    },
  ),
  page('condition of a pass', ok({ ETag: '"r"' }), [{ 'X-Recv': 'pass', 'If-None-Match': '"r"' }]),
];

const CONDITIONS: Case[] = [
  page('conditions', ok({ ETag: '"e"', 'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT' }), [
    {},
    ...['"e"', 'W/"e"', 'e', '*', '"e" ', '""', '"E"', '"e"x', 'x"e"'].map((v) => ({ 'If-None-Match': v })),
    ...[
      'Thu, 01 Jan 2015 00:00:01 GMT',
      'Wed, 31 Dec 2014 23:59:59 GMT',
      'rubbish',
      '',
      'Thursday, 01-Jan-15 00:00:00 GMT',
      'Thu Jan  1 00:00:00 2015',
    ].map((v) => ({ 'If-Modified-Since': v })),
    { 'If-None-Match': '"x"', 'If-Modified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
    { 'If-None-Match': '"e"', 'If-Modified-Since': 'Wed, 01 Jan 2014 00:00:00 GMT' },
  ]),
  page('conditions against a weak etag', ok({ ETag: 'W/"e"' }), [
    {},
    { 'If-None-Match': 'W/"e"' },
    { 'If-None-Match': '"e"' },
    { 'If-None-Match': 'W/"f"' },
  ]),
  page('condition without validator', ok(), [
    {},
    { 'If-None-Match': '"e"' },
    { 'If-Modified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
  ]),
  page('condition on a bad date', ok({ 'Last-Modified': 'rubbish' }), [
    {},
    { 'If-Modified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
  ]),
  page('condition on a 404', respond('404 Not Found', { ...FRESH, ETag: '"e"' }, TEXT), [
    {},
    { 'If-None-Match': '"e"' },
  ]),
  page('condition of a head', ok({ ETag: '"e"' }), [{}, { 'If-None-Match': '"e"' }], 'HEAD'),
  page('if-match and unmodified-since', ok({ ETag: '"e"' }), [
    { 'If-Match': '"x"' },
    { 'If-Match': '"x"' },
    { 'If-Unmodified-Since': 'Wed, 01 Jan 2014 00:00:00 GMT' },
  ]),
  page('a 304 nobody asked for', respond('304 Not Modified', { ETag: '"e"' }), [{}]),
  page('a 304 of a pass nobody asked for', respond('304 Not Modified', { ETag: '"e"' }), [
    { 'X-Recv': 'pass' },
  ]),
];

/** An object that is stale at once and kept, and the 304 that follows. */
function revalidated(
  name: string,
  first: Fields,
  second: Fields,
  status = '304 Not Modified',
  body = '',
): Case {
  const short = { 'X-Ttl': '0.1s', 'X-Grace': '0s', 'X-Keep': '20s' };
  return play(
    name,
    (_head, n) => (n === 1 ? ok({ ...short, ...first }) : respond(status, { ...FRESH, ...second }, body)),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url);
      await p.get(url);
    },
  );
}

const LM = { 'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT' };

const REVALIDATION: Case[] = [
  revalidated('304 by etag', { ETag: '"e"' }, { ETag: '"e"', 'X-New': 'new' }),
  revalidated('304 by weak etag', { ETag: 'W/"e"' }, { ETag: 'W/"e"' }),
  revalidated('304 by date', LM, LM),
  revalidated('304 by both', { ETag: '"e"', ...LM }, { ETag: '"e"' }),
  revalidated('304 without fields', { ETag: '"e"', 'X-Old': 'old', Via: '1.1 other' }, {}),
  revalidated(
    '304 that overrides',
    { ETag: '"e"', 'X-Old': 'old', 'Content-Type': 'text/a' },
    { 'X-Old': 'new', 'Content-Type': 'text/b', 'Content-Length': '5' },
  ),
  revalidated('304 tells so', { ETag: '"e"', 'X-Do': 'was304' }, { 'X-Do': 'was304' }),
  revalidated('304 refused by a new body', { ETag: '"e"' }, { ETag: '"f"' }, '200 OK', 'new body\n'),
  revalidated('304 became a 404', { ETag: '"e"' }, {}, '404 Not Found', 'gone\n'),
  revalidated('304 became a 500', { ETag: '"e"' }, {}, '500 Oops', 'broken\n'),
  revalidated('no validator to ask with', {}, {}, '200 OK', 'again\n'),
  revalidated('304 of a gzipped', { ETag: '"e"', 'Content-Encoding': 'identity' }, {}),
  revalidated('304 made uncacheable', { ETag: '"e"' }, { 'X-Do': 'uncacheable' }),
  revalidated('a bad date to ask with', { 'Last-Modified': 'rubbish' }, {}, '200 OK', 'again\n'),
  play(
    'kept 404 is not asked for',
    (_h, n) =>
      respond(
        '404 Not Found',
        { ...FRESH, ETag: '"e"', 'X-Ttl': '0.1s', 'X-Grace': '0s', 'X-Keep': '9s' },
        `n ${n}\n`,
      ),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url);
    },
  ),
  play(
    'client condition and kept object',
    (head, n) =>
      n === 1
        ? ok({ ETag: '"e"', 'X-Ttl': '0.1s', 'X-Grace': '0s', 'X-Keep': '9s' })
        : /none-match/i.test(head)
          ? respond('304 Not Modified', FRESH)
          : ok(),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url, { 'If-None-Match': '"e"' });
      await p.get(url, { 'If-None-Match': '"x"' });
    },
  ),
  play(
    'kept object, always miss',
    (_h, n) => ok({ ETag: '"e"', 'X-Ttl': n === 1 ? '0.1s' : '9s', 'X-Grace': '0s', 'X-Keep': '9s' }),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url, { 'X-Set': 'always-miss' });
    },
  ),
  play(
    'kept object, fetched gzipped',
    (_h, n) =>
      n === 1
        ? ok(
            {
              ETag: '"e"',
              'X-Do': 'nostream',
              'Content-Encoding': 'gzip',
              'X-Ttl': '0.1s',
              'X-Grace': '0s',
              'X-Keep': '9s',
            },
            GZIPPED,
          )
        : respond('304 Not Modified', { ...FRESH, ETag: '"e"' }),
    async (p, url) => {
      await p.get(url, { 'Accept-Encoding': 'gzip' });
      await p.sleep(250);
      await p.get(url, { 'Accept-Encoding': 'gzip' });
      await p.get(url);
    },
  ),
  play(
    'kept object packed here',
    (_h, n) =>
      n === 1
        ? ok({ ETag: '"e"', 'X-Do': 'nostream gzip', 'X-Ttl': '0.1s', 'X-Grace': '0s', 'X-Keep': '9s' })
        : respond('304 Not Modified', { ...FRESH, ETag: '"e"' }),
    async (p, url) => {
      await p.get(url, { 'Accept-Encoding': 'gzip' });
      await p.sleep(250);
      await p.get(url);
    },
  ),
  play(
    '304 retried',
    (_h, n) =>
      n === 1
        ? ok({ ETag: '"e"', 'X-Ttl': '0.1s', 'X-Grace': '0s', 'X-Keep': '9s' })
        : respond('304 Not Modified', FRESH),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url, { 'X-Br': 'retry' });
    },
  ),
  play(
    'kept object fetched by error',
    (_h, n) =>
      n === 1 ? ok({ ETag: '"e"', 'X-Ttl': '0.1s', 'X-Grace': '0s', 'X-Keep': '9s' }) : [{ close: true }],
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url);
    },
  ),
];

const SHORT = { 'X-Ttl': '0.1s', 'X-Grace': '20s', 'X-Keep': '0s' };

const GRACE: Case[] = [
  play(
    'grace of the request',
    (_h, n) => ok(SHORT, `n ${n}\n`),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url, { 'X-Grace': '0s' });
      await p.sleep(250);
      await p.get(url, { 'X-Grace': '0.05s' });
      await p.sleep(250);
      await p.get(url, { 'X-Grace': '5s', 'X-Show': 'obj' });
      await p.fetched(url, 4);
      await p.get(url);
    },
  ),
  play(
    'ttl of the request',
    (_h, n) => ok({}, `n ${n}\n`),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url, { 'X-Ttl': '0.1s' });
      await p.get(url, { 'X-Ttl': '30s' });
      await p.get(url, { 'X-Ttl': '0s' });
    },
  ),
  play(
    'grace and a failing origin',
    (_h, n) => (n === 1 ? ok(SHORT) : respond('500 Oops', {}, 'broken\n')),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url);
      await p.fetched(url, 2);
      await p.get(url);
    },
  ),
  play('grace and an abandoned fetch', ok(SHORT), async (p, url) => {
    await p.get(url);
    await p.sleep(250);
    await p.get(url, { 'X-Bf': 'abandon' });
    await p.sleep(100);
    await p.get(url, { 'X-Br': 'abandon' });
    await p.fetched(url, 2);
    await p.get(url);
    await p.fetched(url, 3);
  }),
  play(
    'grace and a dead origin',
    (_h, n) => (n === 1 ? ok(SHORT) : [{ close: true }]),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url);
      await p.fetched(url, 2);
      await p.get(url);
      await p.fetched(url, 3);
    },
  ),
  play('grace, and hit restarts', ok(SHORT), async (p, url) => {
    await p.get(url);
    await p.sleep(250);
    await p.get(url, { 'X-Hit': 'restart' });
    await p.fetched(url, 2);
  }),
  play('grace, and hit passes', ok(SHORT), async (p, url) => {
    await p.get(url);
    await p.sleep(250);
    await p.get(url, { 'X-Hit': 'pass' });
    await p.fetched(url, 2);
  }),
  play(
    'grace revalidates by a 304',
    (_h, n) =>
      n === 1
        ? ok({ ...SHORT, ETag: '"e"' })
        : respond('304 Not Modified', { ...FRESH, 'X-Again': String(n) }),
    async (p, url) => {
      await p.get(url);
      await p.sleep(250);
      await p.get(url);
      await p.fetched(url, 2);
      await p.get(url);
    },
  ),
  play(
    'always miss with a failing origin',
    (_h, n) => (n === 1 ? ok() : [{ close: true }]),
    async (p, url) => {
      await p.get(url);
      await p.get(url, { 'X-Set': 'always-miss' });
      await p.get(url);
    },
  ),
  play(
    'always miss replaces',
    (_h, n) => ok({}, `n ${n}\n`),
    async (p, url) => {
      await p.get(url);
      await p.get(url, { 'X-Set': 'always-miss' });
      await p.get(url);
    },
  ),
  play(
    'ignore vary',
    (_h, n) => ok({ Vary: 'X-V' }, `n ${n}\n`),
    async (p, url) => {
      await p.get(url, { 'X-V': '1' });
      await p.get(url, { 'X-V': '2' });
      await p.get(url, { 'X-V': '3', 'X-Set': 'ignore-vary' });
      await p.get(url, { 'X-V': '1' });
    },
  ),
  play(
    'expires by hit-for-pass',
    (_h, n) => ok({}, `n ${n}\n`),
    async (p, url) => {
      await p.get(url, { 'X-Br': 'pass' });
      await p.get(url);
      await p.get(url, { 'X-Set': 'always-miss' });
      await p.get(url);
    },
  ),
];

const BODIES: Case[] = [
  page(
    'head of a gzipped object',
    ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream' }, GZIPPED),
    [{}, { 'Accept-Encoding': 'gzip' }],
    'HEAD',
  ),
  page('head passed', ok(), [{ 'X-Recv': 'pass' }], 'OPTIONS'),
  play('head of a pass', respond('200 OK', { 'Content-Length': '45' }), async (p, url) => {
    await p.exchange('HEAD', url, { 'X-Recv': 'pass' });
    await p.exchange('HEAD', url, { 'X-Recv': 'pass' });
  }),
  play('head of a pass in chunks', respond('200 OK', { 'Transfer-Encoding': 'chunked' }), async (p, url) => {
    await p.exchange('HEAD', url, { 'X-Recv': 'pass' });
    await p.exchange('HEAD', url, { 'X-Recv': 'pass' });
  }),
  play(
    'head of a pass gzipped',
    respond('200 OK', { 'Content-Length': '45', 'Content-Encoding': 'gzip' }),
    async (p, url) => {
      await p.exchange('HEAD', url, { 'X-Recv': 'pass' });
    },
  ),
  play('head without a length', [{ send: 'HTTP/1.1 200 OK\r\n\r\n' }, { close: true }], async (p, url) => {
    await p.exchange('HEAD', url, { 'X-Recv': 'pass' });
  }),
  play('head of a stream', respondChunked('200 OK', FRESH, ['one ', 'two'], 60), async (p, url) => {
    await p.exchange('HEAD', url);
    await p.sleep(250);
    await p.exchange('HEAD', url);
  }),
  page(
    'nostream and failing',
    [
      { send: 'HTTP/1.1 200 OK\r\nX-Do: nostream\r\nContent-Length: 50\r\n\r\nshort' },
      { wait: 40 },
      { close: true },
    ],
    [{}, { 'X-Be': 'keep' }, { 'X-Be': 'retry' }],
  ),
  page('nostream in chunks', respondChunked('200 OK', { ...FRESH, 'X-Do': 'nostream' }, ['one ', 'two']), [
    {},
    {},
  ]),
  page('nostream of a pass', ok({ 'X-Do': 'nostream' }), [{ 'X-Recv': 'pass' }]),
  page('nostream of uncacheable', ok({ 'X-Do': 'nostream uncacheable' }), [{}, {}]),
  page('packed and unpacked', ok({ 'X-Do': 'nostream gzip unpack' }), [{}, { 'Accept-Encoding': 'gzip' }]),
  page('packed when already packed', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream gzip' }, GZIPPED), [
    {},
    { 'Accept-Encoding': 'gzip' },
  ]),
  page('packed with another coding', ok({ 'Content-Encoding': 'br', 'X-Do': 'nostream gzip' }), [{}]),
  page('unpacked when not packed', ok({ 'X-Do': 'nostream unpack' }), [{}]),
  page('unpacked of a pass', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream unpack' }, GZIPPED), [
    { 'X-Recv': 'pass' },
    { 'X-Recv': 'pass', 'Accept-Encoding': 'gzip' },
  ]),
  page('packed of a pass', ok({ 'X-Do': 'nostream gzip' }), [
    { 'X-Recv': 'pass' },
    { 'X-Recv': 'pass', 'Accept-Encoding': 'gzip' },
  ]),
  page('gzip of a pass', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream' }, GZIPPED), [
    { 'X-Recv': 'pass' },
    { 'X-Recv': 'pass', 'Accept-Encoding': 'gzip' },
  ]),
  page('packing nothing', ok({ 'X-Do': 'nostream gzip' }, ''), [{}]),
  page('x-gzip', ok({ 'Content-Encoding': 'x-gzip', 'X-Do': 'nostream' }, GZIPPED), [
    {},
    { 'Accept-Encoding': 'gzip' },
  ]),
  page('gzip that is none', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream' }, 'not at all'), [{}]),
  page('gzip cut short', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream' }, GZIPPED.subarray(0, 30)), [
    {},
  ]),
  page('unpacking none', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream unpack' }, 'not at all'), [{}]),
  page('gzip and an etag', ok({ ETag: '"e"', 'X-Do': 'nostream gzip' }), [
    {},
    { 'Accept-Encoding': 'gzip' },
    { 'If-None-Match': 'W/"e"' },
  ]),
  page('encoding taken away', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream' }, GZIPPED), [
    {},
    { 'X-Show': 'encoding' },
  ]),
  page('filters shown', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream filters' }, GZIPPED), [
    { 'X-Show': 'filters' },
    { 'X-Show': 'filters', 'Accept-Encoding': 'gzip' },
    { 'X-Show': 'filters', Range: 'bytes=1-2' },
  ]),
  page('filters shown of plain', ok({ 'X-Do': 'nostream filters' }), [
    { 'X-Show': 'filters' },
    { 'X-Show': 'filters', Range: 'bytes=1-2' },
  ]),
  page('filters shown of esi', ok({ 'X-Do': 'nostream esi filters' }), [{ 'X-Show': 'filters' }]),
  page(
    'filters shown with unpacking',
    ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream unpack filters' }, GZIPPED),
    [{ 'X-Show': 'filters' }],
  ),
  page('filters shown with packing', ok({ 'X-Do': 'nostream gzip filters' }), [{ 'X-Show': 'filters' }]),
  page('filters set to gzip', ok({ 'X-Do': 'nostream', 'X-Filters': 'gzip' }), [
    {},
    { 'Accept-Encoding': 'gzip' },
  ]),
  page(
    'filters set to gunzip',
    ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream', 'X-Filters': 'gunzip' }, GZIPPED),
    [{}, { 'Accept-Encoding': 'gzip' }],
  ),
  page(
    'filters set to gunzip gzip',
    ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream', 'X-Filters': 'gunzip gzip' }, GZIPPED),
    [{}, { 'Accept-Encoding': 'gzip' }],
  ),
  page(
    'filters set to esi',
    ok({ 'X-Do': 'nostream', 'X-Filters': 'esi' }, '<a><esi:remove>x</esi:remove></a>'),
    [{}],
  ),
  page('filters set to nothing known', ok({ 'X-Do': 'nostream', 'X-Filters': 'rubbish' }), [{}]),
  page('filters of a delivery', ok({}, RANGE_BODY), [
    {},
    { 'X-Rfilters': 'range', Range: 'bytes=1-2' },
    { 'X-Rfilters': 'rubbish' },
    { 'X-Rfilters': 'gunzip' },
    { 'X-Rfilters': 'range' },
  ]),
  page('filters of a gzip delivery', ok({ 'Content-Encoding': 'gzip', 'X-Do': 'nostream' }, GZIPPED), [
    { 'X-Rfilters': 'gunzip', 'Accept-Encoding': 'gzip' },
    { 'X-Rfilters': 'gunzip range', Range: 'bytes=1-2' },
  ]),
  play(
    'trailers',
    [
      {
        send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\nX-Do: nostream\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n',
      },
    ],
    async (p, url) => {
      await p.get(url);
      await p.get(url);
    },
  ),
  play('trailers of a request', ok(), async (p, url) => {
    await p.raw(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n`,
    );
    await p.get(url);
  }),
  play(
    'chunks with extensions',
    [
      {
        send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Do: nostream\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n',
      },
    ],
    async (p, url) => {
      await p.get(url);
    },
  ),
  play(
    'chunk sizes that are none',
    [
      {
        send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Do: nostream\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n',
      },
      { wait: 30 },
      { close: true },
    ],
    async (p, url) => {
      await p.get(url);
    },
  ),
  play(
    'length and surplus bytes',
    [
      { send: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Do: nostream\r\n\r\nhello surplus' },
      { wait: 30 },
      { close: true },
    ],
    async (p, url) => {
      await p.get(url);
    },
  ),
  play(
    'length on a 204',
    [{ send: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n' }, { wait: 30 }, { close: true }],
    async (p, url) => {
      await p.get(url);
      await p.get(url, { 'X-Recv': 'pass' });
    },
  ),
  play(
    'a 204 with a body',
    [{ send: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello' }, { wait: 30 }, { close: true }],
    async (p, url) => {
      await p.get(url);
    },
  ),
  play(
    'a 304 with a length',
    [{ send: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n' }, { wait: 30 }, { close: true }],
    async (p, url) => {
      await p.get(url, { 'X-Recv': 'pass' });
    },
  ),
  play(
    'eof without streaming',
    [{ send: 'HTTP/1.1 200 OK\r\nX-Do: nostream\r\n\r\nuntil the end' }, { wait: 30 }, { close: true }],
    async (p, url) => {
      await p.get(url);
      await p.get(url);
    },
  ),
  play(
    'eof by http 1.0',
    [
      { send: 'HTTP/1.0 200 OK\r\nX-Do: nostream\r\nConnection: keep-alive\r\n\r\nuntil the end' },
      { wait: 30 },
      { close: true },
    ],
    async (p, url) => {
      await p.get(url);
    },
  ),
  play(
    'length by http 1.0',
    [
      {
        send: 'HTTP/1.0 200 OK\r\nX-Do: nostream\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello',
      },
      { wait: 30 },
      { close: true },
    ],
    async (p, url) => {
      await p.get(url);
      await p.raw(get(`${url}?2`, {}, 'GET', 'HTTP/1.0'));
    },
  ),
];

const UPLOADS: Case[] = [
  page('body sent and retried', ok(), [{ 'X-Br': 'retry' }], 'POST', 'the body'),
  page('body cached and retried', ok(), [{ 'X-Br': 'retry', 'X-Set': 'cachebody' }], 'POST', 'the body'),
  page('body sent and restarted', ok(), [{ 'X-Deliver': 'restart' }], 'POST', 'the body'),
  page(
    'body cached and restarted',
    ok(),
    [{ 'X-Deliver': 'restart', 'X-Set': 'cachebody' }],
    'POST',
    'the body',
  ),
  page('body not sent and restarted', ok(), [{ 'X-Recv': 'restart' }], 'POST', 'the body'),
  page('body too large to cache', ok(), [{ 'X-Set': 'cachebody' }], 'POST', 'b'.repeat(2000)),
  page('body cached and fetched', ok(), [{ 'X-Set': 'cachebody', 'X-Recv': 'hash' }], 'POST', 'the body'),
  page('body not wanted', ok(), [{ 'X-Recv': 'hash' }, { 'X-Recv': 'hash' }], 'POST', 'the body'),
  page('body taken off', ok(), [{ 'X-Bf': 'nobody' }], 'POST', 'the body'),
  page('body and a page', ok(), [{ 'X-Recv': 'synth' }, { 'X-Recv': 'synth' }], 'POST', 'the body'),
  page('body to a dead origin', ok(), [{ 'X-Set': 'dead' }], 'POST', 'the body'),
  page(
    'body cached to a dead origin',
    ok(),
    [{ 'X-Set': 'dead cachebody', 'X-Deliver': 'restart' }],
    'POST',
    'the body',
  ),
  page('body of length nothing', ok(), [{}], 'POST', ''),
  page('post without any length', ok(), [{}], 'POST'),
  play('chunks cached and restarted', ok(), async (p, url) => {
    await p.raw(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Set: cachebody\r\nX-Deliver: restart\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    );
  }),
  play('chunks too large to cache', ok(), async (p, url) => {
    await p.bad(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Set: cachebody\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n${'b'.repeat(2048)}\r\n0\r\n\r\n`,
    );
  }),
  play('chunks retried', ok(), async (p, url) => {
    await p.raw(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Br: retry\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    );
  }),
  play('chunks by a pass of a get', ok(), async (p, url) => {
    await p.raw(
      `GET ${url} HTTP/1.1\r\nHost: example.test\r\nX-Recv: pass\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    );
  }),
  play('expectation met', ok(), async (p, url) => {
    await p.send(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await p.sleep(60);
    await p.send('hello');
    await p.receive();
  }),
  play('expectation met late', ok(), async (p, url) => {
    await p.send(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Set: late100\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await p.sleep(60);
    await p.send('hello');
    await p.receive();
  }),
  play('expectation and a page', ok(), async (p, url) => {
    await p.send(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Recv: synth\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await p.sleep(60);
    await p.send('hello');
    await p.receive();
    await p.get(url);
  }),
  play('expectation late and a page', ok(), async (p, url) => {
    await p.send(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Set: late100\r\nX-Recv: synth\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await p.receive();
  }),
  play('expectation by http 1.0', ok(), async (p, url) => {
    await p.send(
      `POST ${url} HTTP/1.0\r\nHost: example.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await p.sleep(60);
    await p.send('hello');
    await p.receive();
  }),
  play('expectation without a body', ok(), async (p, url) => {
    await p.send(`GET ${url} HTTP/1.1\r\nHost: example.test\r\nExpect: 100-continue\r\n\r\n`);
    await p.sleep(60);
    await p.receive();
  }),
  play('expectation and a cached body', ok(), async (p, url) => {
    await p.send(
      `POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Set: cachebody late100\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await p.sleep(60);
    await p.send('hello');
    await p.receive();
  }),
  play('body that stops short', ok(), async (p, url) => {
    await p.send(`POST ${url} HTTP/1.1\r\nHost: example.test\r\nContent-Length: 50\r\n\r\nhello`);
    await p.sleep(60);
    p.finish();
    await p.rest();
    await p.sleep(60);
  }),
  play('answer before the body', ok(), async (p, url) => {
    await p.send(`POST ${url} HTTP/1.1\r\nHost: example.test\r\nX-Recv: synth\r\nContent-Length: 5\r\n\r\n`);
    await p.sleep(60);
    await p.send('hello');
    await p.receive();
    await p.get(url);
  }),
];

/** An origin that answers a pipe and closes. */
const PIPED: Reply = [...ok({ 'X-Origin': 'as it is' }), { wait: 20 }, { close: true }];

const PIPES: Case[] = [
  page('pipe', PIPED, [{ 'X-Recv': 'pipe', Connection: 'keep-alive' }]),
  page('pipe with own fields', PIPED, [{ 'X-Recv': 'pipe', 'X-Pipe': 'set' }]),
  page('pipe with an upgrade', PIPED, [
    { 'X-Recv': 'pipe', 'X-Pipe': 'upgrade', Connection: 'upgrade', Upgrade: 'thing' },
  ]),
  page('pipe synthesises', PIPED, [{ 'X-Recv': 'pipe', 'X-Pipe': 'synth' }]),
  page('pipe fails', PIPED, [{ 'X-Recv': 'pipe', 'X-Pipe': 'fail' }]),
  play('pipe to the dead', PIPED, async (p, url) => {
    await p.bad(get(url, { 'X-Recv': 'pipe', 'X-Pipe': 'dead' }));
  }),
  page('pipe of a body', PIPED, [{ 'X-Recv': 'pipe' }], 'POST', 'the body'),
  page('pipe of a cached body', PIPED, [{ 'X-Recv': 'pipe', 'X-Set': 'cachebody' }], 'POST', 'the body'),
  play('pipe after a restart', PIPED, async (p, url) => {
    await p.get(url, { 'X-Synth': 'restart', 'X-Recv': 'pipe' });
  }),
  play(
    'pipe after a hit',
    (_h, n) => (n === 1 ? ok() : PIPED),
    async (p, url) => {
      await p.get(url);
      await p.get(url, { 'X-Recv': 'pipe' });
    },
  ),
  play(
    'pipe both ways',
    [
      { send: 'HTTP/1.1 200 OK\r\n\r\nfirst ' },
      { wait: 120 },
      { send: 'second' },
      { wait: 40 },
      { close: true },
    ],
    async (p, url) => {
      await p.send(get(url, { 'X-Recv': 'pipe' }));
      await p.sleep(60);
      await p.send('words from the client');
      await p.rest();
    },
  ),
  play(
    'pipe that the client ends',
    [{ send: 'HTTP/1.1 200 OK\r\n\r\nfirst ' }, { wait: 150 }, { send: 'second' }, { close: true }],
    async (p, url) => {
      await p.send(get(url, { 'X-Recv': 'pipe' }));
      await p.sleep(60);
      p.finish();
      await p.rest();
    },
  ),
  play(
    'pipe that the client resets',
    [{ send: 'HTTP/1.1 200 OK\r\n\r\nfirst ' }, { wait: 300 }, { close: true }],
    async (p, url) => {
      await p.send(get(url, { 'X-Recv': 'pipe' }));
      await p.sleep(80);
      p.leave();
      await p.sleep(350);
    },
  ),
  play('pipe that says nothing', [{ wait: 1500 }, { close: true }], async (p, url) => {
    await p.send(get(url, { 'X-Recv': 'pipe' }));
    await p.rest();
  }),
  play('pipe by http 1.0', PIPED, async (p, url) => {
    await p.send(get(url, { 'X-Recv': 'pipe' }, 'GET', 'HTTP/1.0'));
    await p.rest();
  }),
];

const TIMEOUTS: Case[] = [
  play('first byte never comes', [{ wait: 900 }, { close: true }], async (p, url) => {
    await p.get(url, { 'X-Bf': 'timeouts' });
  }),
  play(
    'next byte never comes',
    [
      { send: 'HTTP/1.1 200 OK\r\nX-Do: nostream\r\nContent-Length: 50\r\n\r\nsome' },
      { wait: 900 },
      { close: true },
    ],
    async (p, url) => {
      await p.get(url, { 'X-Bf': 'timeouts' });
    },
  ),
  play(
    'next chunk never comes',
    [
      { send: 'HTTP/1.1 200 OK\r\nX-Do: nostream\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n' },
      { wait: 900 },
      { close: true },
    ],
    async (p, url) => {
      await p.get(url, { 'X-Bf': 'timeouts' });
    },
  ),
  play(
    'rest of the head never comes',
    [{ send: 'HTTP/1.1 200 OK\r\nX-A' }, { wait: 900 }, { close: true }],
    async (p, url) => {
      await p.get(url, { 'X-Bf': 'timeouts' });
    },
  ),
  play(
    'head cut short',
    [{ send: 'HTTP/1.1 200 OK\r\nX-A: b\r\n' }, { wait: 40 }, { close: true }],
    (p, url) => p.get(url),
  ),
  play(
    'eof while unpacking',
    [
      {
        send: Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Do: nostream\r\n\r\n'),
          GZIPPED.subarray(0, 40),
        ]),
      },
      { wait: 40 },
      { close: true },
    ],
    (p, url) => p.get(url),
  ),
  play(
    'cut of a pass',
    [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this' }, { wait: 60 }, { reset: true }],
    async (p, url) => {
      await p.get(url, { 'X-Recv': 'pass' });
      await p.expectClose();
    },
  ),
];

const FRESHNESS: [string, Fields][] = [
  ['max-age and age', { 'Cache-Control': 'max-age=100', Age: '10' }],
  ['s-maxage of zero', { 'Cache-Control': 'max-age=100, s-maxage=0' }],
  ['max-age in quotes', { 'Cache-Control': 'max-age="100"' }],
  ['max-age negative', { 'Cache-Control': 'max-age=-1' }],
  ['max-age rubbish', { 'Cache-Control': 'max-age=abc' }],
  ['max-age empty', { 'Cache-Control': 'max-age=' }],
  ['max-age without value', { 'Cache-Control': 'max-age' }],
  ['max-age with a fraction', { 'Cache-Control': 'max-age=10.9' }],
  ['max-age with a tail', { 'Cache-Control': 'max-age=10x' }],
  ['max-age huge', { 'Cache-Control': 'max-age=99999999999' }],
  ['max-age twice', { 'Cache-Control': 'max-age=10, max-age=20' }],
  ['max-age upper case', { 'Cache-Control': 'MAX-AGE=10' }],
  ['max-age blanks', { 'Cache-Control': 'max-age = 10' }],
  ['swr', { 'Cache-Control': 'max-age=10, stale-while-revalidate=33' }],
  ['swr negative', { 'Cache-Control': 'max-age=10, stale-while-revalidate=-3' }],
  ['swr without freshness', { 'Cache-Control': 'stale-while-revalidate=33' }],
  ['swr with zero', { 'Cache-Control': 'max-age=0, stale-while-revalidate=33' }],
  ['sie', { 'Cache-Control': 'max-age=10, stale-if-error=33' }],
  ['expires rubbish', { Expires: 'rubbish' }],
  ['expires zero', { Expires: '0' }],
  ['expires minus one', { Expires: '-1' }],
  ['expires and max-age', { Expires: 'Thu, 01 Jan 2015 00:00:00 GMT', 'Cache-Control': 'max-age=9' }],
  ['age rubbish', { 'Cache-Control': 'max-age=100', Age: 'rubbish' }],
  ['age negative', { 'Cache-Control': 'max-age=100', Age: '-5' }],
  ['age fraction', { 'Cache-Control': 'max-age=100', Age: '5.5' }],
  ['age only', { Age: '50' }],
  ['must-revalidate', { 'Cache-Control': 'max-age=10, must-revalidate' }],
  ['private with fields', { 'Cache-Control': 'private="x", max-age=10' }],
  ['no-cache with fields', { 'Cache-Control': 'no-cache="x", max-age=10' }],
  ['public', { 'Cache-Control': 'public' }],
  ['pragma', { Pragma: 'no-cache' }],
  ['surrogate max-age', { 'Surrogate-Control': 'max-age=77' }],
  ['vary star', { 'Cache-Control': 'max-age=10', Vary: '*' }],
  ['vary star among others', { 'Cache-Control': 'max-age=10', Vary: 'X-A, *' }],
  ['vary malformed', { 'Cache-Control': 'max-age=10', Vary: 'X-A X-B' }],
  ['vary empty', { 'Cache-Control': 'max-age=10', Vary: '' }],
  ['date rubbish', { 'Cache-Control': 'max-age=10', Date: 'rubbish' }],
  ['date past', { 'Cache-Control': 'max-age=10', Date: 'Thu, 01 Jan 2015 00:00:00 GMT' }],
  [
    'date and expires past',
    { Date: 'Thu, 01 Jan 2015 00:00:00 GMT', Expires: 'Thu, 01 Jan 2015 00:05:00 GMT' },
  ],
  ['date future', { Date: 'Thu, 01 Jan 2037 00:00:00 GMT', Expires: 'Thu, 01 Jan 2037 00:05:00 GMT' }],
  ['expires future', { Expires: 'Thu, 01 Jan 2037 00:00:00 GMT' }],
  [
    'expires before date',
    { Date: 'Thu, 01 Jan 2015 00:05:00 GMT', Expires: 'Thu, 01 Jan 2015 00:00:00 GMT' },
  ],
];

const STATUSES = [
  200, 201, 202, 203, 204, 205, 206, 226, 300, 301, 302, 303, 305, 307, 308, 400, 401, 403, 404, 405, 410,
  414, 416, 418, 451, 500, 501, 503, 504, 599, 600, 999,
];

const LIFE: Case[] = [
  ...FRESHNESS.map(([name, fields]) =>
    page(`life: ${name}`, respond('200 OK', { ...fields, 'X-Age': '1' }, TEXT), [{}, {}]),
  ),
  ...STATUSES.map((s) =>
    page(`life of ${s}`, respond(`${s} Some`, { 'X-Age': '1' }, s === 204 ? '' : TEXT), [{}, {}]),
  ),
  ...STATUSES.map((s) =>
    page(`life of ${s} with max-age`, respond(`${s} Some`, FRESH, s === 204 ? '' : TEXT), [
      {},
      {},
      { 'X-Recv': 'pass' },
    ]),
  ),
];

const SHARING: Case[] = [
  play('two clients, one fetch', [{ wait: 150 }, ...ok()], async (p, url) => {
    await p.as('a').send(get(url));
    await p.asked(url, 1);
    await p.as('b').send(get(url));
    await p.sleep(60);
    await p.as('a').receive();
    await p.as('b').receive();
  }),
  play(
    'two clients, uncacheable',
    (_h, n) => [{ wait: 150 }, ...ok({ 'Cache-Control': 'private' }, `n ${n}\n`)],
    async (p, url) => {
      await p.as('a').send(get(url));
      await p.asked(url, 1);
      await p.as('b').send(get(url));
      await p.sleep(60);
      await p.as('a').receive();
      await p.as('b').receive();
    },
  ),
  play(
    'two clients, and it fails',
    (_h, n) => (n === 1 ? [{ wait: 150 }, { close: true }] : ok()),
    async (p, url) => {
      await p.as('a').send(get(url));
      await p.asked(url, 1);
      await p.as('b').send(get(url));
      await p.sleep(60);
      await p.as('a').receive();
      await p.as('b').receive();
    },
  ),
  play(
    'two clients, two variants',
    (_h, n) => [{ wait: 150 }, ...ok({ Vary: 'X-V' }, `n ${n}\n`)],
    async (p, url) => {
      await p.as('a').send(get(url, { 'X-V': '1' }));
      await p.asked(url, 1);
      await p.as('b').send(get(url, { 'X-V': '2' }));
      await p.sleep(60);
      await p.as('a').receive();
      await p.as('b').receive();
    },
  ),
  play(
    'ignoring the busy',
    (_h, n) => [{ wait: 150 }, ...ok({}, `n ${n}\n`)],
    async (p, url) => {
      await p.as('a').send(get(url));
      await p.asked(url, 1);
      await p.sleep(20);
      await p.as('b').send(get(url, { 'X-Set': 'ignore-busy' }));
      await p.as('a').receive();
      await p.as('b').receive();
      await p.get(url);
    },
  ),
  play('one waits and leaves', [{ wait: 200 }, ...ok()], async (p, url) => {
    await p.as('a').send(get(url));
    await p.asked(url, 1);
    await p.as('b').send(get(url));
    await p.sleep(60);
    p.as('b').leave();
    await p.as('a').receive();
    await p.sleep(60);
  }),
  play(
    'two clients share a stream',
    [
      { send: 'HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nContent-Length: 20\r\n\r\n0123456789' },
      { wait: 250 },
      { send: 'abcdefghij' },
    ],
    async (p, url) => {
      await p.as('a').send(get(url));
      await p.asked(url, 1);
      await p.sleep(80);
      await p.as('b').send(get(url, { 'X-Show': 'streaming' }));
      await p.as('a').receive();
      await p.as('b').receive();
    },
  ),
  play(
    'one fetches and leaves',
    [
      { send: 'HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nContent-Length: 20\r\n\r\n0123456789' },
      { wait: 150 },
      { send: 'abcdefghij' },
    ],
    async (p, url) => {
      await p.as('a').send(get(url));
      await p.asked(url, 1);
      await p.sleep(60);
      p.leave();
      await p.sleep(200);
      await p.as('b').get(url);
    },
  ),
  play(
    'waiting behind a fetch that is retried',
    (_h, n) => [{ wait: 120 }, ...ok({}, `n ${n}\n`)],
    async (p, url) => {
      await p.as('a').send(get(url, { 'X-Br': 'retry' }));
      await p.asked(url, 1);
      await p.as('b').send(get(url));
      await p.as('a').receive();
      await p.as('b').receive();
    },
  ),
  play('waiting behind a miss that restarts', ok(), async (p, url) => {
    await p.as('a').get(url, { 'X-Miss': 'restart' });
    await p.as('b').get(url);
  }),
  play(
    'grace while it is fetched',
    (_h, n) => (n === 1 ? ok(SHORT) : [{ wait: 200 }, ...ok({}, `n ${n}\n`)]),
    async (p, url) => {
      await p.as('a').get(url);
      await p.sleep(250);
      await p.get(url);
      await p.asked(url, 2);
      await p.as('b').get(url);
      await p.fetched(url, 2);
      await p.sleep(100);
      await p.get(url);
    },
  ),
];

const VERSIONS: Case[] = [
  play(
    'http 1.0 with chunks of an origin',
    respondChunked('200 OK', { ...FRESH, 'X-Do': 'nostream' }, ['one ', 'two']),
    async (p, url) => {
      await p.raw(get(url, { Connection: 'keep-alive' }, 'GET', 'HTTP/1.0'));
      await p.raw(get(url, {}, 'GET', 'HTTP/1.0'));
      await p.expectClose();
    },
  ),
  play('http 1.0 pass', ok(), async (p, url) => {
    await p.raw(get(url, { 'X-Recv': 'pass' }, 'GET', 'HTTP/1.0'));
    await p.expectClose();
  }),
  play('http 1.0 without a host', ok(), async (p, url) => {
    await p.raw(`GET ${url} HTTP/1.0\r\n\r\n`);
    await p.expectClose();
  }),
  play('http 1.0 gets a page', ok(), async (p, url) => {
    await p.raw(get(url, { 'X-Recv': 'synth' }, 'GET', 'HTTP/1.0'));
    await p.expectClose();
  }),
  play(
    'connection lists fields',
    ok({ Connection: 'X-Hop', 'X-Hop': '1', 'X-Stay': '1' }),
    async (p, url) => {
      await p.get(url, { Connection: 'X-Mine', 'X-Mine': '1', 'X-Theirs': '1' });
      await p.get(url, { Connection: 'X-Mine, close', 'X-Mine': '1', 'X-Recv': 'pass' });
      await p.expectClose();
    },
  ),
  page('proxy fields', ok(), [
    {
      'Proxy-Connection': 'x',
      'Proxy-Authorization': 'y',
      TE: 'trailers',
      Trailer: 'X',
      Upgrade: 'u',
      'Keep-Alive': '5',
    },
    {
      'X-Recv': 'pass',
      'Proxy-Authorization': 'y',
      'If-Match': '"x"',
      Range: 'bytes=1-2',
      'Accept-Encoding': 'br',
    },
  ]),
  page('fields of a fetch', ok(), [
    {
      'If-Match': '"x"',
      'If-Unmodified-Since': 'x',
      'If-None-Match': '"x"',
      'If-Modified-Since': 'x',
      'If-Range': 'x',
      Range: 'bytes=1-2',
      'Cache-Control': 'no-cache',
      'Accept-Encoding': 'br',
      'Content-Length': '0',
    },
  ]),
  play('delete, patch, put passed', ok(), async (p, url) => {
    for (const method of ['DELETE', 'PATCH', 'PUT', 'TRACE', 'OPTIONS']) await p.exchange(method, url);
  }),
  play('head then get pipelined', ok(), async (p, url) => {
    await p.rawMany(get(url) + get(url), 2);
  }),
];

export const MACHINE_CASES: Case[] = [
  ...CLIENT_STATES,
  ...FETCH_STATES,
  ...RANGE_CASES,
  ...CONDITIONS,
  ...REVALIDATION,
  ...GRACE,
  ...BODIES,
  ...UPLOADS,
  ...PIPES,
  ...TIMEOUTS,
  ...LIFE,
  ...SHARING,
  ...VERSIONS,
];
