// Clients choose the values of headers in Vary, and know the source: values chosen to collide under an unkeyed hash must not
// make the lookups of a key expensive.
import { expect, it } from 'vitest';
import type { CacheState } from '../../../daemon/cache/cache-state.ts';
import { CrowdSearch } from '../../../daemon/cache/crowd-search.ts';
import { VariantHash } from '../../../daemon/cache/vary.ts';
import { Bench, request } from './cache-setup.ts';

const PRIME = 0x01000193;

function fnv(start: number, text: string): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash;
}

/** Two texts that lead from a state of FNV-1a to the same state. */
function collision(start: number): [string, string, number] {
  const seen = new Map<number, string>();
  for (let i = 0; ; i++) {
    const text = i.toString(36).padStart(6, '0');
    const hash = fnv(start, text);
    const other = seen.get(hash);
    if (other !== undefined) return [other, text, hash];
    seen.set(hash, text);
  }
}

/** 2 ** pairs values with the same FNV-1a hash. */
function colliding(pairs: number): string[] {
  let state = 0x811c9dc5 | 0;
  let values = [''];
  for (let i = 0; i < pairs; i++) {
    const [a, b, next] = collision(state);
    values = values.flatMap((value) => [value + a, value + b]);
    state = next;
  }
  return values;
}

const VALUES = colliding(9);

it('the values collide under FNV-1a', () => {
  expect(new Set(VALUES).size).toBe(512);
  expect(new Set(VALUES.map((value) => fnv(0x811c9dc5, value)))).toHaveLength(1);
});

it('a lookup compares few of the variants with chosen values', () => {
  const b = new Bench();
  for (const [i, value] of VALUES.entries()) b.put('/v', i + 1, 'x', { vary: 'L' }, { L: value });
  expect(b.ask('/v', { L: 'none' })).toBe('MISS');
  const { state } = b.cache.hits as unknown as { state: CacheState };
  const crowd = state.objheads.crowdOf(state.objheads.find('/v'));
  expect(state.crowds.isIndexed(crowd)).toBe(true);
  const search = new CrowdSearch(state.crowds, state.variantHash);
  const compared = VALUES.map((value) => {
    search.begin(crowd, request('/v', { L: value }));
    let count = 0;
    while (search.next() !== 0) count++;
    return count;
  });
  expect(Math.min(...compared)).toBe(1);
  expect(Math.max(...compared)).toBeLessThan(4);
});

it('a request does not wait for the fetch of a variant with another chosen value', () => {
  const gzip = true;
  const hash = new VariantHash([1, 2]);
  const expected = VALUES.map((value) => hash.expected({ names: ['l'], values: [value] }, gzip));
  expect(new Set(expected).size).toBeGreaterThan(510);
});

it('the hash depends on the seed', () => {
  const key = { names: ['l'], values: ['a'] };
  expect(new VariantHash([1, 2]).ofKey(key)).not.toBe(new VariantHash([3, 4]).ofKey(key));
  expect(new VariantHash([1, 2]).ofKey(key)).toBe(new VariantHash([1, 2]).ofKey(key));
});
