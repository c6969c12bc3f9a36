import { describe, expect, it } from 'vitest';
import { KeyHash } from '../../../daemon/cache/key-hash.ts';
import { KeyIndex } from '../../../daemon/cache/key-index.ts';
import { BATCH } from '../../../daemon/cache/objcore.ts';

describe('KeyIndex', () => {
  it('finds every key through growth and removal, and no other', () => {
    const index = new KeyIndex(1, 2);
    const handles = new Map<string, number>();
    for (let i = 0; i < 20000; i++) {
      const key = `/path/${i}\0example.com`;
      handles.set(key, index.findOrAdd(key));
    }
    expect(index.count).toBe(20000);
    expect(new Set(handles.values()).size).toBe(20000);
    expect([...handles].filter(([key, oh]) => index.find(key) !== oh)).toEqual([]);
    let n = 0;
    for (const [key, oh] of handles) {
      if (n++ % 3 === 0) continue;
      index.remove(oh);
      handles.delete(key);
    }
    expect(index.count).toBe(handles.size);
    const keys = Array.from({ length: 20000 }, (_, i) => `/path/${i}\0example.com`);
    expect(keys.filter((key) => index.find(key) !== (handles.get(key) ?? 0))).toEqual([]);
    expect([...handles].filter(([key, oh]) => index.findOrAdd(key) !== oh)).toEqual([]);
  });

  it('removes many at once as one by one', () => {
    const index = new KeyIndex(1, 2);
    const handles = Uint32Array.from({ length: 20_000 }, (_, i) => index.findOrAdd(`/path/${i}`));
    for (let from = 0; from < 10_000; from += BATCH) {
      const some = handles.subarray(from, Math.min(from + BATCH, 10_000));
      index.touchAll(some, some.length);
      index.removeAll(some, some.length);
    }
    expect(index.count).toBe(10_000);
    const wrong = [...handles.keys()].filter(
      (i) => index.find(`/path/${i}`) !== (i < 10_000 ? 0 : handles[i]),
    );
    expect(wrong).toEqual([]);
  });

  it('distinguishes keys that differ in length, in one byte, or beyond any block', () => {
    const index = new KeyIndex(1, 2);
    const long = 'x'.repeat(100_000);
    const keys = [
      '',
      'a',
      'b',
      'aa',
      'a\0',
      'a\xff',
      'a\u0100',
      '\u0100',
      long,
      `${long}y`,
      'x'.repeat(8192),
    ];
    const handles = keys.map((key) => index.findOrAdd(key));
    expect(new Set(handles).size).toBe(keys.length);
    expect(keys.map((key) => index.find(key))).toEqual(handles);
  });

  it('gives the memory of removed keys back', () => {
    const index = new KeyIndex(3, 4);
    for (let round = 0; round < 4; round++) {
      const handles: number[] = [];
      for (let i = 0; i < 30_000; i++) handles.push(index.findOrAdd(`${'k'.repeat(100)}${round}-${i}`));
      for (const oh of handles) index.remove(oh);
    }
    expect(index.count).toBe(0);
    expect(index.keyBytes).toBeLessThanOrEqual(2 << 20);
  });
});

describe('KeyHash', () => {
  it('depends on seed, length and every byte', () => {
    const seen = new Set<string>();
    const inputs = ['', '\0', '\0\0', 'abc', 'abcd', 'abce', 'abcde', 'bbcd', 'abcd\0', 'x'.repeat(300)];
    for (const [a, b] of [
      [1, 2],
      [2, 1],
      [1, 3],
    ] as const) {
      const hash = new KeyHash(a, b);
      for (const input of inputs) {
        hash.hash(input);
        seen.add(`${hash.lo} ${hash.hi}`);
        expect(hash.lo).not.toBe(hash.hi);
      }
    }
    expect(seen.size).toBe(inputs.length * 3);
  });

  it('spreads similar keys over all bits of both halves', () => {
    const hash = new KeyHash(7, 8);
    const ones = new Array<number>(64).fill(0);
    for (let i = 0; i < 4096; i++) {
      hash.hash(`/item/${i}`);
      for (let bit = 0; bit < 32; bit++) {
        ones[bit] = (ones[bit] as number) + ((hash.lo >>> bit) & 1);
        ones[bit + 32] = (ones[bit + 32] as number) + ((hash.hi >>> bit) & 1);
      }
    }
    for (const count of ones) expect(Math.abs(count - 2048)).toBeLessThan(200);
  });
});
