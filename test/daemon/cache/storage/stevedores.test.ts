import { describe, expect, it } from 'vitest';
import { RowTable } from '../../../../daemon/cache/row-table.ts';
import { makeStevedores, Stevedores } from '../../../../daemon/cache/storage/stevedores.ts';
import type { StorageSpec } from '../../../../daemon/link.ts';
import { ownMemory } from '../../../../daemon/threads/shared-memory.ts';
import { Bench } from '../cache-setup.ts';

const MB = 1 << 20;
const spec = (name: string, size: number): StorageSpec => ({ name, kind: 'malloc', size: size * MB });

describe('what a body may take', () => {
  it.each([
    ['no limit anywhere', [spec('s0', 0)], 0],
    ['one without a limit', [spec('s0', 100), spec('s1', 0)], 0],
    ['a small one', [spec('s0', 1)], 64],
    ['several', [spec('s0', 100), spec('s1', 200)], 200],
    ['a Transient without a limit', [spec('s0', 100), spec('Transient', 0)], 100],
    ['a limit of its own', [spec('s0', 100), spec('Transient', 3)], 3],
  ])('in Transient: %s', (_name, specs, most) => {
    const found = makeStevedores(specs, new RowTable(16)).find((each) => each.name === 'Transient');
    expect(found?.mostOfBody).toBe(most * MB);
  });

  it('ends a body that grows beyond it, and leaves one alone of which its reader takes as much', () => {
    const b = new Bench([spec('s0', 1)]);
    const chunk = Buffer.alloc(4 * MB);
    const filled = (read: boolean): number => {
      const oc = b.cache.filling.newPrivate();
      b.prepare(oc, 1, '', { length: false, storage: 'Transient' });
      b.cache.filling.unbusy(oc);
      let count = 0;
      while (count < 20 && b.cache.filling.append(oc, chunk, 0, chunk.length)) {
        count++;
        if (read) b.cache.reading.consume(oc, b.cache.reading.bodyLength(oc));
      }
      b.cache.references.deref(oc);
      return count;
    };
    expect([filled(false), filled(true)]).toEqual([16, 20]);
  });
});

describe('storages', () => {
  const storages: Stevedores = new Stevedores([spec('one', 1), spec('two', 2)], new RowTable(16));

  it('are chosen in turn, Transient never', () => {
    expect(storages.names()).toEqual(['one', 'two', 'Transient']);
    expect([1, 2, 3, 4].map(() => storages.next())).toEqual(['one', 'two', 'one', 'two']);
  });

  it('are chosen in turn by all threads together', () => {
    const memory = ownMemory();
    const threads = [1, 2].map(
      () => new Stevedores([spec('one', 1), spec('two', 2)], new RowTable(16), memory),
    );
    expect([0, 1, 0, 0, 1].map((i) => threads[i]?.next())).toEqual(['one', 'two', 'one', 'two', 'one']);
    expect([threads[1]?.pick(null), threads[0]?.pick(null)]).toEqual([1, 0]);
  });

  it('say their size, and whether a body with its head could be in them', () => {
    expect([storages.size('two'), storages.size('Transient'), storages.size('none')]).toEqual([2 * MB, 0, 0]);
    expect([storages.couldHold('one', MB - 4096), storages.couldHold('one', MB - 100)]).toEqual([
      true,
      false,
    ]);
    // The largest whose extents' heads leave no room for its response head.
    expect(storages.couldHold('one', 1_046_500)).toBe(false);
    expect([storages.couldHold('two', MB), storages.couldHold(null, 1e12)]).toEqual([true, true]);
  });

  it('have figures, and none without a storage', () => {
    expect(storages.stats('one')).toMatchObject({ g_bytes: 0, g_space: MB });
    expect(storages.stats('none')).toBeNull();
  });
});

describe('a large body in a large store', () => {
  it('takes room for its first bytes only, until more come, and is whole', () => {
    const b = new Bench([spec('s0', 2048)]);
    const bytes = Buffer.alloc(4 * MB, 'the bytes of a slice ');
    const [, out] = b.lookup('/film');
    b.prepare(out.busy, 1, bytes, {});
    const { filling, storages } = b.cache;
    const taken = (): number => storages.stats('s0')?.g_bytes as number;
    expect(filling.append(out.busy, bytes, 0, 16 << 10)).toBe(true);
    expect(taken()).toBeLessThan(40 << 10);
    for (let at = 16 << 10; at < bytes.length; at += 16 << 10)
      expect(filling.append(out.busy, bytes, at, at + (16 << 10))).toBe(true);
    expect(taken()).toBeLessThan(bytes.length * 1.08);
    filling.finish(out.busy);
    expect(b.body(out.busy).equals(bytes)).toBe(true);
  });
});
