// Directors of thousands of members: a choice looks at a few of them, and sees what has changed since the one before.

import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Director, VclContext } from '../../../../daemon/contract/context.ts';
import { healthEpoch } from '../../../../daemon/contract/health-epoch.ts';
import { directors } from '../../../../daemon/extensions/directors/directors.ts';
import { KEYS, stringKey } from '../../../../daemon/extensions/directors/key.ts';
import { NOW, task } from '../../vcl/fake-task.ts';
import { FakeBackend } from './fake-backends.ts';

const ctx: VclContext = task('sub vcl_recv { }').ctx;
const MANY = 5000;
const KINDS = ['random', 'round_robin', 'fallback', 'hash', 'least_conn', 'shard'] as const;
type Kind = (typeof KINDS)[number];

let looks = 0;
let made = 0;

/** As a backend is: what changes its health is followed by the next epoch. */
class Steady extends FakeBackend {
  readonly isSteady = true;

  override healthy(): boolean {
    looks++;
    return this.up;
  }

  set(up: boolean): void {
    this.up = up;
    healthEpoch.changed();
  }
}

interface Made {
  readonly self: Director;
  pick(key?: string): string;
  add(member: Director, weight?: number): void;
  remove(member: Director): void;
}

function make(kind: Kind): Made {
  const object = directors.objects?.[kind];
  if (object === undefined) throw new Error(kind);
  const self = object.create(ctx, `many${made++}`) as Director;
  const call = (method: string, ...given: unknown[]) => object.methods[method]?.call(ctx, self, ...given);
  const settled = () => {
    if (kind === 'shard') call('reconfigure', 67);
  };
  return {
    self,
    pick: (key = '') => {
      if (kind === 'hash') return (call('backend', key) as Director | null)?.resolve(ctx)?.vclName ?? '-';
      if (kind !== 'shard') return self.resolve(ctx)?.vclName ?? '-';
      const chosen = call(
        'backend',
        'KEY',
        stringKey(key),
        undefined,
        0,
        0,
        false,
        'CHOSEN',
        undefined,
        'NOW',
      );
      return (chosen as Director | null)?.resolve(ctx)?.vclName ?? '-';
    },
    add: (member, weight = 1) => {
      if (kind === 'shard') call('add_backend', member);
      else call('add_backend', member, weight);
      settled();
    },
    remove: (member) => {
      call('remove_backend', member);
      settled();
    },
  };
}

function filled(kind: Kind, members: readonly Director[]): Made {
  const d = make(kind);
  if (kind === 'shard') {
    // All in one change, as a program does.
    const object = directors.objects?.shard;
    for (const m of members) object?.methods.add_backend?.call(ctx, d.self, m);
    object?.methods.reconfigure?.call(ctx, d.self, 67);
  } else for (const m of members) d.add(m);
  return d;
}

const many = (n: number): Steady[] => Array.from({ length: n }, (_, i) => new Steady(`b${i}`));

afterEach(() => void vi.restoreAllMocks());

describe.each(KINDS)('%s of thousands', (kind) => {
  it('looks at the health of all once, and of a few for a choice', () => {
    const d = filled(kind, many(MANY));
    d.pick('x');
    looks = 0;
    for (let i = 0; i < 100; i++) expect(d.pick(String(i))).not.toBe('-');
    expect(looks).toBeLessThanOrEqual(200);
    expect([d.self.healthy(NOW), d.self.listed?.measured(NOW)]).toEqual([true, true]);
    expect(looks).toBeLessThanOrEqual(200);
  });

  it('finds the one healthy member among sick ones, and none at once', () => {
    const members = many(MANY);
    for (const m of members) m.up = false;
    const d = filled(kind, members);
    expect(d.pick('x')).toBe('-');
    looks = 0;
    for (let i = 0; i < 10; i++) expect(d.pick(String(i))).toBe('-');
    expect(looks).toBe(0);
    members[MANY - 1]?.set(true);
    expect(d.pick('x')).toBe(`b${MANY - 1}`);
  });
});

it('a director in a director is as cheap to ask', () => {
  const inner = filled('random', many(MANY));
  const outer = filled('round_robin', [inner.self, filled('fallback', many(MANY)).self]);
  outer.pick();
  looks = 0;
  for (let i = 0; i < 100; i++) expect(outer.pick()).not.toBe('-');
  expect(looks).toBe(0);
});

it('least_conn stops at the first member without connections', () => {
  const members = many(MANY);
  let asked = 0;
  for (const m of members)
    Object.defineProperty(m, 'inUse', {
      get: () => {
        asked++;
        return 0;
      },
    });
  const d = filled('least_conn', members);
  for (let i = 0; i < 100; i++) d.pick();
  expect(asked).toBe(100);
});

/** As it was before: all members are filtered for each choice. */
class Reference {
  readonly members: { member: FakeBackend; weight: number }[] = [];
  next = 0;

  pick(kind: Kind, share: number): string {
    const { members } = this;
    const n = members.length;
    if (kind === 'random' || kind === 'hash') {
      const healthy = members.filter(({ member }) => member.up);
      let rest = share * healthy.reduce((sum, m) => sum + m.weight, 0);
      for (const { member, weight } of healthy) {
        if (rest < weight) return member.vclName;
        rest -= weight;
      }
      return '-';
    }
    const start = kind === 'fallback' ? 0 : this.next;
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < n; i++) {
      const at = (start + i) % n;
      const { member, weight } = members[at] as (typeof members)[number];
      if (!member.up) continue;
      const load = kind === 'least_conn' ? member.inUse / weight : 0;
      if (load < least) {
        least = load;
        best = at;
      }
    }
    if (best < 0) return '-';
    this.next = (best + 1) % n;
    return members[best]?.member.vclName ?? '-';
  }
}

const STEP = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pick' as const), share: fc.nat(999) }) },
  fc.record({ do: fc.constant('health' as const), at: fc.nat(11), up: fc.boolean() }),
  fc.record({ do: fc.constant('add' as const), at: fc.nat(11), weight: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constant('remove' as const), at: fc.nat(11) }),
  fc.record({ do: fc.constant('load' as const), at: fc.nat(11), inUse: fc.nat(3) }),
);

describe.each(['random', 'round_robin', 'fallback', 'hash', 'least_conn'] as const)('%s', (kind) => {
  it.each([
    ['steady ones', [true]],
    ['others', [false]],
    ['both', [true, false]],
  ])('chooses as one that asks every member each time: %s', (_, kinds) => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 60 }), (steps) => {
        const all = Array.from({ length: 12 }, (_2, i) =>
          kinds[i % kinds.length] === true ? new Steady(`b${i}`) : new FakeBackend(`b${i}`),
        );
        const d = make(kind);
        const reference = new Reference();
        for (const step of steps) {
          const member = 'at' in step ? (all[step.at] as FakeBackend) : null;
          if (step.do === 'pick') {
            const key = String(step.share);
            const share = kind === 'hash' ? stringKey(key) / KEYS : step.share / 1000;
            vi.spyOn(Math, 'random').mockReturnValue(share);
            expect(d.pick(key)).toBe(reference.pick(kind, share));
          } else if (member === null) continue;
          else if (step.do === 'health') {
            if (member instanceof Steady) member.set(step.up);
            else member.up = step.up;
          } else if (step.do === 'load') member.inUse = step.inUse;
          else if (step.do === 'add') {
            const weight = kind === 'round_robin' || kind === 'fallback' ? 1 : step.weight;
            d.add(member, weight);
            reference.members.push({ member, weight });
          } else {
            d.remove(member);
            const at = reference.members.findIndex((m) => m.member === member);
            if (at >= 0) reference.members.splice(at, 1);
          }
        }
      }),
    );
  });
});

it("sees the operator's word for a director below at once", () => {
  const inner = filled('round_robin', many(2));
  const outer = filled('random', [inner.self]);
  expect(outer.pick()).toBe('b0');
  const { listed } = inner.self;
  if (listed === null) throw new Error('not listed');
  listed.admin = 'sick';
  expect([outer.pick(), outer.self.healthy(NOW)]).toEqual(['-', false]);
  listed.admin = 'auto';
  expect(outer.pick()).toBe('b1');
});

it('a director that contains itself is resolved each time, as the result depends on where resolution began', () => {
  const a = make('round_robin');
  const b = make('round_robin');
  a.add(b.self);
  b.add(a.self);
  expect([a.self.isSteady, b.self.isSteady, a.self.healthy(NOW)]).toEqual([false, false, false]);
  const [one] = many(1);
  b.add(one as Director);
  expect([a.self.healthy(NOW), b.self.healthy(NOW)]).toEqual([true, true]);
});

it('weights below zero share out what they did', () => {
  const members = many(4);
  const d = make('random');
  [3, -1, 2, 2].forEach((weight, i) => void d.add(members[i] as Director, weight));
  const at = (share: number) => {
    vi.spyOn(Math, 'random').mockReturnValue(share);
    return d.pick();
  };
  // Sums 3, 2, 4 and 6: the first above the draw.
  expect([0, 0.49, 0.5, 0.66, 0.67, 0.99].map(at)).toEqual(['b0', 'b0', 'b2', 'b2', 'b3', 'b3']);
});
