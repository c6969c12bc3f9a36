// Bounds on stored requests that were not hits: in number and bytes, without the fragments of pages.
import { expect, it } from 'vitest';
import { readTraffic } from '../../../../console/model/traffic/traffic-facts.ts';
import { type Evidence, UnservedRequests } from '../../../../console/model/traffic/unserved.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { FAKE_START, fakeGroup, record } from '../../fake-recording.ts';

function miss(vxid: number, url: string, padding = 0): LogTransaction[] {
  const [client, fetch] = fakeGroup({
    vxid,
    at: FAKE_START,
    method: 'GET',
    url,
    status: 200,
    handling: 'MISS',
    seconds: 0.01,
    body: 10,
  }) as [LogTransaction, LogTransaction];
  const more = record('c', vxid, 'ReqHeader', `X-Long: ${'x'.repeat(padding)}`);
  return [{ ...client, records: Buffer.concat([client.records, more]) }, fetch];
}

function added(to: UnservedRequests, group: LogTransaction[], n: number): void {
  for (const facts of readTraffic(group)) if (facts.kind === 'request') to.add(group, facts, FAKE_START + n);
}

const verdict = { cause: 'x', detail: '', sentence: '' };

it('keeps some thousands, and what they were judged', () => {
  const unserved = new UnservedRequests();
  for (let n = 0; n < 4001; n++) {
    added(unserved, miss(n * 3 + 2, `/${n}`), n);
    if (n === 3000) unserved.judge(10_000, () => verdict);
  }
  const kept = unserved.last();
  expect([kept.length, kept[0]?.before, kept.at(-1)?.before]).toEqual([2000, 2001, 4000]);
  expect(kept.filter((one) => one.verdict !== null).length).toBe(1000);
  let asked = 0;
  unserved.judge(10_000, () => {
    asked++;
    return verdict;
  });
  expect(asked).toBe(1000);
});

it('keeps fewer of those with long headers', () => {
  const unserved = new UnservedRequests();
  const long = miss(2, '/', 60_000);
  for (let n = 0; n < 1000; n++) added(unserved, long, n);
  expect(unserved.last().length).toBeLessThan(450);
  expect(unserved.last().at(-1)?.before).toBe(999);
});

it('leaves the fragments of a page out', () => {
  const unserved = new UnservedRequests();
  const part = miss(12, '/part').map((tx) =>
    tx.type === 'request' ? { ...tx, reason: 'esi', parent: 2 } : tx,
  );
  added(unserved, [...miss(2, '/page'), ...part], 0);
  expect(unserved.last()[0]?.group.map((tx) => tx.vxid)).toEqual([2, 3]);
});

it('shows a judge the newest of the URL first, and what stands beside it', () => {
  const unserved = new UnservedRequests();
  for (let n = 0; n < 6; n++) added(unserved, miss(n * 10 + 2, n === 3 ? '/a?b' : '/a'), n);
  const seen: Evidence[] = [];
  unserved.judge(10, (_one, evidence) => {
    seen.push(evidence);
    return verdict;
  });
  // The newest is judged first.
  const last = seen[0] as Evidence;
  expect(last.earlier.map((one) => one.before)).toEqual([4, 2, 1, 0]);
  expect(last.beside.map((one) => one.before)).toEqual([3]);
});

it('keeps its verdicts when the past arrives, judges the newest first, and again only what the past may change', () => {
  const unserved = new UnservedRequests();
  for (let n = 0; n < 3; n++) added(unserved, miss(n * 10 + 2, `/${n}`), n);
  unserved.judge(10, () => ({ ...verdict, cause: 'early' }));
  added(unserved, miss(92, '/new'), 9);
  const past = new UnservedRequests();
  for (let n = 0; n < 3; n++) added(past, miss(n * 10 + 102, n === 1 ? '/1' : `/past${n}`), n - 10);
  unserved.prepend(past);
  const verdicts = (): (string | undefined)[] => unserved.last().map((one) => one.verdict?.cause);
  expect(verdicts()).toEqual([undefined, undefined, undefined, 'early', 'early', 'early', undefined]);
  const order: string[] = [];
  const judged = (limit: number): boolean =>
    unserved.judge(limit, (one, evidence) => {
      order.push(`${one.url} ${evidence.earlier.length}`);
      return { ...verdict, cause: 'late' };
    });
  expect(judged(2)).toBe(true);
  expect(verdicts()).toEqual([undefined, undefined, 'late', 'early', 'early', 'early', 'late']);
  expect(judged(10)).toBe(false);
  expect(order).toEqual(['/new 0', '/past2 0', '/1 0', '/past0 0', '/1 1']);
});

it('counts the requests in the time of those that it keeps, the past included', () => {
  const unserved = new UnservedRequests();
  for (let n = 0; n < 4001; n++) added(unserved, miss(n * 3 + 2, `/${n}`), n);
  expect(unserved.requests).toBe(2000);
  const past = new UnservedRequests();
  added(past, miss(2, '/past'), 0);
  unserved.prepend(past);
  expect([unserved.requests, unserved.last().length]).toEqual([2000, 2000]);
});
