import { describe, expect, it } from 'vitest';
import {
  type EdgeResponse,
  edgeControlHeaders,
  type HeaderSwitches,
  targetedHeaders,
} from '../../../../daemon/edge/providers/edge-headers.ts';

const SWITCHES: HeaderSwitches = { edgeAge: 'drop', basis: 'remaining', downstream: 'ttl' };
const FRESH: EdgeResponse = { cacheable: true, ttl: 60, grace: 10, age: 0, cacheControl: '' };
const headers = (response: Partial<EdgeResponse>, switches: Partial<HeaderSwitches> = {}) =>
  edgeControlHeaders({ ...FRESH, ...response }, { ...SWITCHES, ...switches });

describe('Edge-Control', () => {
  it.each([
    ['fresh', {}, {}, 'max-age=70', 'max-age=60, post-check=60'],
    ['aged, by the seconds of its Age', { age: 20.5 }, {}, 'max-age=50', 'max-age=40, post-check=40'],
    ['fetched just now', { age: 0.01 }, {}, 'max-age=70', 'max-age=60, post-check=60'],
    ['in grace', { age: 65 }, {}, 'max-age=5', 'max-age=0, post-check=0'],
    ['beyond grace', { age: 100 }, {}, 'max-age=0', 'max-age=0, post-check=0'],
    ['original', { age: 20 }, { basis: 'original' }, 'max-age=70', 'max-age=60, post-check=60'],
  ] as const)('%s', (_name, response, switches, edge, cache) => {
    expect(headers(response, switches)).toEqual({ Age: null, 'Edge-Control': edge, 'Cache-Control': cache });
  });

  it('keeps Age if configured', () => {
    expect(headers({}, { edgeAge: 'keep' })).not.toHaveProperty('Age');
  });

  it('keeps what the proxy does not cache out of the edge', () => {
    expect(headers({ cacheable: false })).toEqual({ Age: null, 'Edge-Control': 'no-store' });
  });
});

describe('Cache-Control for caches in front of the edge', () => {
  it.each([
    ['max-age=3600', {}, 'max-age=60, post-check=60'],
    ['public, S-MaxAge=9, max-age=3600', {}, 'public, max-age=60, s-maxage=60, post-check=60'],
    ['max-age=1, max-age=2, post-check=5', {}, 'max-age=60, post-check=60'],
    ['x="a, max-age=9", public', {}, 'x="a, max-age=9", public, max-age=60, post-check=60'],
    ['Private, max-age=3600', {}, 'Private, max-age=3600, post-check=60'],
    ['no-cache="a, b"', {}, 'no-cache="a, b", post-check=60'],
    ['no-store', {}, 'no-store, post-check=60'],
    ['max-age=3600', { downstream: 'origin' }, 'max-age=3600, post-check=60'],
    ['public', { downstream: 'origin' }, 'public, max-age=60, post-check=60'],
  ] as const)('of %j with %j', (cacheControl, switches, wanted) => {
    expect(headers({ cacheControl }, switches)['Cache-Control']).toBe(wanted);
  });
});

describe('targeted headers', () => {
  it('hold the whole lifetimes, with Age', () => {
    expect(
      targetedHeaders('CDN-Cache-Control', { ...FRESH, age: 20.5, cacheControl: 'max-age=9' }, SWITCHES),
    ).toEqual({
      'CDN-Cache-Control': 'max-age=70',
      'Cache-Control': 'max-age=60',
      Age: '20',
    });
  });

  it('close the edge to what is not cached', () => {
    expect(targetedHeaders('Surrogate-Control', { ...FRESH, cacheable: false }, SWITCHES)).toEqual({
      'Surrogate-Control': 'no-store',
    });
  });
});
