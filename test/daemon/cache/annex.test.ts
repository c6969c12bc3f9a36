// Data stored with a body: found with it, and removed with it whichever way an object is removed.
import { describe, expect, it } from 'vitest';
import { type Oc, OF_ESI } from '../../../daemon/cache/objcore.ts';
import { Bench } from './cache-setup.ts';

const BYTES = Buffer.from('what a filter has found out');

function used({ cache }: Bench): number {
  return cache.storages.stats('s0')?.g_bytes ?? -1;
}

/** An object that has an annex when it is published. */
function put(b: Bench, url: string, vxid: number, bytes = BYTES): void {
  const [, out] = b.lookup(url, {}, { hashAlwaysMiss: true });
  b.prepare(out.busy, vxid, 'body', {});
  b.cache.filling.append(out.busy, Buffer.from('body'), 0, 4);
  expect(b.cache.filling.setAnnex(out.busy, bytes, OF_ESI)).toBe(true);
  b.cache.filling.finish(out.busy);
  b.cache.references.deref(out.busy);
}

function hold(b: Bench, url: string): Oc {
  return b.lookup(url)[1].oc;
}

describe('An annex', () => {
  it('is there with its flag, and the body is what it was', () => {
    const b = new Bench();
    put(b, '/a', 1);
    b.put('/plain', 2, 'body');
    const oc = hold(b, '/a');
    expect(b.cache.reading.annex(oc)?.toString()).toBe(BYTES.toString());
    expect([b.cache.facts.has(oc, OF_ESI), b.body(oc).toString()]).toEqual([true, 'body']);
    const plain = hold(b, '/plain');
    expect([b.cache.reading.annex(plain), b.cache.facts.has(plain, OF_ESI)]).toEqual([null, false]);
  });

  it('of a finished object takes the place of the one before', () => {
    const b = new Bench();
    b.put('/a', 1, 'body');
    const before = used(b);
    const oc = hold(b, '/a');
    for (const text of ['one', 'x'.repeat(5000), 'three'])
      expect(b.cache.filling.setAnnex(oc, Buffer.from(text))).toBe(true);
    expect(b.cache.reading.annex(oc)?.toString()).toBe('three');
    expect(used(b) - before).toBeLessThan(100);
  });

  it('larger than any block of the storage is refused, and one of many pages is kept', () => {
    const b = new Bench([{ name: 's0', kind: 'malloc', size: 8 << 20 }]);
    b.put('/a', 1, 'body');
    const oc = hold(b, '/a');
    const large = Buffer.alloc(700_000, 'y');
    expect(b.cache.filling.setAnnex(oc, large)).toBe(true);
    expect(b.cache.reading.annex(oc)?.equals(large)).toBe(true);
    expect(b.cache.filling.setAnnex(oc, Buffer.alloc(20 << 20))).toBe(false);
    expect(b.cache.reading.annex(oc)?.equals(large)).toBe(true);
  });

  it.each<[string, (b: Bench) => void]>([
    ['a purge', (b) => void b.cache.invalidation.purge('/a', b.now)],
    [
      'a ban',
      (b) => {
        b.cache.bans.addText('obj.status == 200', b.now);
        b.ask('/a');
        b.ask('/b');
      },
    ],
    [
      'its end',
      (b) => {
        b.now += 1000;
        b.maintain();
      },
    ],
  ])('goes with its object by %s', (_name, end) => {
    const b = new Bench();
    const before = used(b);
    for (const [i, url] of ['/a', '/b'].entries()) put(b, url, i + 1);
    expect(used(b)).toBeGreaterThan(before);
    end(b);
    b.cache.invalidation.purge('/b', b.now);
    b.settle();
    b.maintain();
    expect(used(b)).toBe(before);
  });
});
