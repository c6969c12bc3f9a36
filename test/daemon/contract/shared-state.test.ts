// Shared state as one thread has it, and as two have it who take turns: the same in every word, checked against a model.
import { describe, expect, it } from 'vitest';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import type { SharedState } from '../../../daemon/contract/shared-state.ts';
import { makeSlots, Peers, type ThreadSlot } from '../../../daemon/threads/peers.ts';
import { ThreadsState } from '../../../daemon/worker/threads-state.ts';
import { isFull } from '../../harness/runs.ts';

/** The state as one thread sees it, and another. */
type Two = readonly [SharedState, SharedState];

function own(): Two {
  const state = new OwnState();
  return [state, state];
}

function ofThreads(): Two {
  const slots = makeSlots(2);
  const first = new Peers(slots[0] as ThreadSlot);
  const one = new ThreadsState(first, [1, 2]);
  const second = new Peers(slots[1] as ThreadSlot, first.memory.offer());
  return [one, new ThreadsState(second, [1, 2])];
}

describe.each([
  ['one thread', own],
  ['several threads', ofThreads],
])('shared state of %s', (_name, start) => {
  it('keeps numbers and a text for each key', () => {
    const [a, b] = start();
    const shape = { numbers: 2 };
    const seen = a.table('t', shape).update('k', (row) => {
      const before = { ...row, numbers: [...row.numbers] };
      row.numbers[1] = 1.5;
      row.text = 'naïve ☃';
      return before;
    });
    expect(seen).toEqual({ numbers: [0, 0], text: null, isNew: true });
    expect(b.table('t', shape).read('k')).toEqual({ numbers: [0, 1.5], text: 'naïve ☃' });
    expect(b.table('t', shape).update('k', (row) => row.isNew)).toBe(false);
    expect([b.table('t', shape).read('K'), b.table('other').read('k')]).toEqual([null, null]);
    expect(a.table('t', shape).remove('k', ({ numbers }) => numbers[1] === 0)).toBe(false);
    expect([
      b.table('t', shape).remove('k', ({ text }) => text !== null),
      a.table('t', shape).remove('k'),
    ]).toEqual([true, false]);
    expect(a.table('t', shape).size).toBe(0);
  });

  it.each([
    ['', 'an empty one'],
    ['a\0b', 'with a NUL'],
    ['☃', 'beyond Latin-1'],
    ['\ud800', 'half a character'],
    ['x'.repeat(9000), 'a long one'],
  ])('takes any text as a key: %#', (key, text) => {
    const [a, b] = start();
    a.table('t').update(key, (row) => {
      row.text = text;
    });
    expect(b.table('t').read(key)?.text).toBe(text);
    expect(b.table('t').read(`${key}\0`)).toBeNull();
  });

  it.each([0, 1, 65_531, 65_532, 65_533, 131_064, 131_065, 2_500_000])(
    'keeps a text of %i bytes whole',
    (length) => {
      const [a, b] = start();
      for (const letter of ['é', '☃']) {
        const text = `${letter}${'abcdefg'.repeat(Math.ceil(length / 7))}`.slice(
          0,
          letter === 'é' ? length : length / 2,
        );
        a.table('t').update('k', (row) => {
          row.text = text;
        });
        expect(b.table('t').read('k')?.text === text).toBe(true);
      }
    },
  );

  it('changes nothing when an update throws or returns a promise', () => {
    const [table] = start().map((state) => state.table('t', { numbers: 1 }));
    const failing = (key: string) =>
      table?.update(key, (row) => {
        row.numbers[0] = 7;
        throw new Error('no');
      });
    table?.update('k', (row) => {
      row.numbers[0] = 1;
    });
    expect(() => failing('k')).toThrow('no');
    expect(() => failing('new')).toThrow('no');
    expect(() =>
      table?.update('k', async (row) => {
        row.numbers[0] = 8;
      }),
    ).toThrow('without a promise');
    expect([table?.read('k'), table?.read('new')]).toEqual([{ numbers: [1], text: null }, null]);
    expect(() => table?.update('k', () => table.read('k'))).toThrow('within an update');
    expect(table?.size).toBe(1);
  });

  it('reports when a table is full, and leaves it as it was', () => {
    const [a, b] = start();
    const two = { entries: 2 };
    for (const key of ['x', 'y']) a.table('t', two).update(key, () => undefined);
    const full = "The shared table 't' is full: it has room for";
    expect(() => b.table('t', two).update('z', () => undefined)).toThrow(`${full} 2 entries`);
    b.table('t', { entries: 3 }).update('z', () => undefined);
    // Three keys of a byte each are there.
    const ten = { entries: 3, bytes: 10 };
    const write = (text: string) =>
      b.table('t', ten).update('z', (row) => {
        row.text = text;
      });
    write('1234567');
    expect(() => write('12345678')).toThrow(`${full} 10 bytes`);
    expect(() => write('☃☃☃☃')).toThrow(`${full} 10 bytes`);
    expect(a.table('t', ten).read('z')?.text).toBe('1234567');
    write('');
    write('☃☃☃');
  });

  it('lets the rows go that were not updated for longest, where it is asked to', () => {
    const [a, b] = start();
    const shape = { numbers: 1, entries: 3, bytes: 60, forgetsOldest: true };
    const touch = (state: SharedState, key: string, text: string | null = null) =>
      state.table('t', shape).update(key, (row) => {
        row.text = text;
      });
    const there = () =>
      ['a', 'b', 'c', 'd', 'e'].filter((key) => b.table('t', shape).read(key) !== null).join('');
    for (const key of ['a', 'b', 'c', 'a']) touch(a, key);
    touch(b, 'd');
    expect(there()).toBe('acd');
    // Nine bytes a row, and fifty of the text: one of the others may stay.
    touch(b, 'a', 'x'.repeat(42));
    expect(there()).toBe('ad');
    expect(() => touch(a, 'e', 'x'.repeat(52))).toThrow('60 bytes');
    expect(there()).toBe('ad');
    a.table('t', shape).removeOldest(1, () => true);
    expect(there()).toBe('a');
  });

  it('refuses names and shapes that cannot be', () => {
    const [a, b] = start();
    a.table('t', { numbers: 1 });
    expect(() => b.table('t', { numbers: 2 })).toThrow('has 1 numbers in a row, and is asked for with 2');
    expect(() => a.table('a b')).toThrow("not 'a b'");
    expect(() => a.table('t', { entries: 0 })).toThrow('entries is 0');
    expect(() => a.table('t', { numbers: 65 })).toThrow('numbers is 65');
    expect(() => {
      for (let i = 0; i < 1000; i++) (i % 2 === 0 ? a : b).table(`many${i}`);
    }).toThrow('There are 1000 names');
  });

  it('gives memory by its name, made once', () => {
    const [a, b] = start();
    const made = new SharedArrayBuffer(8);
    const memory = a.memory('m', () => made);
    new Int32Array(memory)[1] = 5;
    const same = b.memory('m', () => {
      throw new Error('made again');
    });
    expect(new Int32Array(same)[1]).toBe(5);
    expect(new Int32Array(b.memory('n', () => new SharedArrayBuffer(8)))[1]).toBe(0);
    expect(() => a.memory('o', () => new ArrayBuffer(8) as never)).toThrow("'o' was not made as");
  });

  it('is what a model of it is, through many changes', () => {
    const two = start();
    const shape = { numbers: 2, entries: 300, bytes: 200_000, forgetsOldest: true };
    const model = new Map<string, { numbers: number[]; text: string | null }>();
    const size = (key: string) => key.length + 16 + (model.get(key)?.text?.length ?? 0);
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return (seed >>> 8) % below;
    };
    const all = isFull ? 20_000 : 5000;
    for (let i = 0; i < all; i++) {
      const table = (two[random(2)] as SharedState).table('t', shape);
      const key = `k${random(500)}`;
      if (random(5) === 0) {
        expect(table.remove(key)).toBe(model.delete(key));
        continue;
      }
      const text = random(3) === 0 ? null : 'v'.repeat(random(random(20) === 0 ? 3000 : 30));
      table.update(key, (row) => {
        row.numbers[0] = (row.numbers[0] as number) + 1;
        row.numbers[1] = i;
        row.text = text;
      });
      const numbers = [(model.get(key)?.numbers[0] ?? 0) + 1, i];
      model.delete(key);
      model.set(key, { numbers, text });
      const bytes = () => [...model.keys()].reduce((sum, each) => sum + size(each), 0);
      while (model.size > 300 || bytes() > 200_000) model.delete(model.keys().next().value as string);
      if (i % 500 > 0) continue;
      const last = (two[random(2)] as SharedState).table('t', shape);
      expect(last.size).toBe(model.size);
      for (let k = 0; k < 500; k++) expect(last.read(`k${k}`)).toEqual(model.get(`k${k}`) ?? null);
    }
  });
});
