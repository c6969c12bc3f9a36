// Causes of misses as a ranking: classification of real traffic from sampled records, cost per cause, and near
// misses.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { decodeTransaction, type RecordedTransaction } from '../../../../console/model/session/recording.ts';
import { SAMPLED_RECORDS } from '../../../../console/model/traffic/traffic-facts.ts';
import { causeBrief, causeChange } from '../../../../console/views/causes/cause-texts.ts';
import { CAUSES_VIEW } from '../../../../console/views/causes/causes-view.ts';
import type { ListRow } from '../../../../console/views/list/list-state.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { LogSelection } from '../../../../queries/log-selection.ts';
import { FAKE_START, type FakeRequest, fakeGroup, record } from '../../fake-recording.ts';

function session(later: (fn: () => void) => void = (fn) => fn()): DaemonSession {
  return new DaemonSession({
    source: {
      label: 'made up',
      start: () => undefined,
      command: () => Promise.resolve({ status: 101, body: '' }),
      log: () => ({ close: () => undefined }),
      setInterval: () => undefined,
      sampleNow: () => undefined,
      close: () => undefined,
    },
    now: () => FAKE_START,
    later,
    utc: true,
  });
}

function rowsAfter(groups: readonly (readonly LogTransaction[])[], from = session()): ListRow[] {
  groups.forEach((group, i) => {
    from.traffic.sample.add(
      group.map((tx, n) => ({ ...tx, first: n === 0 })),
      FAKE_START + i,
    );
  });
  return CAUSES_VIEW.definition.rows(from, '');
}

const texts = (rows: readonly ListRow[]): string[] =>
  rows.map((row) =>
    row.cells
      .slice(0, 3)
      .map((cell) => cell.text)
      .join(' | '),
  );

it('names causes so that they differ where there is little room, without a cut word', () => {
  const reasons = [
    'it has a Set-Cookie',
    'its Cache-Control says no-store',
    'its Cache-Control says private',
    'its Cache-Control says no-cache',
    'its headers give it no lifetime',
    'the program marked it uncacheable',
    'the fetch failed',
    'its status is 503',
    'its Vary is *',
    '',
  ];
  const causes = [
    ...['cookie', 'authorization', 'method', 'return-pass', 'pipe', 'hit-for-pass', 'expired', 'purged'],
    ...['banned', 'removed', 'gone', 'other-query', 'other-host', 'never-seen'],
  ];
  for (const cause of causes) expect(causeBrief(cause, '').length).toBeLessThanOrEqual(34);
  for (const reason of reasons)
    for (const cause of ['hit-for-miss', 'not-kept'])
      expect(causeBrief(cause, reason).length).toBeLessThanOrEqual(34);
  expect(causeBrief('hit-for-miss', 'its Cache-Control says private')).toBe('hit-for-miss: private');
  expect(new Set(reasons.map((reason) => causeBrief('hit-for-miss', reason).slice(0, 20))).size).toBe(10);
});

describe('real traffic', () => {
  const file = new URL('../log/why-recorded.json.gz', import.meta.url);
  const recorded = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    groups: RecordedTransaction[][];
  };

  it('is classified from the sampled records', () => {
    const selection = LogSelection.create({
      grouping: 'request',
      from: 'head',
      filters: [...SAMPLED_RECORDS],
    });
    if (!(selection instanceof LogSelection)) throw new Error(selection.message);
    const groups = recorded.groups.map((group) => selection.take(group.map(decodeTransaction), 0) ?? []);
    expect(
      Object.fromEntries(rowsAfter(groups).map((row) => [row.key, Number(row.facts.requests)])),
    ).toMatchInlineSnapshot(`
      {
        "another request was fetching it": 1,
        "another variant: Vary: accept-language": 1,
        "banned": 3,
        "evicted early, or a miss forced by the VCL": 1,
        "expired": 1,
        "first time seen": 42,
        "hit-for-miss: it has a Set-Cookie": 1,
        "hit-for-miss: its Cache-Control says no-store": 1,
        "hit-for-miss: its Cache-Control says private": 1,
        "hit-for-miss: its Vary is *": 1,
        "hit-for-miss: its headers give it no lifetime": 1,
        "hit-for-miss: the program marked it uncacheable": 1,
        "hit-for-pass: the VCL passes the response": 1,
        "near miss: cached with another query string": 2,
        "not kept the last time: its fetch was retried as often as max_retries allows": 1,
        "not kept the last time: the fetch failed": 1,
        "not kept the last time: the program abandoned its fetch in vcl_backend_response": 1,
        "not kept the last time: the program failed its fetch in vcl_backend_fetch": 1,
        "not kept the last time: the program failed its fetch in vcl_backend_response": 4,
        "not kept the last time: the program made it an error": 1,
        "passed by the VCL": 2,
        "passed, with Authorization": 1,
        "passed, with a Cookie": 1,
        "passed: method is not cacheable": 2,
        "piped": 1,
        "purged": 5,
        "was cached earlier; expired or evicted since": 1,
      }
    `);
  });
});

const PLAIN: FakeRequest = {
  vxid: 0,
  at: FAKE_START,
  method: 'GET',
  url: '/',
  status: 200,
  handling: 'HIT',
  seconds: 0.01,
  body: 10,
};

const hit = (vxid: number, url: string): LogTransaction[] => fakeGroup({ ...PLAIN, vxid, url });
const post = (vxid: number): LogTransaction[] =>
  fakeGroup({ ...PLAIN, vxid, url: '/b', method: 'POST', handling: 'PASS' });

function withoutHost({ vxid, records }: LogTransaction): Uint8Array {
  const host = record('c', vxid, 'ReqHeader', 'Host: shop.example');
  const at = Buffer.from(records).indexOf(host);
  return Buffer.concat([records.subarray(0, at), records.subarray(at + host.length)]);
}

/** A fetch that is kept for a minute. */
function kept(vxid: number, url: string, host = 'shop.example'): LogTransaction[] {
  const [client, fetch] = fakeGroup({ ...PLAIN, vxid, url, handling: 'MISS' }) as [
    LogTransaction,
    LogTransaction,
  ];
  const times = [
    record('b', fetch.vxid, 'Timestamp', `Start: ${FAKE_START} 0 0`),
    record('b', fetch.vxid, 'TTL', `RFC 60 10 0 ${FAKE_START} 0 0 0 60 cacheable`),
  ];
  return [
    {
      ...client,
      records: Buffer.concat([record('c', vxid, 'ReqHeader', `Host: ${host}`), withoutHost(client)]),
    },
    { ...fetch, records: Buffer.concat([fetch.records, ...times]) },
  ];
}

it('shows the cost of each cause in hit rate, and a fix', () => {
  const of = session();
  const rows = rowsAfter(
    [kept(10, '/a'), ...Array.from({ length: 7 }, (_, i) => hit(20 + i, '/a')), post(40), post(50)],
    of,
  );
  expect(CAUSES_VIEW.definition.remark(of, '')).toBe('3 of 10 requests, since 00:23:20');
  expect(texts(rows)).toEqual(['no rule explains it | 2 | 20.0 pp', 'first time seen | 1 | 10.0 pp']);
  expect(rows[1]?.cells.at(-1)?.text).toBe('/a');
  expect(rows[1]?.facts.query).toBe(
    'ReqHeader:Host eq "shop.example" and ReqURL eq "/a" and VCL_call ~ "^(MISS|PASS|PIPE)$"',
  );
  const detail = rows[1]?.detail().map((line) => line.map((part) => part.text).join('')) ?? [];
  expect(detail[0]).toBe(
    '1 request: as a hit, it would raise the share served from cache by 10.0 pp (percentage points).',
  );
  expect(detail).toContain('       1  shop.example/a');
  expect(detail[2]).toBe('The newest: It was not in the cache, and no earlier fetch of it is known.');
});

it('does not say of the first request for a URL in a sample that there was none before', () => {
  const change = (sampled: boolean): string => causeChange('never-seen', '', sampled);
  expect(change(false)).toMatch(/^Nothing to do for first requests/);
  expect(change(true)).toMatch(
    /^Only a sample of requests is analysed: another one may have fetched it before/,
  );
  expect(causeChange('expired', '', true)).toBe(causeChange('expired', '', false));
});

it('finds near misses: another query string, another host, a hit whose fetch was not seen', () => {
  expect(
    texts(
      rowsAfter([
        kept(10, '/a?x=1&y=2'),
        kept(20, '/a?y=2&x=1'),
        kept(30, '/c'),
        kept(40, '/c', 'www.shop.example'),
        hit(50, '/d'),
        kept(60, '/d'),
      ]),
    ),
  ).toEqual([
    'first time seen | 2 | 33.3 pp',
    'near miss: cached with another query string | 1 | 16.7 pp',
    'near miss: cached under another Host | 1 | 16.7 pp',
    'was cached earlier; expired or evicted since | 1 | 16.7 pp',
  ]);
});

it('leads to the requests of its first URL, and not to those of the same URL on another host', () => {
  const groups = [
    kept(10, '/c'),
    kept(20, '/d'),
    kept(30, '/c', 'www.shop.example'),
    kept(40, '/d', 'www.shop.example'),
  ];
  const near = rowsAfter(groups).find((row) => row.facts.cause === 'other-host');
  const selection = LogSelection.create({
    grouping: 'request',
    from: 'head',
    query: near?.facts.query ?? '',
  });
  if (!(selection instanceof LogSelection)) throw new Error(selection.message);
  expect(groups.map((group) => selection.take(group, 0) !== null)).toEqual([false, false, true, false]);
});

it('finds near misses by hits, too: the fetch of what is kept may have been long ago', () => {
  const all = [hit(10, '/a?x=1'), kept(20, '/a?x=2'), hit(30, '/b'), kept(40, '/b', 'www.shop.example')];
  expect(texts(rowsAfter(all))).toEqual([
    'near miss: cached with another query string | 1 | 25.0 pp',
    'near miss: cached under another Host | 1 | 25.0 pp',
  ]);
  // A later hit does not prove anything.
  expect(texts(rowsAfter([kept(20, '/a?x=2'), hit(30, '/a?x=1')]))).toEqual([
    'first time seen | 1 | 50.0 pp',
  ]);
});

/** A fetch with these records at its end. */
function fetched(
  vxid: number,
  request: Partial<FakeRequest>,
  ...more: [Parameters<typeof record>[2], string][]
): LogTransaction[] {
  const [client, fetch] = fakeGroup({ ...PLAIN, vxid, handling: 'MISS', ...request }) as [
    LogTransaction,
    LogTransaction,
  ];
  const records = more.map(([tag, text]) => record('b', fetch.vxid, tag, text));
  return [client, { ...fetch, records: Buffer.concat([fetch.records, ...records]) }];
}

it('knows of a body that broke off, and of a status of which nothing is kept', () => {
  const broken = (vxid: number) =>
    fetched(
      vxid,
      { url: '/half' },
      ['TTL', `RFC 60 10 0 ${FAKE_START} 0 0 0 60 cacheable`],
      ['FetchError', 'straight insufficient bytes'],
    );
  const failing = (vxid: number) =>
    fetched(vxid, { url: '/500', status: 500 }, ['TTL', `RFC -1 10 0 ${FAKE_START} 0 0 0 0 uncacheable`]);
  const rows = rowsAfter([broken(10), broken(20), failing(30), failing(40)]);
  expect(texts(rows)).toEqual([
    'first time seen | 2 | 50.0 pp',
    'not kept the last time: the fetch failed | 1 | 25.0 pp',
    'not kept the last time: its status is 500 | 1 | 25.0 pp',
  ]);
  for (const row of rows.slice(1)) expect(JSON.stringify(row.detail())).toContain('Check the backend');
});

it('knows that grace without a lifetime keeps nothing', () => {
  const lived = (url: string, status: number, ttl: string) => (vxid: number) =>
    fetched(vxid, { url, status }, ['TTL', ttl]);
  const none = lived('/none', 200, `VCL 0 10 0 ${FAKE_START} cacheable`);
  const error = lived('/error', 500, `RFC -1 10 0 ${FAKE_START} 0 0 0 0 cacheable`);
  const revalidated = lived('/stale', 200, `RFC 0 10 60 ${FAKE_START} 0 0 0 0 cacheable`);
  const groups = [none, error, revalidated].flatMap((make, i) => [make(10 + 40 * i), make(30 + 40 * i)]);
  const keys = rowsAfter(groups).map((row) => row.key);
  expect(keys).toContain('not kept the last time: the program gave it no lifetime');
  expect(keys).toContain('not kept the last time: its status is 500');
  expect(keys).toContain('expired');
});

it('explains that a status is not stored by default: the program may store it', () => {
  const other = (vxid: number) =>
    fetched(vxid, { url: '/403', status: 403 }, ['TTL', `RFC -1 10 0 ${FAKE_START} 0 0 0 0 uncacheable`]);
  const rows = rowsAfter([other(10), other(20)]);
  expect(rows.map((row) => row.key)).toContain('not kept the last time: its status is 403');
  expect(JSON.stringify(rows.at(-1)?.detail())).toContain(
    'Responses with this status are not cached by default',
  );
});

it('leaves the event loop free while it judges many, and judges each once', () => {
  const waiting: (() => void)[] = [];
  const of = session((fn) => waiting.push(fn));
  const groups = Array.from({ length: 1000 }, (_, i) => kept(10 * i + 10, `/same?${i}`));
  let rows = rowsAfter(groups, of);
  const judged = (): number => rows.reduce((sum, row) => sum + Number(row.facts.requests), 0);
  expect(judged()).toBeLessThanOrEqual(50);
  let slices = 0;
  for (let fn = waiting.shift(); fn !== undefined; fn = waiting.shift(), slices++) {
    const before = judged();
    fn();
    rows = CAUSES_VIEW.definition.rows(of, '');
    expect(judged() - before).toBeLessThanOrEqual(50);
  }
  expect(judged()).toBe(1000);
  expect(slices).toBeGreaterThanOrEqual(20);
});

it('says how many are analysed, and scales the cost of a cause to all of them', () => {
  const waiting: (() => void)[] = [];
  const of = session((fn) => waiting.push(fn));
  const groups = Array.from({ length: 100 }, (_, i) =>
    i % 2 === 0 ? kept(10 * i + 10, `/${i}`) : hit(10 * i + 10, '/'),
  );
  const rows = rowsAfter(groups, of);
  expect(CAUSES_VIEW.definition.remark(of, '')).toMatch(/^\d\d of 50 analysed, 50 of 100 requests, since/);
  expect(texts(rows)).toEqual(['first time seen | 20 | ~50 pp']);
  // The newest twenty.
  expect(rows[0]?.facts.url).toBe('/60');
});

it('counts the last five minutes, the last minute, or all', () => {
  const of = session();
  of.traffic.sample.add(kept(10, '/old'), FAKE_START - 200);
  for (let i = 0; i < 9; i++) of.traffic.sample.add(hit(20 + i, '/'), FAKE_START - 100);
  of.traffic.sample.add(kept(40, '/new'), FAKE_START - 10);
  const at = (option: string) => texts(CAUSES_VIEW.definition.rows(of, option));
  expect([at('0'), at('1'), at('2')]).toEqual([
    ['first time seen | 2 | 18.2 pp'],
    ['first time seen | 1 | 100.0 pp'],
    ['first time seen | 2 | 18.2 pp'],
  ]);
  expect(CAUSES_VIEW.definition.remark(of, '1')).toBe('1 of 1 requests, last minute');
});

it('counts from zero', () => {
  const of = session();
  rowsAfter([kept(10, '/a')], of);
  of.traffic.clear();
  expect(CAUSES_VIEW.definition.rows(of, '')).toEqual([]);
});
