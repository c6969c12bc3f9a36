import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../../console/model/log/log-entry.ts';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { decodeRecords, printable, summarise } from '../../../../console/model/log/transaction.ts';
import { invalidatedBefore } from '../../../../console/views/log/log-search.ts';
import {
  LOG_STATE,
  type LogAction,
  type LogState,
  reduceLog,
  visibleRows,
} from '../../../../console/views/log/log-state.ts';
import { rowsOf } from '../../../../console/views/log/log-tree.ts';
import { countRecords } from '../../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import type { TagName } from '../../../../protocol/tables/tags.ts';
import { FAKE_START, fakeGroup, record } from '../../fake-recording.ts';

const INITIAL = LOG_STATE.initial;

function hit(n: number): LogTransaction[] {
  return fakeGroup({
    vxid: 1000 + n * 3,
    at: FAKE_START + n,
    method: 'GET',
    url: `/${n}`,
    status: 200,
    handling: 'HIT',
    seconds: 0.001,
    body: 10,
  });
}

function failed(n: number): LogTransaction[] {
  return fakeGroup({
    vxid: 1000 + n * 3,
    at: FAKE_START + n,
    method: 'GET',
    url: `/${n}`,
    status: 503,
    handling: 'MISS',
    seconds: 1,
    body: 10,
    fetchError: 'no route',
  });
}

describe('transactions', () => {
  it('are summed up from their records', () => {
    const [request] = fakeGroup({
      vxid: 7,
      at: FAKE_START,
      method: 'HEAD',
      url: '/a',
      status: 404,
      handling: 'PASS',
      seconds: 0.25,
      body: 190,
    });
    expect(summarise(request as LogTransaction)).toEqual({
      method: 'HEAD',
      url: '/a',
      status: 404,
      handling: 'pass',
      seconds: 0.25,
      at: FAKE_START,
      body: 190,
      error: '',
    });
  });

  it('have the URL that the client sent, and of a fetch that which was asked for', () => {
    const rewritten = (tag: TagName): string =>
      summarise({
        ...(fakeGroup({
          vxid: 7,
          at: 0,
          method: '',
          url: '',
          status: 0,
          handling: 'HIT',
          seconds: 0,
          body: 0,
        })[0] as LogTransaction),
        records: Buffer.concat([record('c', 5, tag, '/old'), record('c', 5, tag, '/new')]),
      }).url;
    expect([rewritten('ReqURL'), rewritten('BereqURL')]).toEqual(['/old', '/new']);
  });

  it('are decoded record by record, each with its side and id', () => {
    const records = Buffer.concat([record('c', 5, 'ReqURL', '/x'), record('b', 6, 'FetchError', 'gone')]);
    expect(countRecords(records)).toBe(2);
    expect(decodeRecords(records).map((r) => [r.name, r.vxid, r.side, r.text])).toEqual([
      ['ReqURL', 5, 'c', '/x'],
      ['FetchError', 6, 'b', 'gone'],
    ]);
  });

  it('cannot move the cursor or colour the screen with what clients sent', () => {
    expect(printable('/a\x1b[2J\u202eb\x9b')).toBe('/a%1b[2J·b%9b');
    expect(printable('/grüße/東')).toBe('/grüße/東');
  });
});

describe('LogStore', () => {
  it('splits batches into groups and knows why a fetch failed', () => {
    const store = new LogStore({ maxBytes: 1e6, maxEntries: 10 });
    store.add([...hit(1), ...failed(2)]);
    expect(store.size).toBe(2);
    expect(store.at(1)?.transactions.map((t) => t.type)).toEqual(['request', 'bereq']);
    expect(store.at(1)?.fetchError).toBe('no route');
  });

  it('takes groups as the daemon marks them: restarts stand at the level of their first, a group may begin deeper', () => {
    const store = new LogStore({ maxBytes: 1e6, maxEntries: 10 });
    const [first, second, third] = [...hit(1), ...hit(2), ...hit(3)];
    if (first === undefined || second === undefined || third === undefined) throw new Error('three hits');
    store.add([
      { ...first, first: true },
      { ...second, first: false, reason: 'restart' },
      { ...third, first: true, level: 2 },
    ]);
    expect(store.size).toBe(2);
    expect([store.at(0), store.at(1)].map((e) => e?.transactions.length)).toEqual([2, 1]);
  });

  it('drops the oldest by count and reports how many', () => {
    const store = new LogStore({ maxBytes: 1e9, maxEntries: 100 });
    for (let i = 0; i < 5000; i++) store.add(hit(i));
    expect([store.size, store.dropped, store.received]).toEqual([100, 4900, 5000]);
    expect(store.at(0)?.summary.url).toBe('/4900');
    expect(store.at(99)?.summary.url).toBe('/4999');
    expect(store.at(100)).toBeUndefined();
  });

  it('drops the oldest by bytes', () => {
    const store = new LogStore({ maxBytes: 10_000, maxEntries: 1000 });
    for (let i = 0; i < 50; i++) store.add(hit(i));
    expect(store.bytes).toBeLessThanOrEqual(10_000);
    expect(store.size).toBeGreaterThan(3);
    expect(store.at(store.size - 1)?.summary.url).toBe('/49');
  });

  it('marks losses where they happened', () => {
    const store = new LogStore({ maxBytes: 1e6, maxEntries: 10 });
    store.add(hit(1));
    store.addLoss(12, 'overrun');
    expect(store.lost).toBe(12);
    // In the unit of the losses.
    expect(store.records).toBe(countRecords((hit(1)[0] as LogTransaction).records));
    expect(store.at(1)?.gap).toBe('12 records lost (overrun)');
    store.addLoss(3, 'backpressure');
    expect(store.size).toBe(2);
    expect(store.at(1)?.gap).toBe('15 records lost (backpressure)');
    store.add(hit(2));
    store.addLoss(1, 'overrun');
    expect([store.size, store.lost, store.at(3)?.gap]).toEqual([4, 16, '1 records lost (overrun)']);
  });
});

describe('log view', () => {
  const HEIGHT = 5;
  function filled(count: number, entries = 1000): LogStore {
    const store = new LogStore({ maxBytes: 1e9, maxEntries: entries });
    for (let i = 0; i < count; i++) store.add(i % 7 === 3 ? failed(i) : hit(i));
    return store;
  }
  const act = (store: LogStore, view: LogState, ...actions: LogAction[]): LogState =>
    actions.reduce((v, a) => reduceLog(v, a, store, HEIGHT), view);
  const shown = (view: LogState, store: LogStore): string[] =>
    visibleRows(view, store, HEIGHT).map((r) => `${r.entry.summary.url}:${r.row}`);

  it('follows the newest', () => {
    const store = filled(20);
    expect(shown(INITIAL, store)).toEqual(['/15:0', '/16:0', '/17:0', '/18:0', '/19:0']);
    store.add(hit(20));
    expect(shown(INITIAL, store).at(-1)).toBe('/20:0');
  });

  it('stands still when paused, also while old entries fall out', () => {
    const store = filled(20, 20);
    const paused = act(store, INITIAL, { type: 'pause' });
    const before = shown(paused, store);
    for (let i = 20; i < 30; i++) store.add(hit(i));
    expect(shown(paused, store)).toEqual(before);
    for (let i = 30; i < 100; i++) store.add(hit(i));
    expect(shown(paused, store)[0]).toBe('/80:0');
  });

  it('scrolls as little as needed', () => {
    const store = filled(20);
    const up = act(store, INITIAL, { type: 'move', rows: -4 });
    expect(shown(up, store)[0]).toBe('/15:0');
    const more = act(store, up, { type: 'move', rows: -1 });
    expect(shown(more, store)[0]).toBe('/14:0');
    const down = act(store, more, { type: 'move', rows: 2 });
    expect(shown(down, store)[0]).toBe('/14:0');
  });

  it('unfolds a group and moves through its rows', () => {
    const store = filled(20);
    const open = act(store, INITIAL, { type: 'home' }, { type: 'unfold' });
    expect(shown(open, store)).toEqual(['/0:0', '/0:1', '/0:2', '/0:3', '/0:4']);
    const inside = act(store, open, { type: 'move', rows: 6 });
    expect([inside.selected, inside.offset]).toEqual([1, 6]);
    expect(shown(inside, store).at(-1)).toBe('/0:6');
    const rows = rowsOf(open, store.at(0) as LogEntry);
    const next = act(store, open, { type: 'move', rows });
    expect([next.selected, next.offset]).toEqual([2, 0]);
  });

  it('jumps from error to error', () => {
    const store = filled(20);
    const first = act(store, INITIAL, { type: 'home' }, { type: 'next-error', back: false });
    expect(first.selected).toBe(4);
    expect(act(store, first, { type: 'next-error', back: false }).selected).toBe(11);
    expect(act(store, first, { type: 'next-error', back: true }).selected).toBe(4);
  });

  it('follows again at the end', () => {
    const store = filled(20);
    expect(act(store, INITIAL, { type: 'home' }, { type: 'end' }).follow).toBe(true);
  });

  it('does nothing on an empty log', () => {
    const store = filled(0);
    for (const type of ['pause', 'home', 'end', 'unfold', 'fold', 'toggle-all', 'detail'] as const)
      act(store, INITIAL, { type });
    expect(shown(act(store, INITIAL, { type: 'move', rows: -3 }), store)).toEqual([]);
  });
});

describe('what invalidated objects of other URLs', () => {
  const withRecord = (n: number, tag: 'Notice' | 'ReqMethod', text: string): LogTransaction[] => {
    const [tx] = hit(n) as [LogTransaction];
    return [{ ...tx, records: Buffer.concat([record('c', tx.vxid, tag, text), tx.records]) }];
  };

  it('is found in the packed log: purges by surrogate key and bans, the newest first', () => {
    const store = new LogStore({ maxBytes: 1e6, maxEntries: 100 });
    store.add(withRecord(1, 'Notice', 'xkey.purge red: 3'));
    store.add(withRecord(2, 'Notice', 'vsl: High number of variants (12)'));
    store.add(withRecord(3, 'ReqMethod', 'BAN'));
    store.add(hit(4));
    store.add(withRecord(5, 'ReqMethod', 'SOFTBAN'));
    const foundFrom = (n: number): number[] =>
      invalidatedBefore(store, store.at(n) as LogEntry, 9).map((group) => group[0]?.vxid ?? 0);
    expect(foundFrom(3)).toEqual([1009, 1003]);
    expect(foundFrom(0)).toEqual([]);
  });
});
