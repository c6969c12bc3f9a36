import { describe, expect, it } from 'vitest';
import {
  type Healthy,
  type PickQuestion,
  pickHost,
} from '../../../../daemon/extensions/directors/shard-pick.ts';
import type { RingWalk } from '../../../../daemon/extensions/directors/shard-ring.ts';

/** Hosts in the order of the key: H healthy, S sick, r healthy and in its rampup. */
function ask(pattern: string, more: Partial<PickQuestion> = {}): number {
  let at = 0;
  const walk = { next: () => (at < pattern.length ? at++ : -1) } as unknown as RingWalk;
  return pickHost({
    walk,
    alt: 0,
    healthy: 'CHOSEN',
    // Exactly as many as there are: a pick ends with the last of them.
    healthyLeft: [...pattern].filter((host) => host !== 'S').length,
    warmup: 0,
    rampup: true,
    isHealthy: (host) => pattern[host] !== 'S',
    ramped: (host) => (pattern[host] === 'r' ? 0.25 : 1),
    chance: () => 0.5,
    ...more,
  });
}

/** As 7.1.1 answers: ranks for alt 0 to 3 with healthy=CHOSEN, then with ALL; -1 is none. */
const ALTERNATIVES: readonly (readonly [string, readonly number[], readonly number[]])[] = [
  ['HHHH', [0, 1, 2, 3], [0, 1, 2, 3]],
  ['HHHS', [0, 1, 2, 1], [0, 1, 2, 1]],
  ['HHSH', [0, 1, 3, 3], [0, 1, 3, 1]],
  ['HHSS', [0, 1, 0, 1], [0, 1, 0, 1]],
  ['HSHH', [0, 2, 2, 3], [0, 2, 3, 2]],
  ['HSHS', [0, 2, 2, 0], [0, 2, 0, 2]],
  ['HSSH', [0, 3, 3, 3], [0, 3, 0, 3]],
  ['HSSS', [0, -1, 0, 0], [0, -1, 0, 0]],
  ['SHHH', [1, 1, 2, 3], [1, 2, 3, 2]],
  ['SHHS', [1, 1, 2, 1], [1, 2, 1, 2]],
  ['SHSS', [1, 1, -1, 1], [1, -1, 1, 1]],
  ['SSHS', [2, 2, 2, -1], [2, -1, 2, 2]],
  ['SSSS', [-1, -1, -1, -1], [-1, -1, -1, -1]],
];

describe('alternatives', () => {
  it.each(ALTERNATIVES)('%s', (pattern, chosen, all) => {
    const ranks = (healthy: Healthy) => [0, 1, 2, 3].map((alt) => ask(pattern, { alt, healthy }));
    expect(ranks('CHOSEN')).toEqual(chosen);
    expect(ranks('ALL')).toEqual(all);
    expect(ranks('IGNORE')).toEqual([0, 1, 2, 3]);
  });
});

describe('warmup and rampup', () => {
  it.each([
    ['HH', { warmup: 0.6 }, 1],
    ['HH', { warmup: 0.5 }, 0],
    ['HH', { warmup: 0.4 }, 0],
    ['SHSH', { warmup: 1 }, 3],
    ['HSS', { warmup: 1 }, 0],
    ['HH', { warmup: 1, alt: 1 }, 1],
    ['HHH', { warmup: 1, healthy: 'IGNORE' as const }, 0],
    // A quarter of the rampup is over: a quarter of the requests stay.
    ['rH', {}, 1],
    ['rH', { chance: () => 0.2 }, 0],
    ['rrH', {}, 0],
    ['rSH', {}, 2],
    ['rS', {}, 0],
    ['rH', { rampup: false }, 0],
    ['rH', { rampup: false, warmup: 1 }, 0],
    ['Hr', { warmup: 1 }, 1],
    ['Hr', {}, 0],
    ['rr', { warmup: 1 }, 0],
  ])('%s %o', (pattern, more, expected) => {
    expect(ask(pattern, more)).toBe(expected);
  });
});
