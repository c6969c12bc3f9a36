// The log as a query shows it, beside a plain filter over what is kept.
import { expect, it } from 'vitest';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { ShownLog } from '../../../../console/model/log/shown-log.ts';
import { fakeGroup } from '../../fake-recording.ts';

const group = (vxid: number) =>
  fakeGroup({ vxid, at: 0, method: 'GET', url: '/', status: 200, handling: 'HIT', seconds: 0, body: 1 });

function logs(maxEntries = 100_000) {
  const kept = new LogStore({ maxBytes: 64 << 20, maxEntries });
  const due: (() => void)[] = [];
  const shown = new ShownLog(kept, { later: (fn) => due.push(fn), changed: () => undefined });
  const add = (from: number, to: number, step = 1): void => {
    for (let n = from; n < to; n += step) kept.add(group(n));
  };
  const turns = (): void => {
    for (let fn = due.shift(); fn !== undefined; fn = due.shift()) fn();
  };
  const ids = (): number[] =>
    Array.from({ length: shown.size }, (_, i) => shown.at(i)?.transactions[0]?.vxid ?? 0);
  return { kept, shown, due, add, turns, ids };
}

const tens = (transactions: readonly { vxid: number }[]): boolean => (transactions[0]?.vxid ?? 0) % 10 === 0;

it('shows what matches, in order, and all again afterwards', () => {
  const { shown, add, turns, ids } = logs();
  add(1, 51);
  shown.select(tens);
  turns();
  add(60, 91, 10);
  expect(ids()).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
  shown.select(null);
  expect(shown.size).toBe(54);
});

it('shows what was put in front of it, where it matches', () => {
  const { kept, shown, add, turns, ids } = logs();
  const inFront = (from: number, to: number): void => {
    const part = kept.before();
    for (let n = from; n < to; n++) part.add(group(n));
    kept.prepend(part);
    shown.extended();
    turns();
  };
  add(100, 103);
  inFront(50, 100);
  expect(ids()).toEqual(Array.from({ length: 53 }, (_, i) => 50 + i));
  shown.select(tens);
  turns();
  inFront(1, 50);
  expect([ids(), shown.untested]).toEqual([[10, 20, 30, 40, 50, 60, 70, 80, 90, 100], 0]);
});

it('tests what is kept by turns, the newest first, and stops when another query is set', () => {
  const { shown, due, add, turns } = logs();
  add(1, 2501);
  shown.select(tens);
  expect([shown.size, shown.untested, due.length]).toEqual([100, 1500, 1]);
  const [stale] = due.splice(0);
  shown.select(() => false);
  stale?.();
  turns();
  expect([shown.size, shown.untested]).toEqual([0, 0]);
});

it('keeps positions: a sequence number that is not shown stands for the next one that is', () => {
  const { kept, shown, add, turns } = logs();
  add(1, 31);
  kept.addGap('a mark');
  shown.select(tens);
  turns();
  add(40, 61, 10);
  const seqs = Array.from({ length: shown.size }, (_, i) => shown.at(i)?.seq ?? 0);
  expect(seqs).toEqual([10, 20, 30, 31, 32, 33, 34]);
  for (let seq = 0; seq <= 40; seq++) {
    const wanted = seqs.findIndex((s) => s >= seq);
    expect(shown.indexOf(seq)).toBe(wanted < 0 ? seqs.length - 1 : wanted);
  }
  const found: number[] = [];
  shown.find(6, true, (block, n) => found.push(block.first + n) === 7);
  expect(found).toEqual(seqs.toReversed());
});

it('forgets what falls out of what is kept, also what was not tested yet', () => {
  const { kept, shown, add, turns, ids } = logs(2000);
  add(1, 2001);
  shown.select(tens);
  add(2010, 14_000, 10);
  turns();
  expect(kept.size).toBe(2000);
  expect(ids()[0]).toBe(1200);
  expect(ids()).toHaveLength(81 + 1199);
  kept.clear();
  expect([shown.size, shown.indexOf(3)]).toEqual([0, -1]);
});
