// Each rule of "why?" on what a real proxyd logged for it (test/harness/why/): the case's last request, with all that
// was logged of its URL before. A rule that no case makes speak fails the last test.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { answerItems, textField } from '../../../../console/model/session/admin-store.ts';
import { decodeTransaction, type RecordedTransaction } from '../../../../console/model/session/recording.ts';
import { timeline } from '../../../../console/views/log/timeline.ts';
import { type BanFact, banMatches } from '../../../../console/views/log/why/ban-match.ts';
import { explainFetchError } from '../../../../console/views/log/why/error-rules.ts';
import { FRAGMENT_RULES } from '../../../../console/views/log/why/fragment-rules.ts';
import { Facts } from '../../../../console/views/log/why/request-facts.ts';
import { WHY_RULES, why } from '../../../../console/views/log/why/why.ts';
import type { Reason } from '../../../../console/views/log/why/why-case.ts';
import { encodeRecord } from '../../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { Tag } from '../../../../protocol/tables/tags.ts';

interface Recorded {
  groups: RecordedTransaction[][];
  bans: Record<string, string>;
}

const file = new URL('./why-recorded.json.gz', import.meta.url);
const recorded = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Recorded;
const groups = recorded.groups.map((g) => g.map(decodeTransaction));

function requestOf(group: readonly LogTransaction[]): Facts {
  return new Facts(group.find((tx) => tx.type === 'request') as LogTransaction);
}

/** Of a request that could not be read there is no name. */
function caseOf(group: readonly LogTransaction[]): string {
  return requestOf(group).request.get('x-case') ?? 'bad request';
}

/** The answer for the nth group of a case, counted from its end. */
function output(name: string, fromEnd = 1, bans = bansOf(name)): Reason[] {
  const own = groups.filter((g) => caseOf(g) === name);
  const group = own.at(-fromEnd) as LogTransaction[];
  const before = groups.slice(0, groups.indexOf(group));
  const { url } = requestOf(group);
  const earlier = before.filter((g) => requestOf(g).url === url).reverse();
  const elsewhere = before.filter((g) => requestOf(g).url !== url).reverse();
  return why(group, { earlier, elsewhere, bans, since: requestOf(groups[0] as LogTransaction[]).at });
}

function bansOf(name: string): BanFact[] {
  return answerItems(recorded.bans[name] ?? '').map((b) => ({
    at: Number(textField(b, 'time')),
    spec: textField(b, 'spec'),
    soft: textField(b, 'soft') === 'true',
  }));
}

/** Case, rule, what its sentence says, the tags of its evidence. */
const ROWS: readonly [string, string, RegExp, string][] = [
  [
    'never seen',
    'never-seen',
    /not in the cache, and no earlier fetch of it is in the console’s log, which begins at \d\d:/,
    'VCL_return',
  ],
  ['hit', 'hit', /^A hit: object \d+, fetched \S+ ago, is fresh for another \S+\.$/, 'Hit'],
  ['expired', 'expired', /expired \d+ms before: .*lifetime of 1\.00s, without grace/, 'TTL'],
  [
    'hit-for-miss: Set-Cookie',
    'hit-for-miss',
    /because it has a Set-Cookie; .* another 1m59s/,
    'HitMiss BerespHeader TTL',
  ],
  ['hit-for-miss: private', 'hit-for-miss', /Cache-Control says private/, 'HitMiss BerespHeader TTL'],
  ['hit-for-miss: no-store', 'hit-for-miss', /Cache-Control says no-store/, 'HitMiss BerespHeader TTL'],
  ['hit-for-miss: Vary *', 'hit-for-miss', /Vary is \*/, 'HitMiss BerespHeader TTL'],
  ['hit-for-miss: program', 'hit-for-miss', /the program marked it uncacheable/, 'HitMiss TTL'],
  ['no lifetime', 'hit-for-miss', /its headers give it no lifetime/, 'HitMiss BerespHeader TTL'],
  [
    'hit-for-pass',
    'hit-for-pass',
    /hit-for-pass object .* because the program returned pass for it/,
    'HitPass TTL',
  ],
  [
    'other variant',
    'other-variant',
    /accept-language, which is "fr" here and was "de"/,
    'BerespHeader ReqHeader',
  ],
  [
    'purged',
    'purged',
    /had been purged \S+ before, by request \d+ \(FLUSH \/purge-me\)/,
    'ReqMethod VCL_return',
  ],
  [
    'purged by recipe',
    'purged',
    /^It had been purged \S+ before, by request \d+ \(PURGE \/recipe, 1 object\)\.$/,
    'ReqMethod VCL_return ReqHeader',
  ],
  ['purged in vain', 'never-seen', /no earlier fetch of it is/, 'VCL_return'],
  [
    'soft purge',
    'grace',
    /^A hit in grace: object \d+ was made stale \S+ ago by request \d+ \(SOFTPURGE \/softly, 1 object\)/,
    'Hit Link ReqMethod VCL_return ReqHeader',
  ],
  [
    'purged by key',
    'purged',
    /^It had been purged \S+ before, by request \d+ \(PURGE by keys blue pink, 1 object\)\.$/,
    'Notice',
  ],
  [
    'soft purge by key',
    'grace',
    /was made stale \S+ ago by request \d+ \(soft, SOFTPURGE by key blue, 1 object\)/,
    'Hit Link Notice',
  ],
  [
    'banned over HTTP',
    'banned',
    /by the ban "req\.url == \/ban-http", which request \d+ added \S+ before; it was fetched again/,
    'ExpBan',
  ],
  [
    'refreshed',
    'purged',
    /^It had been purged \S+ before, by request \d+ \(REFRESH \/refresh\)\.$/,
    'ReqMethod VCL_return',
  ],
  [
    'synth after lookup',
    'synth',
    /vcl_miss returned synth with 404 Not here; no backend was contacted/,
    'VCL_return RespStatus',
  ],
  ['banned by url', 'banned', /by the ban "req\.url == \/ban-me"/, 'ExpBan'],
  ['banned by tag', 'banned', /by the ban "obj\.http\.xkey ~ red"/, 'ExpBan'],
  ['cookie', 'cookie', /passed in vcl_recv. It has a Cookie/, 'ReqHeader VCL_return'],
  [
    'authorization',
    'authorization',
    /passed in vcl_recv. It has an Authorization header/,
    'ReqHeader VCL_return',
  ],
  ['method', 'method', /because of its method: POST/, 'ReqMethod VCL_return'],
  ['return pass', 'return-pass', /VCL returned pass in vcl_recv/, 'VCL_return'],
  ['pass after hit', 'return-pass', /program returned pass in vcl_hit, after the lookup/, 'VCL_return'],
  ['pipe', 'pipe', /the method BREW is none/, 'ReqMethod VCL_return'],
  ['synth', 'synth', /synth with 418 Teapot/, 'VCL_return RespStatus'],
  ['grace', 'grace', /expired \d+ms ago, .*again in the background \(\d+\)/, 'Hit Link'],
  ['streaming', 'streaming-hit', /still being fetched: 10000 bytes were there/, 'Hit'],
  ['waited', 'waited', /waiting \d+ms for another request/, 'Timestamp Hit'],
  [
    'closed',
    'fetch-error',
    /from shop failed, twice: the backend closed .*; the client got 503/,
    'FetchError RespStatus',
  ],
  ['refused', 'fetch-error', /the backend refused the connection/, 'FetchError RespStatus'],
  ['first byte', 'fetch-error', /no response from the backend in time/, 'FetchError RespStatus'],
  ['sick', 'fetch-error', /the backend is sick/, 'FetchError RespStatus'],
  ['backend says 500', 'backend-error', /backend shop answered 500 Internal Server Error/, 'BerespStatus'],
  ['restart', 'restarted', /restarted the request once/, 'Begin'],
  [
    'not kept',
    'not-kept',
    /last response \(\d+, \S+ before\) was not kept, because the fetch failed/,
    'FetchError',
  ],
  ['fail in fetch', 'not-kept', /because the program failed its fetch in vcl_backend_fetch\.$/, 'VCL_return'],
  ['fail in response', 'not-kept', /the program failed its fetch in vcl_backend_response\.$/, 'VCL_return'],
  ['fail after retry', 'not-kept', /the program failed its fetch in vcl_backend_response\.$/, 'VCL_return'],
  ['abandon in response', 'not-kept', /program abandoned its fetch in vcl_backend_response\.$/, 'VCL_return'],
  ['error in response', 'not-kept', /because the program made it an error\.$/, 'VCL_return'],
  ['retried too often', 'not-kept', /because its fetch was retried as often as max_retries/, 'VCL_return'],
  ['error with a lifetime', 'hit', /^A hit: object \d+, fetched \S+ ago, is fresh/, 'Hit'],
  ['retried', 'hit', /^A hit: object \d+, fetched \S+ ago, is fresh/, 'Hit'],
  ['kept, then started again', 'expired', /^It had expired \d+ms before: .*lifetime of 1\.00s/, 'TTL'],
  ['purged, then failed', 'not-kept', /because the program failed its fetch/, 'VCL_return'],
  ['did not wait', 'busy', /^It was not in the cache yet: \d+ was fetching it, and/, 'VCL_return'],
  [
    'waited in vain',
    'not-kept',
    /because the program failed its fetch in vcl_backend_response/,
    'VCL_return',
  ],
  ['removed', 'removed', /would be fresh for 5\ds more, but was gone/, 'TTL'],
  [
    'bad request',
    'bad-request',
    /^The request was refused with 400 before the program saw it: a blank stands in the name of a header or before its colon \(byte 0x20 in line 4 \(header Bad\)\)\.$/,
    'Error BogoHeader RespStatus',
  ],
  [
    'two hosts',
    'bad-request',
    /refused with 400 .*: Host stands there more than once \("host: other.example"\)/,
    'Error BogoHeader RespStatus',
  ],
  [
    'bad upload',
    'bad-request',
    /^The body of the request was refused: the size of a chunk is not .* \(byte 0x20 after 0 bytes of data\)\.$/,
    'Error RespStatus',
  ],
  [
    'two lengths',
    'answer-refused',
    /^The answer of shop was refused: Content-Length stands there more than once \("Content-Length: 1" and "Content-Length: 2"\); the client got 503\.$/,
    'Error RespStatus',
  ],
  [
    'bad head',
    'answer-refused',
    /^The answer of shop was refused: a blank stands .* \(byte 0x20 in line 2 \(header X-Odd\)\); the client got 503\.$/,
    'Error FetchError RespStatus',
  ],
  [
    'bad chunk',
    'answer-refused',
    /was refused: the size of a chunk is not .* \(byte 0x7a after 2 bytes of data\)/,
    'Error FetchError RespStatus',
  ],
  ['program error', 'program-error', /The program failed: .*told to/, 'VCL_Error'],
];

describe('why?', () => {
  it.each(ROWS)('%s', (name, rule, sentence, tags) => {
    const reason = output(name).find((r) => r.rule === rule);
    expect(output(name).map((r) => r.rule)).toContain(rule);
    expect(reason?.sentence).toMatch(sentence);
    if (tags !== '') expect(reason?.evidence.map((e) => e.tag).join(' ')).toBe(tags);
  });

  it('names the purge itself', () => {
    const sentence = (name: string): string => {
      const [only, ...more] = output(name, 2);
      expect([only?.rule, more.length]).toEqual(['purge', 0]);
      return only?.sentence ?? '';
    };
    expect(sentence('purged')).toBe(
      'This was a purge: the program returned purge, and every variant of the object left the cache.',
    );
    expect(sentence('purged by recipe')).toBe(
      'This was a purge: the program answered PURGE /recipe with 200 Purged, and 1 object left the cache.',
    );
    expect(sentence('purged in vain')).toMatch(/and nothing left the cache\.$/);
    expect(sentence('soft purge')).toMatch(/^This was a soft purge: .* and 1 object became stale\.$/);
    expect(sentence('purged by key')).toBe(
      'This was a purge by surrogate key: objects with blue or pink left the cache: 1 object.',
    );
    expect(sentence('banned over HTTP')).toMatch(
      /^This was a ban: objects that match "req\.url == \/ban-http" and are older/,
    );
  });

  it('names the soft ban of an administrator that made an object stale', () => {
    const group = groups.filter((g) => caseOf(g) === 'grace').at(-1) as LogTransaction[];
    const request = requestOf(group);
    const end = request.at + Number(request.first('Hit')?.text.split(' ')[1]);
    const of = (at: number, soft: boolean): string =>
      output('grace', 1, [{ at, spec: 'req.url == /grace', soft }])[0]?.sentence ?? '';
    expect(of(end, true)).toMatch(
      / was made stale \d+ms ago by the soft ban "req\.url == \/grace", and its grace is/,
    );
    expect(of(end - 1, true)).toMatch(/ expired \d+ms ago,/);
    expect(of(end, false)).toMatch(/ expired \d+ms ago,/);
  });

  it('names the ban that removed what should be fresh, or made it stale', () => {
    const group = groups.filter((g) => caseOf(g) === 'removed').at(-1) as LogTransaction[];
    const { at } = requestOf(group);
    const of = (soft: boolean): string =>
      output('removed', 1, [{ at: at - 0.5, spec: 'obj.http.x-evict == 1', soft }])[0]?.sentence ?? '';
    expect(of(false)).toMatch(/more, but the ban "obj\.http\.x-evict == 1" removed it\.$/);
    expect(of(true)).toMatch(/but the soft ban "[^"]+" made it stale, and its grace was over or not used\.$/);
  });

  it('reports what becomes of the response', () => {
    expect(output('never seen').at(-1)).toMatchObject({
      rule: 'next-is-hit',
      sentence: 'The response is kept for 1m00s, and 10s of grace: the next request is a hit.',
    });
    expect(output('hit-for-miss: private').at(-1)?.rule).toBe('next-is-no-hit');
    expect(output('error with a lifetime', 2).at(-1)?.rule).toBe('next-is-hit');
    for (const name of ['fail in response', 'abandon in response', 'error in response', 'retried too often'])
      expect(output(name).at(-1)?.rule).toBe('next-is-no-hit');
    expect(output('cookie').map((r) => r.rule)).toEqual(['cookie']);
  });

  it('admits that a ban it cannot find is gone', () => {
    expect(output('banned by url', 1, [])[0]?.sentence).toContain('the ban is no longer in the list');
  });

  it('gives every rule a case that makes it speak', () => {
    const names = new Set(groups.map((g) => caseOf(g)));
    const spoken = new Set(
      [...names]
        .flatMap((n) => [1, 2].flatMap((i) => (atLeast(n, i) ? output(n, i) : [])))
        .map((r) => r.rule),
    );
    // Those of pages are in fragments.test.ts, and of ranges below.
    const elsewhere = ['far-range', 'slices', 'parts', 'disk', 'disk-failed'];
    const rules = WHY_RULES.filter((r) => !FRAGMENT_RULES.includes(r) && !elsewhere.includes(r.name));
    expect(rules.map((r) => r.name).filter((name) => !spoken.has(name))).toEqual([]);
  });

  it('says of a range far ahead why it was passed', () => {
    const group = groups.filter((g) => caseOf(g) === 'never seen').at(-1) as LogTransaction[];
    const text = 'Range begins 20000000 bytes after what has come, fetched on its own';
    const after = group.map((tx) =>
      tx.type === 'request'
        ? { ...tx, records: Buffer.concat([tx.records, encodeRecord(Tag.Notice, tx.vxid, 'c', text)]) }
        : tx,
    );
    const [first] = why(after, { earlier: [], elsewhere: [], bans: [], since: 0 });
    expect([first?.rule, first?.sentence]).toEqual([
      'far-range',
      'It was passed: the object is still being fetched, and its range begins 20000000 bytes beyond the part received so far.',
    ]);
  });

  it.each([
    [
      'slices',
      'Slices 3-7 of 25, 8388608 bytes each: 4 hits, 1 fetched',
      'The object is in the cache in 25 slices of 8388608 bytes. Of the requested slices 3 to 7, 4 were cached and 1 had to be fetched.',
    ],
    [
      'parts',
      'Parts of 5000 bytes: 1 hits, 2 fetched',
      'Only parts of the object, which has 5000 bytes, are in the cache. 2 more had to be fetched for this request.',
    ],
    ['disk', 'Disk: found', 'It was on disk: no longer in memory, or not loaded since the start.'],
    [
      'disk-failed',
      'Disk: a checksum is wrong',
      'It was on disk, but could not be used: a checksum is wrong.',
    ],
    ['disk-failed', 'Disk: larger than memory', 'It was on disk, but could not be used: larger than memory.'],
  ])('says of an object (%s) how much was there', (rule, text, sentence) => {
    const group = groups.find((g) => requestOf(g).first('Hit') !== undefined) as LogTransaction[];
    const after = group.map((tx) =>
      tx.type === 'request'
        ? { ...tx, records: Buffer.concat([tx.records, encodeRecord(Tag.Notice, tx.vxid, 'c', text)]) }
        : tx,
    );
    const [first] = why(after, { earlier: [], elsewhere: [], bans: [], since: 0 });
    expect([first?.rule, first?.sentence]).toEqual([rule, sentence]);
  });

  function atLeast(name: string, n: number): boolean {
    return groups.filter((g) => caseOf(g) === name).length >= n;
  }
});

describe('a ban against a request and its object', () => {
  const group = groups.find(
    (g) => requestOf(g).request.get('x-case') === 'banned by tag',
  ) as LogTransaction[];
  const request = requestOf(group);
  const fetch = new Facts(group.find((tx) => tx.type === 'bereq') as LogTransaction);

  it.each([
    ['req.url == /tagged', 'yes'],
    ['req.url ~ ^/x', 'no'],
    ['obj.http.xkey ~ red && req.http.host == shop.example', 'yes'],
    ['obj.http.xkey ~ red && obj.status != 200', 'no'],
    ['obj.http.nothing == ""', 'yes'],
    ['obj.age > 3d', 'maybe'],
    ['obj.age > 3d && req.url ~ ^/x', 'no'],
    ['req.url ~ (', 'maybe'],
  ] as const)('%s: %s', (spec, verdict) => {
    expect(banMatches(spec, request, fetch)).toBe(verdict);
  });

  it('may be, without the object’s headers', () => {
    expect(banMatches('obj.http.xkey ~ red', request, null)).toBe('maybe');
  });
});

it('shows an error it does not know as it is', () => {
  expect(explainFetchError('something new').sentence).toBe('the fetch failed: something new');
});

it.each([
  ['backend b: TLS: certificate expired on 2026-01-02', 'Renew the certificate'],
  ['backend b: TLS: certificate of the issuer CN=Middle expired on 2026-01-02', 'Renew the certificate'],
  ['backend b: TLS: certificate is not valid before 2027-01-02', 'clock'],
  // Words that mean other failures elsewhere.
  ['backend b: TLS: name busy.example is not among refused.example, eof.example', '.ssl_name'],
  ['backend b: TLS: certificate is self-signed (CN=unhealthy)', '.ssl_ca'],
  ['backend b: TLS: issuer unknown: CN=Some Root', '.ssl_ca'],
  ['backend b: TLS: not TLS at all: the origin answers in another protocol on this port', '.port'],
  ['backend b: TLS: handshake timed out', 'connect_timeout'],
  ['backend b: TLS: alert 42 (bad certificate: x)', '.ssl_cert'],
  ['backend b: TLS: alert 112 (unrecognized name: x)', '.ssl_sni'],
  ['TLS: alert 116 (certificate required: give it one with .ssl_cert)', '.ssl_cert'],
  ['TLS: the connection was cut: it ended without close_notify', 'Content-Length'],
  ['backend b: TLS: something new', 'BackendSSL'],
])('says what failed in TLS: %s', (text, hint) => {
  const words = text.slice(text.indexOf('TLS: ') + 5);
  expect(explainFetchError(text).sentence).toBe(`TLS with the backend failed: ${words}`);
  expect(explainFetchError(text).hint).toContain(hint);
});

it('distinguishes a part that ESI cannot read from a body that is damaged', () => {
  for (const filter of ['esi', 'esi_gzip'])
    expect(explainFetchError(`Fetch filter ${filter} failed to open`).sentence).toContain(
      'a partial response',
    );
  expect(explainFetchError('Invalid Gzip data: incorrect data check').sentence).toContain('damaged');
});

describe('timeline', () => {
  it('puts request and backend request on one scale', () => {
    const group = groups.find((g) => requestOf(g).request.get('x-case') === 'waited') as LogTransaction[];
    const { steps, total } = timeline(group);
    const byte = steps.find((s) => s.label === 'waited for the first byte');
    expect(byte?.side).toBe('backend');
    expect((byte?.to ?? 0) - (byte?.from ?? 0)).toBeGreaterThan(0.29);
    expect(Math.max(...steps.map((s) => s.to))).toBe(total);
    expect(steps.every((s, i) => i === 0 || s.from >= (steps[i - 1]?.from ?? 0))).toBe(true);
  });
});
