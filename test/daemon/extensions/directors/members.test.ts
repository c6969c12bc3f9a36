import { describe, expect, it } from 'vitest';
import type { Director, VclContext } from '../../../../daemon/contract/context.ts';
import { directors } from '../../../../daemon/extensions/directors/directors.ts';
import { NOW, task } from '../../vcl/fake-task.ts';
import { backends, type FakeBackend, served } from './fake-backends.ts';

const ctx: VclContext = task('sub vcl_recv { }').ctx;

let made = 0;

/** A director with its methods bound, under a name of its own. */
function make(kind: string, ...args: unknown[]) {
  return named(`dir${made++}`, kind, ...args);
}

function named(name: string, kind: string, ...args: unknown[]) {
  const object = directors.objects?.[kind];
  if (object === undefined) throw new Error(kind);
  const self = object.create(ctx, name, ...args) as Director;
  const call = (method: string, ...given: unknown[]) => object.methods[method]?.call(ctx, self, ...given);
  return {
    self,
    call,
    add: (...given: unknown[]) => call('add_backend', ...given),
    end: () => object.destroy?.(self),
  };
}

function filled(kind: string, members: readonly FakeBackend[], ...args: unknown[]) {
  const d = make(kind, ...args);
  for (const m of members) d.add(m, 1);
  return d;
}

const [one, two, three] = [0, 1, 2] as const;

describe('round_robin', () => {
  it('takes the members in turn and leaves out sick ones', () => {
    const b = backends(3);
    const d = filled('round_robin', b);
    expect(served(d.self, ctx, 4)).toBe('b1 b2 b3 b1');
    (b[two] as FakeBackend).up = false;
    expect(served(d.self, ctx, 4)).toBe('b3 b1 b3 b1');
    for (const m of b) m.up = false;
    expect(served(d.self, ctx, 2)).toBe('- -');
    expect(d.self.healthy(NOW)).toBe(false);
  });

  it('continues after a member that has been removed', () => {
    const b = backends(4);
    const d = filled('round_robin', b);
    expect(served(d.self, ctx, 2)).toBe('b1 b2');
    d.call('remove_backend', b[one]);
    expect(served(d.self, ctx, 4)).toBe('b4 b2 b3 b4');
    d.call('remove_backend', b[one]);
    expect(served(d.self, ctx, 3)).toBe('b2 b3 b4');
  });

  it('refuses none', () => {
    const d = make('round_robin');
    expect(() => d.add(null)).toThrow(/^dir\d+: None backend cannot be added/);
    expect(() => d.call('remove_backend', null)).toThrow(/^dir\d+: None backend cannot be removed/);
  });
});

describe('fallback', () => {
  it('goes back to the first as soon as it is healthy', () => {
    const b = backends(3);
    const d = filled('fallback', b, false);
    expect(served(d.self, ctx, 2)).toBe('b1 b1');
    (b[one] as FakeBackend).up = false;
    expect(served(d.self, ctx, 2)).toBe('b2 b2');
    (b[one] as FakeBackend).up = true;
    expect(served(d.self, ctx, 1)).toBe('b1');
  });

  it('stays where it is when sticky, and starts over after the last', () => {
    const b = backends(3);
    const d = filled('fallback', b, true);
    (b[one] as FakeBackend).up = false;
    expect(served(d.self, ctx, 1)).toBe('b2');
    (b[one] as FakeBackend).up = true;
    expect(served(d.self, ctx, 2)).toBe('b2 b2');
    (b[two] as FakeBackend).up = false;
    (b[three] as FakeBackend).up = false;
    expect(served(d.self, ctx, 1)).toBe('b1');
    (b[one] as FakeBackend).up = false;
    expect(served(d.self, ctx, 1)).toBe('-');
  });

  it('keeps the member a sticky one has come to when one before it is removed', () => {
    const b = backends(3);
    const d = filled('fallback', b, true);
    (b[one] as FakeBackend).up = false;
    expect(served(d.self, ctx, 1)).toBe('b2');
    d.call('remove_backend', b[one]);
    expect(served(d.self, ctx, 1)).toBe('b2');
  });
});

describe('one director as several threads have it', () => {
  const pair = (kind: string, members: readonly FakeBackend[], ...args: unknown[]) => {
    const name = `dir${made++}`;
    return [0, 1].map(() => {
      const d = named(name, kind, ...args);
      for (const m of members) d.add(m, 1);
      return d;
    }) as [ReturnType<typeof make>, ReturnType<typeof make>];
  };

  it.each(['round_robin', 'least_conn'])('takes turns over all of them: %s', (kind) => {
    const [a, b] = pair(kind, backends(3));
    const seen = [a, a, b, b, a, b].map(({ self }) => served(self, ctx, 1));
    expect(seen.join(' ')).toBe('b1 b2 b3 b1 b2 b3');
  });

  it('takes the next turn where another thread has taken the same between two steps', () => {
    const members = backends(3);
    const [a, b] = pair('round_robin', members);
    let other = '';
    const [first] = members as [FakeBackend];
    // A's look at the health of the first member is when B comes.
    first.healthy = () => {
      first.healthy = () => true;
      other = served(b.self, ctx, 1);
      return true;
    };
    expect([served(a.self, ctx, 1), other]).toEqual(['b2', 'b1']);
  });

  it('stays with the member that any of them has come to when it is sticky', () => {
    const members = backends(2);
    const [a, b] = pair('fallback', members, true);
    (members[one] as FakeBackend).up = false;
    expect(served(a.self, ctx, 1)).toBe('b2');
    (members[one] as FakeBackend).up = true;
    expect([served(b.self, ctx, 1), [...(b.self.listed?.text(NOW) ?? [])]]).toEqual([
      'b2',
      expect.arrayContaining(['\tb2\t*\thealthy']),
    ]);
  });

  it('begins at the first again when all of them have let it go', () => {
    const [a, b] = pair('round_robin', backends(3));
    const name = a.self.vclName;
    expect([served(a.self, ctx, 1), served(b.self, ctx, 1)]).toEqual(['b1', 'b2']);
    const again = () => {
      const d = named(name, 'round_robin');
      for (const m of backends(3)) d.add(m, 1);
      const got = served(d.self, ctx, 1);
      d.end();
      return got;
    };
    a.end();
    expect(again()).toBe('b3');
    b.end();
    expect([again(), again()]).toEqual(['b1', 'b1']);
  });
});

describe('random and hash', () => {
  it('share by weight', () => {
    const b = backends(4);
    const d = make('random');
    [1, 2, 0, 5].forEach((weight, i) => void d.add(b[i], weight));
    (b[three] as FakeBackend).up = true;
    const count = new Map<string, number>();
    const total = 20_000;
    for (const name of served(d.self, ctx, total).split(' ')) count.set(name, (count.get(name) ?? 0) + 1);
    // Six standard deviations of a binomial count stay below 0.025 of 20,000.
    for (const [name, share] of [
      ['b1', 1 / 8],
      ['b2', 2 / 8],
      ['b4', 5 / 8],
    ] as const) {
      expect(Math.abs((count.get(name) ?? 0) / total - share)).toBeLessThan(0.025);
    }
    expect(count.get('b3')).toBeUndefined();
  });

  it('give the healthy members the share of the sick ones', () => {
    const b = backends(3);
    const d = filled('hash', b);
    const keys = Array.from({ length: 300 }, (_, i) => `/${i}`);
    const pick = (key: string) => (d.call('backend', key) as Director | null)?.vclName;
    expect(new Set(keys.map(pick))).toEqual(new Set(['b1', 'b2', 'b3']));
    (b[two] as FakeBackend).up = false;
    expect(new Set(keys.map(pick))).toEqual(new Set(['b1', 'b3']));
    for (const m of b) m.up = false;
    expect(pick('/x')).toBeUndefined();
  });
});

describe('least_conn', () => {
  it('takes the least loaded for its weight, equals in turn', () => {
    const b = backends(3);
    const d = make('least_conn');
    d.add(b[one], 1);
    d.add(b[two], 1);
    d.add(b[three], 4);
    expect(served(d.self, ctx, 4)).toBe('b1 b2 b3 b1');
    for (const [i, m] of b.entries()) m.inUse = [2, 1, 3][i] as number;
    expect(served(d.self, ctx, 2)).toBe('b3 b3');
    (b[three] as FakeBackend).up = false;
    expect(served(d.self, ctx, 2)).toBe('b2 b2');
    expect(d.self.inUse).toBe(6);
  });

  it('refuses a weight that is not above zero', () => {
    const d = make('least_conn');
    const [b] = backends(1);
    expect(() => d.add(b, 0)).toThrow(/^dir\d+: weight 0 is not above zero/);
    expect(() => d.add(b, Number.NaN)).toThrow('not above zero');
  });
});

describe('directors in directors', () => {
  it('resolve down to a backend and are as healthy as what is below', () => {
    const b = backends(2);
    const inner = filled('round_robin', b);
    const outer = make('fallback', false);
    outer.add(make('random').self);
    outer.add(inner.self);
    expect(served(outer.self, ctx, 3)).toBe('b1 b2 b1');
    for (const m of b) m.up = false;
    expect(outer.self.healthy(NOW)).toBe(false);
    expect(served(outer.self, ctx, 1)).toBe('-');
  });

  it('end where a director contains itself', () => {
    const d = make('round_robin');
    const e = make('fallback', false);
    d.add(e.self);
    e.add(d.self);
    expect(d.self.healthy(NOW)).toBe(false);
    expect(served(d.self, ctx, 1)).toBe('-');
    expect(d.self.inUse).toBe(0);
    const [b] = backends(1);
    d.add(b);
    expect(d.self.healthy(NOW)).toBe(true);
    expect(served(d.self, ctx, 2)).toContain('b1');
    expect(d.self.listed?.counts(NOW)?.total).toBe(2);
    expect(d.self.listed?.changedAt).toBe(NOW);
  });

  it("follow the operator's word, whatever the members say", () => {
    const b = backends(1);
    const inner = filled('round_robin', b);
    const outer = make('fallback', false);
    outer.add(inner.self);
    const { listed } = inner.self;
    if (listed === null) throw new Error('not listed');
    listed.admin = 'sick';
    expect(served(outer.self, ctx, 1)).toBe('-');
    expect(served(inner.self, ctx, 1)).toBe('b1');
    listed.admin = 'healthy';
    (b[one] as FakeBackend).up = false;
    expect(inner.self.healthy(NOW)).toBe(true);
    expect(listed.measured(NOW)).toBe(false);
  });
});

describe('their rows in backend.list', () => {
  it('show the members', () => {
    const b = backends(2);
    const d = filled('fallback', b, true);
    (b[one] as FakeBackend).up = false;
    expect(served(d.self, ctx, 1)).toBe('b2');
    const { listed } = d.self;
    expect(listed?.counts(NOW)).toEqual({ good: 1, total: 2 });
    expect([...(listed?.text(NOW) ?? [])]).toEqual([
      '',
      '\tBackend\tCurrent\tHealth',
      '\tb1\t\tsick',
      '\tb2\t*\thealthy',
      '',
    ]);
    expect(JSON.parse([...(listed?.json(NOW) ?? [])].join(''))).toEqual({
      sticky: true,
      backends: { b1: { current: false, health: 'sick' }, b2: { current: true, health: 'healthy' } },
    });
  });

  it('say nothing of a hash director', () => {
    const { listed } = filled('hash', backends(1)).self;
    expect([listed?.type, listed?.counts(NOW), [...(listed?.text(NOW) ?? [])], listed?.json(NOW)]).toEqual([
      'hash',
      null,
      [],
      null,
    ]);
  });
});
