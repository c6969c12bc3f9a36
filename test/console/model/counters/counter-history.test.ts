import { describe, expect, it } from 'vitest';
import type { PastPoint } from '../../../../console/client/source.ts';
import { adjusted, CounterHistory, MovingMean } from '../../../../console/model/counters/counter-history.ts';
import { HitRate } from '../../../../console/model/counters/hit-rate.ts';
import {
  reduceStat,
  STAT_STATE,
  type StatState,
  visibleCounters,
} from '../../../../console/views/stats/stat-state.ts';
import type { CounterInfo } from '../../../../protocol/messages.ts';

const INITIAL = STAT_STATE.initial;

function info(
  name: string,
  flag: CounterInfo['flag'] = 'c',
  level: CounterInfo['level'] = 'info',
): CounterInfo {
  return { name, flag, level, format: 'i', description: '' };
}

describe('CounterHistory', () => {
  it('gives the change a second over the last interval', () => {
    const history = new CounterHistory();
    history.describe([info('MAIN.client_req')]);
    history.update(100, [10n]);
    expect(history.rate('MAIN.client_req')).toBe(0);
    history.update(102, [30n]);
    expect(history.rate('MAIN.client_req')).toBe(10);
  });

  it('never shows a negative rate for a counter, but does for a gauge', () => {
    const history = new CounterHistory();
    history.describe([info('c'), info('g', 'g')]);
    history.update(1, [50n, 50n]);
    history.update(2, [4n, 20n]);
    expect(history.rate('c')).toBe(4);
    expect(history.rate('g')).toBe(-30);
  });

  it('keeps the history of counters that stay when the set changes', () => {
    const history = new CounterHistory();
    history.describe([info('a'), info('b')]);
    history.update(1, [1n, 1n]);
    history.update(2, [2n, 2n]);
    history.describe([info('b'), info('new')]);
    expect(history.get('b')?.avg10.value).toBe(1);
    expect(history.get('a')).toBeUndefined();
    history.update(3, [5n, 900n]);
    expect(history.value('new')).toBe(900n);
    // Counts from before a counter was first read are no change; the other counters continue without a gap.
    expect([history.rate('b'), history.rate('new')]).toEqual([3, 0]);
  });

  it('counts from zero after a restart, also where the new value is larger, and continues after a wrap', () => {
    const history = new CounterHistory();
    const rate = new HitRate();
    history.describe([info('MGT.x'), info('MAIN.uptime'), info('MAIN.cache_hit'), info('MAIN.cache_miss')]);
    const sample = (at: number, ...values: bigint[]): (number | null)[] => {
      history.update(at, values);
      const of = history.value.bind(history);
      const seen = rate.sample(of('MAIN.cache_hit'), of('MAIN.cache_miss'), 1, history.restarted);
      const share = seen === null ? null : seen.hits / seen.all;
      return [history.rate('MGT.x'), history.rate('MAIN.cache_hit'), share];
    };
    expect(sample(1, 1n, 50n, 10n, 90n)).toEqual([0, 0, null]);
    expect(sample(2, 2n, 51n, 20n, 90n)).toEqual([1, 10, 1]);
    // The new worker has counted more hits than the old one, and fewer misses.
    expect(sample(3, 3n, 1n, 30n, 10n)).toEqual([1, 30, 0.75]);
    const top = (1n << 64n) - 10n;
    sample(4, 4n, 2n, top, 20n);
    expect(sample(5, 5n, 3n, 20n, 30n)).toEqual([1, 30, 0.75]);
    expect(rate.window(10).rate).toBeLessThanOrEqual(1);
  });

  it('averages gauges by value and counters by rate', () => {
    const history = new CounterHistory();
    history.describe([info('c'), info('g', 'g')]);
    history.update(1, [0n, 100n]);
    history.update(2, [10n, 200n]);
    history.update(3, [30n, 300n]);
    expect(history.get('c')?.avg10.value).toBe(15);
    expect(history.get('g')?.avg10.value).toBe(250);
    history.resetAverages();
    expect(history.get('c')?.avg10.value).toBe(0);
  });

  describe('with a longer past', () => {
    const NAMES = ['MAIN.uptime', 'MAIN.n', 'MGT.n'];
    const past = (at: number, ...values: number[]): PastPoint => ({
      at,
      names: NAMES,
      values: Float64Array.from(values),
    });
    function begun(): CounterHistory {
      const history = new CounterHistory();
      history.describe([
        info('MGT.n'),
        info('MAIN.uptime', 'g'),
        info('MAIN.n'),
        info('MAIN.new'),
        info('g', 'g'),
      ]);
      history.update(1000, [5000n, 100n, 700n, 50n, 3n]);
      history.update(1001, [5001n, 101n, 800n, 50n, 3n]);
      return history;
    }

    it('has the averages of all of it', () => {
      const history = begun();
      // Ten a second for a hundred seconds, in steps of ten, then a hundred.
      const points = Array.from({ length: 11 }, (_, i) =>
        past(900 + i * 10, i * 10, 600 + i * 10, 4900 + i * 10),
      );
      history.recall([...points, past(1001, 101, 800, 5001), past(1002, 102, 9999, 9999)], 1);
      expect(history.get('MAIN.n')?.avg1000.value).toBeCloseTo((100 * 1 + 100) / 101, 6);
      expect(history.get('MAIN.n')?.recent.at(-1)).toBe(100);
      expect(history.get('MGT.n')?.avg1000.value).toBe(1);
      // The present values stay and continue.
      expect(history.value('MAIN.n')).toBe(800n);
      history.update(1002, [5002n, 102n, 801n, 51n, 4n]);
      expect(history.rate('MAIN.n')).toBe(1);
      expect(history.get('MAIN.new')?.recent.at(-1)).toBe(1);
    });

    it('counts over the end of a worker, and of a gauge has its values', () => {
      const history = new CounterHistory();
      history.describe([info('MAIN.uptime', 'g'), info('MAIN.n'), info('MGT.n')]);
      history.update(1000, [30n, 40n, 100n]);
      history.recall([past(980, 500, 90, 60), past(990, 20, 30, 80)], 1);
      // 30 since it began again, then 10 more; the manager did not begin again.
      expect(history.get('MAIN.n')?.avg100.value).toBeCloseTo(2, 6);
      expect(history.get('MGT.n')?.avg100.value).toBeCloseTo(2, 6);
      expect(history.get('MAIN.uptime')?.avg100.value).toBeCloseTo(25, 6);
    });

    it('leaves averages alone that the operator has reset', () => {
      const history = begun();
      history.resetAverages();
      history.recall([past(900, 0, 0, 0)], 1);
      expect(history.get('MAIN.n')?.avg1000.value).toBe(0);
    });
  });

  it('holds 64 bits to the last digit', () => {
    const history = new CounterHistory();
    history.describe([info('VBE.boot.a.happy', 'b')]);
    history.update(1, [0xfffffffffffffffdn]);
    expect(history.value('VBE.boot.a.happy').toString(16)).toBe('fffffffffffffffd');
  });

  it('knows the threads of a worker that has several', () => {
    const history = new CounterHistory();
    const describe = (...names: string[]): readonly string[] => {
      history.describe(names.map((name) => info(`THR.${name}.requests`)));
      return history.threads;
    };
    expect(describe('0')).toEqual([]);
    expect(describe('0', '1')).toEqual(['0', '1']);
    // Two instances as one.
    expect(describe('a:0', 'b:0')).toEqual([]);
    expect(describe('a:0', 'b:0', 'b:1')).toEqual(['a:0', 'b:0', 'b:1']);
  });

  it('shows a gauge below zero as zero', () => {
    expect(adjusted((1n << 64n) - 3n)).toBe(0n);
    expect(adjusted(3n)).toBe(3n);
  });
});

describe('MovingMean', () => {
  it('is the plain mean at first, then forgets by its length', () => {
    const mean = new MovingMean(2);
    mean.add(2);
    mean.add(4);
    expect(mean.value).toBe(3);
    mean.add(9);
    expect(mean.value).toBe(6);
  });
});

describe('stat view', () => {
  const history = new CounterHistory();
  history.describe([
    info('a'),
    info('zero'),
    info('diag', 'c', 'diag'),
    info('debug', 'c', 'debug'),
    info('b'),
  ]);
  history.update(1, [1n, 0n, 1n, 1n, 1n]);
  const names = (view: StatState): string[] => visibleCounters(view, history.all()).map((c) => c.info.name);
  const act = (view: StatState, ...actions: Parameters<typeof reduceStat>[1][]): StatState =>
    actions.reduce((v, a) => reduceStat(v, a, history.all(), 2), view);

  it('hides unseen counters and higher levels until asked', () => {
    expect(names(INITIAL)).toEqual(['a', 'b']);
    expect(names(act(INITIAL, { type: 'unseen' }))).toEqual(['a', 'zero', 'b']);
    const diag = act(INITIAL, { type: 'level', step: 1 });
    expect(names(diag)).toEqual(['a', 'diag', 'b']);
    expect(names(act(diag, { type: 'level', step: 1 }, { type: 'level', step: 1 }))).toEqual([
      'a',
      'diag',
      'debug',
      'b',
    ]);
  });

  it('filters by any part of the name in any case', () => {
    expect(names(act(INITIAL, { type: 'filter', text: 'B' }))).toEqual(['b']);
  });

  it('shows those of the command line only: the first filter that matches a name decides', () => {
    const chosen = (...filters: StatState['filters']): string[] => names({ ...INITIAL, filters });
    const include = (glob: string) => ({ kind: 'include' as const, glob });
    const exclude = (glob: string) => ({ kind: 'exclude' as const, glob });
    expect(chosen(include('a'))).toEqual(['a']);
    expect(chosen(exclude('a'))).toEqual(['b']);
    expect(chosen(exclude('a'), include('*'))).toEqual(['b']);
    expect(chosen(include('*'), exclude('a'))).toEqual(['a', 'b']);
    expect(chosen(include('nope'))).toEqual([]);
  });

  it('keeps the cursor inside and on screen', () => {
    const all = act(INITIAL, { type: 'unseen' }, { type: 'end' });
    expect([all.selected, all.top]).toEqual(['b', 1]);
    const up = act(all, { type: 'move', rows: -99 });
    expect([up.selected, up.top]).toEqual(['a', 0]);
  });

  it('steps the interval by tenths of a second', () => {
    const faster = act(INITIAL, { type: 'interval', step: -1 });
    expect(faster.interval).toBe(0.9);
    expect(act(faster, { type: 'interval', step: 1 }, { type: 'interval', step: 1 }).interval).toBe(1.1);
  });
});
