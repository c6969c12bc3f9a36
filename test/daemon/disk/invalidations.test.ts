import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Invalidation, Invalidations } from '../../../daemon/disk/invalidations.ts';

const MOST = 8;

function one(sequence: number, kind: Invalidation['kind'], text: string): Invalidation {
  return { sequence, kind, text, at: 0, ttl: -1, grace: -1, keep: -1 };
}

it('keeps the newest of them, of a key that is purged again the last, and forgets the first of them', () => {
  const step = fc.record({ isBan: fc.boolean(), name: fc.integer({ min: 0, max: 11 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 0, max: 1000 }), (steps, floor) => {
      const all = new Invalidations(MOST, floor);
      let window: { sequence: number; text: string }[] = [];
      let lowest = floor;
      steps.forEach(({ isBan, name }, i) => {
        const sequence = floor + 1 + i;
        const text = isBan ? `obj.ttl > ${name}s` : `key ${name}`;
        all.add(one(sequence, isBan ? 'ban' : 'key', text));
        if (!isBan) window = window.filter((other) => other.text !== text);
        window.push({ sequence, text });
        if (window.length > MOST) lowest = (window.shift() as { sequence: number }).sequence;
        expect([...all.all()].map(({ sequence: number }) => number)).toEqual(
          window.map(({ sequence: number }) => number),
        );
        expect(all.floor).toBe(lowest);
      });
      const kept = new Set(window.map(({ text }) => text));
      for (let name = 0; name <= 11; name++) {
        const concerns = all.concerning(lowest, `key ${name}`, []);
        if (kept.has(`key ${name}`)) expect(concerns).toBe(null);
        else expect(concerns?.bans.length).toBe(window.filter(({ text }) => text.startsWith('obj')).length);
      }
    }),
  );
});

it('takes about as long for each of them however many it has forgotten', () => {
  const MANY = 50_000;
  const all = new Invalidations(MANY);
  let last = 0;
  const round = (): number => {
    const { user } = process.cpuUsage();
    for (const end = last + MANY; last < end; last++) all.add(one(last + 1, 'key', `key ${last}`));
    return process.cpuUsage().user - user;
  };
  const first = round();
  // Those of these rounds make as many leave.
  const rounds = Array.from({ length: 3 }, round);
  expect(Math.min(...rounds)).toBeLessThan(4 * first);
  expect(all.floor).toBe(3 * MANY);
});

it('finds the first of them behind many that were replaced', () => {
  const all = new Invalidations(MOST);
  for (let i = 1; i <= 10_000; i++) all.add(one(i, 'key', 'same'));
  for (let i = 1; i <= MOST; i++) all.add(one(10_000 + i, 'key', `key ${i}`));
  expect(all.floor).toBe(10_000);
  expect(all.concerning(10_000, 'key 1', [])).toBe(null);
  expect(all.concerning(10_000, 'same', [])).toEqual({ soft: [], bans: [] });
});
