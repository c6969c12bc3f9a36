// Cases of passage.test.ts, and where proxyd differs in them on purpose.
import { gzipSync } from 'node:zlib';
import { type Reply, respond } from '../harness/origin.ts';
import type { Case } from './cases.ts';
import type { Known } from './compare.ts';
import type { Player } from './runner.ts';

type Fields = Record<string, string>;
type Answer = Reply | ((head: string, n: number) => Reply);

const TEXT = 'The quick brown fox jumps over the lazy dog.\n';
const FRESH = { 'Cache-Control': 'max-age=100' };
const PACKED = gzipSync('0123456789'.repeat(50));
const PART = { 'Content-Range': 'bytes 5-24/500' };

const ok = (fields: Fields = {}, body: string | Buffer = TEXT): Reply =>
  respond('200 OK', { ...FRESH, ...fields }, body);

const part = (fields: Fields = {}, body: string | Buffer = '56789012345678901234'): Reply =>
  respond('206 Partial Content', { ...FRESH, ...fields }, body);

function play(name: string, answer: Answer, steps: (p: Player, url: string) => Promise<void>): Case {
  const url = `/${name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`;
  return {
    name,
    script: (o) => o.on(url, typeof answer === 'function' ? (request, n) => answer(request.head, n) : answer),
    play: (p) => steps(p, url),
  };
}

/** Requests for one URL, one after another. */
const page = (name: string, answer: Answer, requests: Fields[]): Case =>
  play(name, answer, async (p, url) => {
    for (const fields of requests) await p.get(url, fields);
  });

const passed = (name: string, answer: Answer, fields: Fields): Case =>
  page(name, answer, [{ 'X-Do': 'pass', ...fields }]);

const raw = (url: string, fields: string, method = 'GET', proto = 'HTTP/1.1'): string =>
  `${method} ${url} ${proto}\r\nHost: example.test\r\n${fields}\r\n`;

const HOPS: Case[] = [
  ...['', 'pass', 'pipe'].flatMap((way) => [
    page(`connection names what a client brought ${way}`, ok(), [
      { 'X-Do': way, Connection: 'X-Device, x-b', 'X-Device': 'm', 'X-B': '1', 'X-C': '2' },
    ]),
    page(`connection names what a program sets ${way}`, ok(), [
      { 'X-Do': `device ${way}`, Connection: 'X-Device, X-Seen', 'X-Device': 'mobile' },
    ]),
    page(`connection names the very value a program sets ${way}`, ok(), [
      { 'X-Do': `device ${way}`, Connection: 'X-Device', 'X-Device': 'desktop' },
    ]),
  ]),
  play('connection on several lines', ok(), async (p, url) => {
    await p.raw(raw(url, 'X-B: 1\r\nConnection: keep-alive\r\nX-B: 2\r\nConnection: X-B\r\nX-C: 3\r\n'));
  }),
  page('connection with odd members', ok(), [
    { Connection: '"x-b" , x-b;q=1,, X-Device x', 'X-B': '1', 'X-Device': '2' },
  ]),
  play('http/1.0 names headers', ok(), async (p, url) => {
    await p.raw(raw(url, 'Connection: keep-alive, X-B\r\nX-B: 1\r\n', 'GET', 'HTTP/1.0'));
  }),
  ...['Cookie', 'X-Forwarded-For', 'Host', 'Cache-Control', 'Content-Length'].map((name) =>
    play(`connection names ${name}`, ok(), (p, url) => p.bad(raw(url, `Connection: close, ${name}\r\n`))),
  ),
  page('connection names headers that end anyway', ok(), [
    { Connection: 'Upgrade, TE, Keep-Alive, Trailer', Upgrade: 'x', TE: 'trailers', Trailer: 'x' },
  ]),
  page('an origin names its own', ok({ Connection: 'X-Hop', 'X-Hop': '1' }), [{}, { 'X-Do': 'pass' }]),
  page('an origin names what a program sets', ok({ Connection: 'X-Hop', 'X-Hop': '1' }), [
    { 'X-Bedo': 'own-hop' },
    {},
  ]),
  page('an origin names a well-known header', ok({ Connection: 'Cache-Control' }), [{}, {}]),
  page('an origin names one of both', ok({ Connection: 'X-Hop, Vary', 'X-Hop': '1' }), [{}]),
  page('cache-control on lines of its own', ok(), [{}]),
  play('cache-control on several lines', ok(), async (p, url) => {
    const fields =
      'cache-control: 1\r\nX-A: 1\r\nCache-Control:  2 \r\nX-B: 1\r\nCache-CONTROL: \r\nX-C: 1\r\n';
    await p.raw(raw(url, fields));
    await p.raw(raw(url, `X-Do: pass\r\n${fields}`));
  }),
];

const CLOSING: Case[] = [
  ...['', 'pass'].flatMap((way) => [
    page(`the program tells the origin to close ${way}`, ok(), [
      { 'X-Do': way, 'X-Bedo': 'bereq-close' },
      { 'X-Do': 'pass' },
    ]),
    page(`the program tells the origin another option ${way}`, ok(), [
      { 'X-Do': way, 'X-Bedo': 'bereq-option' },
      { 'X-Do': 'pass' },
    ]),
    page(`the program closes after the answer ${way}`, ok(), [
      { 'X-Do': way, 'X-Bedo': 'beresp-close' },
      { 'X-Do': 'pass' },
    ]),
  ]),
  page('the program closes after an answer in one piece', ok(), [
    { 'X-Bedo': 'beresp-close nostream' },
    { 'X-Do': 'pass' },
  ]),
  page('the program takes the origin’s word away', ok({ Connection: 'close' }), [
    { 'X-Bedo': 'keep-alive' },
    { 'X-Do': 'pass' },
  ]),
  play('the program closes the client', ok(), async (p, url) => {
    await p.get(url, { 'X-Do': 'resp-close' });
    await p.expectClose();
  }),
  page('the program tells the client an option', ok(), [{ 'X-Do': 'resp-option' }, {}]),
  play('the program’s option and a client that closes', ok(), async (p, url) => {
    await p.get(url, { 'X-Do': 'resp-option', Connection: 'close' });
    await p.expectClose();
  }),
  play('a page before a late 100', ok(), async (p, url) => {
    await p.raw(raw(url, 'X-Do: late100 synth\r\nExpect: 100-continue\r\nContent-Length: 5\r\n', 'POST'));
    await p.expectClose();
  }),
  ...['take-back', 'keep'].map((how) =>
    play(`a page before a late 100, ${how}`, ok(), async (p, url) => {
      const fields = `X-Do: late100 synth ${how}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n`;
      await p.send(raw(url, fields, 'POST'));
      await p.sleep(60);
      await p.send('hello');
      await p.receive('POST');
      await p.get(url);
    }),
  ),
  play('a late 100 that nobody wanted', ok(), async (p, url) => {
    await p.send(raw(url, 'X-Do: late100\r\nExpect: 100-continue\r\nContent-Length: 5\r\n', 'POST'));
    await p.sleep(60);
    await p.send('hello');
    await p.receive('POST');
    await p.get(url);
  }),
  page('a retry begins as a first try', ok(), [{ 'X-Bedo': 'retry' }]),
];

const PARTS: Case[] = [
  passed('a part of what was asked', part(PART), { Range: 'bytes=5-24' }),
  passed('a part of packed data', part({ ...PART, 'Content-Encoding': 'gzip' }, PACKED.subarray(5, 25)), {
    Range: 'bytes=5-24',
  }),
  passed('the same for who takes packed data', part({ ...PART, 'Content-Encoding': 'gzip' }), {
    Range: 'bytes=5-24',
    'Accept-Encoding': 'gzip',
  }),
  passed('a part is not packed', part({ ...PART, ETag: '"e"' }), { Range: 'bytes=5-24', 'X-Bedo': 'pack' }),
  passed('a part is not unpacked', part({ ...PART, 'Content-Encoding': 'gzip', ETag: '"e"' }), {
    Range: 'bytes=5-24',
    'X-Bedo': 'open',
  }),
  passed('a whole called a part', ok({ 'Content-Encoding': 'gzip' }, PACKED), { 'X-Bedo': 'set206' }),
  passed('a whole called a part, opened', ok({ 'Content-Encoding': 'gzip' }, PACKED), {
    'X-Bedo': 'set206 open',
  }),
  page('a part that is kept', part({ 'X-Ttl': '10s' }), [{}, {}]),
  page('a part of packed data that is kept', part({ 'X-Ttl': '10s', 'Content-Encoding': 'gzip' }), [{}, {}]),
  page('a part that nobody asked for', part(PART), [{}, { 'X-Bedo': 'noplace' }]),
  page('a part that only the program asked for', part(PART), [
    { 'X-Bedo': 'add-range' },
    { 'X-Do': 'pass', 'X-Bedo': 'add-range' },
  ]),
  passed('a part that the program no longer asks for', part(PART), {
    Range: 'bytes=5-24',
    'X-Bedo': 'lose-range',
  }),
  ...[
    ['bytes=5-24', 'bytes 4-23/500'],
    ['bytes=5-24', 'bytes 6-25/500'],
    ['bytes=5-24', 'bytes 5-23/500'],
    ['bytes=5-24', 'bytes 5-25/500'],
    ['bytes=5-10', 'bytes 5-24/500'],
    ['bytes=5-99', 'bytes 5-24/25'],
    ['bytes=-20', 'bytes 480-499/500'],
    ['bytes=5-24', 'bytes 24-5/500'],
    ['bytes=5-24', 'bytes 5-24/20'],
    ['bytes=5-24', '5-24/500'],
    ['bytes=5-24', 'bytes */500'],
    ['bytes=5-24,30-31', 'bytes 5-24/500'],
    ['bytes=24-5', 'bytes 5-24/500'],
  ].map(([asked, given]) =>
    passed(`${asked} answered by ${given}`, part({ 'Content-Range': given as string }), {
      Range: asked as string,
    }),
  ),
  ...['200 OK', '404 Not Found', '500 Oops', '416 No'].flatMap((status) => [
    passed(`${status} with a place nobody asked for`, respond(status, PART, 'x'.repeat(20)), {}),
    page(`${status} with a place, cacheable`, respond(status, PART, 'x'.repeat(20)), [{}]),
  ]),
  passed('416 with the length of all', respond('416 No', { 'Content-Range': 'bytes */35' }, 'no'), {
    Range: 'bytes=99-',
  }),
  page('unfiltered, then unpacked', ok({ 'Content-Encoding': 'gzip' }, PACKED), [
    { 'X-Bedo': 'nofilters', 'X-Do': 'gunzip' },
    { 'X-Do': 'gunzip', 'Accept-Encoding': 'gzip' },
    {},
  ]),
];

/** Slow the first time, 304 for conditional requests. */
const slowly =
  (ends: boolean): Answer =>
  (head) => {
    const fields = { ETag: '"a"', 'X-Ttl': '0.3s', 'X-Grace': '0s' };
    if (/if-none-match/i.test(head)) return respond('304 Not Modified', { ...fields, 'X-Ttl': '60s' });
    const start =
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: "a"\r\nX-Ttl: 0.3s\r\nX-Grace: 0s\r\n\r\nhello';
    return [{ send: start }, { wait: 900 }, ends ? { send: 'world' } : { close: true }];
  };

/** Requests the URL from one client, and from another while the first is still receiving it. */
const meanwhile = (name: string, ends: boolean): Case =>
  play(name, slowly(ends), async (p, url) => {
    await p.as('first').send(raw(url, ''));
    await p.sleep(500);
    await p.as('second').send(raw(url, ''));
    await p.as('first').receive();
    await p.as('second').receive();
    if (ends) await p.as('third').get(url);
  });

const RENEWAL: Case[] = [
  meanwhile('304 for what is still being fetched', true),
  meanwhile('304 for what then breaks off', false),
  play(
    '304 and headers on several lines',
    (head) => {
      if (/if-none-match/i.test(head))
        return respond('304 Not Modified', { ETag: '"a"', 'X-One': 'new', 'X-Ttl': '60s' });
      const lines = 'Link: a\r\nX-One: 1\r\nLink: b\r\nX-One: 2\r\nlink: c\r\n';
      return [
        {
          send: `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: "a"\r\nX-Ttl: 0.2s\r\nX-Grace: 0s\r\n${lines}\r\nhi`,
        },
      ];
    },
    async (p, url) => {
      await p.get(url);
      await p.sleep(400);
      await p.get(url);
      await p.get(url);
    },
  ),
  ...['pack', 'open'].map((how) =>
    play(
      `304 with another tag for what was recoded here: ${how}`,
      (head) => {
        if (/if-none-match/i.test(head)) return respond('304 Not Modified', { ETag: '"b"', 'X-Ttl': '60s' });
        const fields = { ETag: '"a"', 'X-Ttl': '0.2s', 'X-Grace': '0s' };
        return how === 'pack'
          ? respond('200 OK', fields, TEXT)
          : respond('200 OK', { ...fields, 'Content-Encoding': 'gzip' }, PACKED);
      },
      async (p, url) => {
        await p.get(url, { 'X-Bedo': `${how} nostream`, 'Accept-Encoding': 'gzip' });
        await p.sleep(400);
        await p.get(url, { 'X-Bedo': `${how} nostream`, 'Accept-Encoding': 'gzip' });
      },
    ),
  ),
  ...['', 'cachebody'].flatMap((how) =>
    [true, false].map((sized) =>
      play(
        `a background fetch takes the body ${how}${sized ? '' : ' in chunks'}`,
        respond('200 OK', { 'X-Ttl': '0.2s', 'X-Grace': '60s' }, TEXT),
        async (p, url) => {
          const fields = `X-Method: POST\r\nX-Do: ${how}\r\n`;
          const request = sized
            ? `${raw(url, `${fields}Content-Length: 5\r\n`, 'POST')}hello`
            : `${raw(url, `${fields}Transfer-Encoding: chunked\r\n`, 'POST')}5\r\nhello\r\n0\r\n\r\n`;
          await p.raw(request, 'POST');
          await p.sleep(400);
          await p.raw(request, 'POST');
          await p.fetched(url, 2);
          p.noteUpload(url);
        },
      ),
    ),
  ),
  play('a date since when it is the response', ok(), async (p, url) => {
    await p.get(url);
    await p.sleep(1100);
    const at = (ms: number): string => new Date(Date.now() + ms).toUTCString();
    for (const since of [at(0), at(-60_000), at(60_000), 'junk'])
      await p.raw(raw(url, `If-Modified-Since: ${since}\r\n`));
  }),
  page(
    'weights of gzip',
    ok(),
    ['gzip;q=-1', 'gzip;q=x', 'gzip;q=', 'gzip;q=0.001', 'gzip;q=.5', 'gzip;q=0,gzip', 'br, gzip'].map(
      (coding) => ({ 'Accept-Encoding': coding }),
    ),
  ),
];

export const PASSAGE_CASES: Case[] = [...HOPS, ...CLOSING, ...PARTS, ...RENEWAL];

const log = (reason: string): Known => ({ reason, parts: ['log'] });
const REFUSED: Known = {
  reason: 'a refusal says Connection: close, and the log says which name was wrong',
  parts: ['client', 'log'],
  client: ['400 Bad Request'],
};
const UNREAD = 'a connection with a body that nobody reads is closed';
const WHEN_ASKED = 'the body is read after the answer, not before it';

export const PASSAGE_KNOWN: Record<string, Known> = {
  ...Object.fromEntries(
    ['Cookie', 'X-Forwarded-For', 'Host', 'Cache-Control', 'Content-Length'].map((name) => [
      `connection names ${name}`,
      REFUSED,
    ]),
  ),
  ...Object.fromEntries(
    PARTS.filter((c) => /^(bytes=|200|404|500|416 No|a part that nobody|a part that only)/.test(c.name)).map(
      (c) => [c.name, log(UNREAD)],
    ),
  ),
  'a page before a late 100, take-back': log(WHEN_ASKED),
  'a page before a late 100, keep': log(WHEN_ASKED),
  'a late 100 that nobody wanted': log(WHEN_ASKED),
  '304 with another tag for what was recoded here: pack': {
    reason: 'two packers pack the same text to different lengths',
    parts: ['client', 'log'],
    client: ['200 OK', '200 OK'],
  },
  'a background fetch takes the body  in chunks': log('a chunk’s size has as many digits as it needs'),
  'a background fetch takes the body cachebody in chunks': log('the length is told once'),
};
