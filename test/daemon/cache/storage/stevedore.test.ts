import { describe, expect, it } from 'vitest';
import { Rows } from '../../../../daemon/cache/rows.ts';
import { makeStevedores } from '../../../../daemon/cache/storage/stevedore.ts';
import type { StorageSpec } from '../../../../daemon/link.ts';
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
    const found = makeStevedores(specs, new Rows(16)).find((each) => each.name === 'Transient');
    expect(found?.mostOfBody).toBe(most * MB);
  });

  it('ends a body that grows beyond it, and leaves one alone of which its reader takes as much', () => {
    const b = new Bench([spec('s0', 1)]);
    const chunk = Buffer.alloc(4 * MB);
    const filled = (read: boolean): number => {
      const oc = b.cache.newPrivate();
      b.prepare(oc, 1, '', { length: false, storage: 'Transient' });
      b.cache.unbusy(oc);
      let count = 0;
      while (count < 20 && b.cache.append(oc, chunk, 0, chunk.length)) {
        count++;
        if (read) b.cache.consume(oc, b.cache.bodyLength(oc));
      }
      b.cache.deref(oc);
      return count;
    };
    expect([filled(false), filled(true)]).toEqual([16, 20]);
  });
});
