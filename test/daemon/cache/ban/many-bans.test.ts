// Lookups of objects that many bans have to be tested against: in bounded turns, once for all requests, and with the
// result of testing them all at once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LookupAnswer, LookupResult } from '../../../../daemon/cache/lookup-query.ts';
import { runs } from '../../../harness/runs.ts';
import { Bench } from '../cache-setup.ts';

const MANY = 5000;
/** More than a lookup may test of one turn, by a handful of bans. */
const DEAR = Array.from({ length: 100 }, () => '&& obj.status == 200').join(' ');

function ban(bench: Bench, text: string, soft = false): void {
  expect(bench.cache.bans.add(text.split(' '), bench.now, soft)).toBeNull();
}

function manyBans(bench: Bench, count = MANY): void {
  bench.limits.banDups = false;
  for (let i = 0; i < count; i++) ban(bench, `req.url ~ ^/never/${i}$`);
}

/** A request that waits its turns. */
class Client {
  answer = '';
  banned: number[] = [];
  private cancel = (): void => undefined;
  private readonly bench: Bench;
  private readonly url: string;
  private readonly done: (client: Client) => void;

  constructor(bench: Bench, url: string, done: (client: Client) => void = () => undefined) {
    this.bench = bench;
    this.url = url;
    this.done = done;
    this.look();
  }

  leave(): void {
    this.cancel();
    if (this.answer === '') this.answer = 'left';
  }

  private look(): void {
    const { cache } = this.bench;
    const out = new LookupResult();
    const query = this.bench.query(this.url, {}, { onBanned: (vxid) => this.banned.push(vxid) });
    const answer = cache.lookup.find(query, out);
    if (answer === LookupAnswer.UNTESTED) {
      expect([out.oc, out.busy, out.stale]).toEqual([0, 0, 0]);
      this.cancel = cache.lookup.waitTurn({ wake: () => this.look() });
      return;
    }
    this.answer = Object.entries(LookupAnswer).find(([, value]) => value === answer)?.[0] as string;
    this.done(this);
    for (const oc of [out.oc, out.busy, out.stale]) if (oc !== 0) cache.references.deref(oc);
  }
}

describe('a lookup under many bans', () => {
  it('tests a limited number in a turn, whoever asks for what', () => {
    const bench = new Bench();
    for (let i = 0; i < 8; i++) bench.put(`/${i}`, i + 1, 'x');
    manyBans(bench);
    const clients: Client[] = [];
    let before = 0;
    let turns = 0;
    do {
      // More come while others wait.
      if (turns < 32) clients.push(new Client(bench, `/${turns % 8}`), new Client(bench, `/${turns % 8}`));
      const tests = bench.counters.bans_tests_tested - before;
      expect(tests).toBeLessThanOrEqual(1000);
      before += tests;
      turns++;
    } while (bench.turn());
    expect(clients.map((c) => c.answer)).toEqual(clients.map(() => 'HIT'));
    expect(bench.counters).toMatchObject({ bans_tests_tested: 8 * MANY, bans_tested: 8 });
    expect(turns).toBeGreaterThanOrEqual((8 * MANY) / 1000);
    expect(turns).toBeLessThan((16 * MANY) / 1000);
  });

  it('answers at once when few bans are new, while others wait', () => {
    const bench = new Bench();
    bench.put('/old', 1, 'x');
    manyBans(bench);
    bench.put('/new', 2, 'x');
    manyBans(bench, 5);
    const old = new Client(bench, '/old');
    bench.turn();
    expect([new Client(bench, '/new').answer, old.answer]).toEqual(['HIT', '']);
    bench.settle();
    expect(old.answer).toBe('HIT');
  });

  it('tests an object once for all requests', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    manyBans(bench);
    const clients = Array.from({ length: 50 }, () => new Client(bench, '/a'));
    bench.settle();
    expect(clients.every((c) => c.answer === 'HIT')).toBe(true);
    expect(bench.counters).toMatchObject({ bans_tests_tested: MANY, bans_tested: 1 });
  });

  // As in Varnish: from the newest to the one that matches.
  it.each([1, 600, MANY])('takes the object out at the matching ban, the %d. from the newest', (place) => {
    const bench = new Bench();
    bench.put('/a', 7, 'x');
    manyBans(bench, MANY - place);
    ban(bench, 'req.url == /a');
    manyBans(bench, place - 1);
    const clients = Array.from({ length: 20 }, () => new Client(bench, '/a'));
    bench.settle();
    expect(bench.counters).toMatchObject({ bans_tests_tested: place, bans_obj_killed: 1, n_object: 0 });
    expect(clients.flatMap((c) => c.banned)).toEqual([7]);
    expect(clients.every((c) => c.answer === 'MISS')).toBe(true);
  });

  it('tests what comes meanwhile too', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    manyBans(bench);
    const first = new Client(bench, '/a');
    bench.turn();
    ban(bench, 'req.url == /a');
    bench.settle();
    expect([first.answer, first.banned]).toEqual(['MISS', [1]]);
    expect(bench.counters.bans_tests_tested).toBe(MANY + 1);
  });

  it('continues for the others when a client leaves, and for nobody when all have', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    manyBans(bench);
    const [first, second, third] = [1, 2, 3].map(() => new Client(bench, '/a')) as [Client, Client, Client];
    bench.turn();
    first.leave();
    bench.turn();
    second.leave();
    const soFar = bench.counters.bans_tests_tested;
    expect(soFar).toBeLessThan(MANY);
    bench.settle();
    expect([first, second, third].map((c) => c.answer)).toEqual(['left', 'left', 'HIT']);
    expect(bench.counters.bans_tests_tested).toBe(MANY);

    manyBans(bench);
    const fourth = new Client(bench, '/a');
    const before = bench.counters.bans_tests_tested;
    fourth.leave();
    bench.settle();
    expect(bench.counters.bans_tests_tested).toBe(before);
  });

  it('lets an object go meanwhile: another in its row has nothing to do with its test', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    manyBans(bench);
    const first = new Client(bench, '/a');
    bench.turn();
    bench.cache.invalidation.purge('/a', bench.now);
    bench.put('/a', 2, 'x');
    const tests = bench.counters.bans_tests_tested;
    bench.settle();
    expect([first.answer, bench.counters.bans_tests_tested]).toEqual(['HIT', tests]);
  });

  it('needs no more tests where the lurker has gone on meanwhile', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    bench.limits.banDups = false;
    for (let i = 0; i < MANY; i++) ban(bench, `obj.http.x == ${i}`);
    const first = new Client(bench, '/a');
    const tests = bench.counters.bans_tests_tested;
    while (bench.lurk({ age: 0, batch: 1, sleep: 0.01, cutoff: 0, holdoff: 0 }) < 0.05);
    expect(bench.counters.bans_lurker_tests_tested).toBe(MANY);
    bench.settle();
    expect([first.answer, bench.counters.bans_tests_tested]).toEqual(['HIT', tests]);
  });

  it('leaves bans alone that are older than the object, where the lurker has gone on meanwhile', () => {
    const bench = new Bench();
    bench.put('/holds-the-list', 1, 'x');
    ban(bench, 'req.url == /a');
    bench.put('/a', 2, 'x');
    bench.limits.banDups = false;
    for (let i = 0; i < MANY; i++) ban(bench, `obj.http.x == ${i}`);
    manyBans(bench, 300);
    const first = new Client(bench, '/a');
    while (bench.lurk({ age: 0, batch: 1, sleep: 0.01, cutoff: 0, holdoff: 0 }) < 0.05);
    bench.settle();
    expect([first.answer, bench.counters.bans_tests_tested]).toEqual(['HIT', 1000]);
  });

  it('answers as if all bans were tested at once, whatever comes between', () => {
    const url = fc.nat(3).map((n) => `/${n}`);
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ k: fc.constant('put' as const), url, x: fc.nat(2) }) },
      {
        weight: 6,
        arbitrary: fc.record({
          k: fc.constant('ban' as const),
          how: fc.constantFrom('obj' as const, 'req' as const, 'none' as const, 'none' as const),
          soft: fc.boolean(),
          n: fc.nat(3),
          times: fc.integer({ min: 1, max: 12 }),
        }),
      },
      { weight: 6, arbitrary: fc.record({ k: fc.constant('ask' as const), url }) },
      { weight: 4, arbitrary: fc.record({ k: fc.constant('turn' as const) }) },
      { weight: 1, arbitrary: fc.record({ k: fc.constant('leave' as const), n: fc.nat(9) }) },
      { weight: 1, arbitrary: fc.record({ k: fc.constant('purge' as const), url }) },
      { weight: 2, arbitrary: fc.record({ k: fc.constant('lurk' as const), calls: fc.nat(9) }) },
    );
    let waited = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
        const bench = new Bench();
        bench.limits.banDups = false;
        // Expected state of each URL.
        const expected = new Map<string, { x: number; answer: string }>();
        const clients: { client: Client; url: string }[] = [];
        let vxid = 0;
        for (const s of steps) {
          if (s.k === 'put') {
            expected.set(s.url, { x: s.x, answer: 'HIT' });
            // Of a key with two objects, the newer one wins: here there is one.
            bench.cache.invalidation.purge(s.url, bench.now);
            bench.put(s.url, ++vxid, 'x', { grace: 1000, keep: s.x });
          } else if (s.k === 'ban') {
            bench.now += 1;
            for (let i = 0; i < s.times; i++) ban(bench, `obj.http.x == never ${DEAR}`);
            const tests = { obj: `obj.keep == ${s.n}s`, req: `req.url == /${s.n}`, none: '' }[s.how];
            if (tests === '') continue;
            ban(bench, `${tests} ${DEAR}`, s.soft);
            for (const [key, object] of expected) {
              if (s.how === 'obj' ? object.x !== s.n : key !== `/${s.n}`) continue;
              if (!s.soft) expected.delete(key);
              else object.answer = 'GRACE';
            }
          } else if (s.k === 'ask') {
            const client = new Client(bench, s.url, (c) =>
              expect(c.answer).toBe(expected.get(s.url)?.answer ?? 'MISS'),
            );
            if (client.answer === '') waited++;
            clients.push({ client, url: s.url });
          } else if (s.k === 'turn') bench.turn();
          else if (s.k === 'leave') clients[s.n]?.client.leave();
          else if (s.k === 'purge') {
            expected.delete(s.url);
            bench.cache.invalidation.purge(s.url, bench.now);
          } else {
            bench.tick = 0.3;
            for (let i = 0; i < s.calls; i++)
              bench.lurk({ age: 0, batch: 3, sleep: 0.01, cutoff: 0, holdoff: 0 });
            bench.tick = 0;
          }
        }
        bench.settle();
        expect(clients.every(({ client }) => client.answer !== '')).toBe(true);
        for (const key of ['/0', '/1', '/2', '/3']) {
          const last = new Client(bench, key);
          bench.settle();
          expect(last.answer).toBe(expected.get(key)?.answer ?? 'MISS');
        }
        // Nothing that was begun holds on to a ban: with the last object, all but one go.
        for (const key of expected.keys()) bench.cache.invalidation.purge(key, bench.now);
        bench.settle();
        bench.cache.bans.tidy();
        expect(bench.counters).toMatchObject({ bans: 1, n_objectcore: 0 });
      }),
      { numRuns: runs(300) },
    );
    expect(waited).toBeGreaterThan(10);
  });
});
