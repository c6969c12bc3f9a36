// The clause of a question about backends: their load, and where their requests go then.
import { describe, expect, it } from 'vitest';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { effectOf, missingFacts } from '../../../../console/model/ui/effects.ts';

const BACKENDS = 'backend.list -j -p';
const NOW = 1_000;

type Row = readonly [name: string, type: string, members: readonly string[], state?: string];

/** A session that knows these backends, each with 2 requests a second. */
function session(rows: readonly Row[], answeredAt = NOW): DaemonSession {
  const table = Object.fromEntries(
    rows.map(([name, type, members, state = 'healthy']) => [
      name,
      {
        type,
        admin_health: 'probe',
        probe_message: type === 'backend' ? [8, 8, state] : [1, members.length, state],
        probe_details:
          type === 'backend' ? {} : { backends: Object.fromEntries(members.map((m) => [m, {}])) },
        last_change: 0,
      },
    ]),
  );
  const body = JSON.stringify([3, ['backend.list'], 0, table]);
  return {
    now: () => NOW,
    backends: [],
    admin: {
      body: (line: string) => (line === BACKENDS ? body : ''),
      answer: (line: string) => (line === BACKENDS ? { status: 200, body, at: answeredAt } : undefined),
    },
    counters: { rate: (name: string) => (name.endsWith('.req') ? 2 : 60) },
  } as unknown as DaemonSession;
}

const POOL: readonly Row[] = [
  ['boot.a', 'backend', []],
  ['boot.b', 'backend', []],
  ['boot.c', 'backend', []],
  ['boot.pool', 'round-robin', ['a', 'b']],
  ['boot.first', 'fallback', ['c', 'a', 'b']],
];

describe('a backend that becomes sick', () => {
  it.each([
    ['boot.a', 'it gets 2.0 requests/s now; pool then uses b; first then uses c'],
    ['a', 'it gets 2.0 requests/s now; pool then uses b; first then uses c'],
    ['boot.c', 'it gets 2.0 requests/s now; first then uses a'],
    [
      'boot.?',
      'these 3 backends get 6.0 requests/s now; pool has no healthy backend left; first has no healthy backend left',
    ],
    ['boot.pool', 'no director has another backend'],
    ['none', ''],
  ])('%s', (pattern, clauses) => {
    expect(effectOf(`backend.set_health ${pattern} sick`, session(POOL), '')).toBe(clauses);
  });

  it('is not replaced by one that is sick', () => {
    const rows = POOL.map((row): Row => (row[0] === 'boot.b' ? ['boot.b', 'backend', [], 'sick'] : row));
    expect(effectOf('backend.set_health a sick', session(rows), '')).toContain(
      'pool has no healthy backend left',
    );
  });

  it('is replaced by a director among the members', () => {
    const rows: Row[] = [...POOL, ['boot.top', 'random', ['pool', 'c']]];
    expect(effectOf('backend.set_health c sick', session(rows), '')).toContain('top then uses pool');
    expect(effectOf('backend.set_health boot.[ab] sick', session(rows), '')).toBe('');
    expect(effectOf('backend.set_health pool sick', session(rows), '')).toContain('top then uses c');
  });

  it('has few names in its question', () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f'];
    const rows = many.map((name): Row => [`boot.${name}`, 'backend', []]);
    for (const name of ['x', 'y', 'z']) rows.push([`boot.${name}`, 'hash', many]);
    expect(effectOf('backend.set_health a sick', session(rows), '')).toBe(
      'it gets 2.0 requests/s now; x then uses b, c and 3 more; y then uses b, c and 3 more; 1 more',
    );
  });

  it('of one of two instances', () => {
    const rows: Row[] = [
      ['one:boot.a', 'backend', []],
      ['one:boot.b', 'backend', []],
      ['one:boot.pool', 'random', ['a', 'b']],
      ['two:boot.a', 'backend', []],
    ];
    expect(effectOf('backend.set_health boot.a sick', session(rows), 'one')).toBe(
      'it gets 2.0 requests/s now; pool then uses b',
    );
  });
});

it('a director that contains itself ends', () => {
  const rows: Row[] = [
    ['boot.a', 'backend', []],
    ['boot.x', 'random', ['x', 'a']],
  ];
  expect(effectOf('backend.set_health a sick', session(rows), '')).toContain('x has no healthy backend left');
});

it('an answer that is too old is asked for again, and only where it matters', () => {
  expect(missingFacts('backend.set_health a sick', session(POOL))).toBeUndefined();
  expect(missingFacts('backend.set_health a sick', session(POOL, NOW - 60))).toBe(BACKENDS);
  expect(missingFacts('backend.set_health a auto', session(POOL, NOW - 60))).toBeUndefined();
  expect(missingFacts('stop', session(POOL, NOW - 60))).toBeUndefined();
});
