// Members of the fleet, and the progress of a message: nodes that lag are named and not waited for.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GONE, HEARTBEAT, SILENT } from '../../../daemon/fleet/fleet-names.ts';
import { NodeRegistry } from '../../../daemon/fleet/node-registry.ts';
import { turns } from '../../../daemon/turns/turns.ts';

afterEach(() => void vi.restoreAllMocks());

function registry() {
  let now = 0;
  const own = { stream: 'one' };
  const made = new NodeRegistry(
    'self',
    () => now,
    () => own.stream,
  );
  const beat = (name: string, applied: number, current = true, age = 0, stream = 'one'): void =>
    made.beat(name, { life: name, version: '', current, applied, stream, lag: 0 }, age);
  const pass = (ms: number): void => {
    now += ms;
  };
  /** As pass, with a bus that carries signs of life. */
  const live = (ms: number): void => {
    for (let left = ms; left > 0; left -= HEARTBEAT) {
      pass(Math.min(left, HEARTBEAT));
      beat('self', 1);
    }
  };
  return { made, own, beat, pass, live };
}

it('looks at the first waiter only, however many there are', async () => {
  let looks = 0;
  const made = new NodeRegistry(
    'self',
    () => {
      looks++;
      return 0;
    },
    () => 'one',
  );
  for (const name of ['b', 'c'])
    made.beat(name, { life: name, version: '', current: true, applied: 0, stream: 'one', lag: 0 }, 0);
  const all = Array.from({ length: 2000 }, (_, i) => made.reached(i + 1, 60_000));
  looks = 0;
  for (let seq = 1; seq <= 2000; seq++) for (const name of ['b', 'c']) made.applied(name, seq, 'one');
  // One for the time of the report, one for the first who waits, and one for each who waits no more.
  expect(looks).toBeLessThanOrEqual(2000 * 2 * 2 + 2000);
  expect((await Promise.all(all)).every(({ applied }) => applied === 3)).toBe(true);
});

it('answers a limited number in one turn and the others later, whichever nodes join and leave meanwhile', async () => {
  vi.spyOn(turns, 'mayContinue').mockReturnValue(true);
  const { made, beat } = registry();
  beat('b', 0);
  let answers = 0;
  const all = Array.from({ length: 1000 }, (_, i) => made.reached(i + 1, 60_000).then(() => answers++));
  made.applied('b', 1000, 'one');
  beat('c', 500);
  await new Promise(process.nextTick);
  expect(answers).toBeLessThanOrEqual(200);
  await vi.waitFor(() => expect(answers).toBe(500), { timeout: 20_000 });
  made.left('c');
  await Promise.all(all);
});

describe('a message has come', () => {
  it('but not to all nodes, of which the first ten by name are listed', () => {
    const { made, beat } = registry();
    for (const n of [7, 3, 12, 1, 9, 5, 14, 2, 11, 4, 13, 6, 10, 8])
      beat(`n${String(n).padStart(2, '0')}`, 1);
    beat('current', 2);
    const named = Array.from({ length: 10 }, (_, i) => `n${String(i + 1).padStart(2, '0')}`);
    expect(made.reach(2)).toEqual({ applied: 2, nodes: 16, behind: named });
  });

  it('everywhere once all report it', async () => {
    const { made, beat } = registry();
    beat('b', 1);
    beat('c', 1);
    let reach: unknown = null;
    void made.reached(2, 10_000).then((r) => (reach = r));
    made.applied('b', 2, 'one');
    await Promise.resolve();
    expect(reach).toBe(null);
    made.applied('c', 3, 'one');
    await vi.waitFor(() => expect(reach).toEqual({ applied: 3, nodes: 3, behind: [] }), { timeout: 20_000 });
  });

  it('as far as it has when the time is up, and a node that was late is not waited for again', async () => {
    const { made, beat } = registry();
    beat('b', 1);
    expect(await made.reached(2, 5)).toEqual({ applied: 1, nodes: 2, behind: ['b'] });
    expect(await made.reached(3, 1e9)).toEqual({ applied: 1, nodes: 2, behind: ['b'] });
    made.applied('b', 3, 'one');
    expect(await made.reached(3, 1e9)).toEqual({ applied: 2, nodes: 2, behind: [] });
    let done = false;
    void made.reached(4, 50).then(() => (done = true));
    await Promise.resolve();
    expect(done).toBe(false);
  });

  it.each([
    ['says that it is behind', (r: ReturnType<typeof registry>) => r.beat('b', 1, false)],
    ['is silent', (r: ReturnType<typeof registry>) => r.pass(SILENT)],
  ])('without waiting for a node that %s', async (_, make) => {
    const r = registry();
    r.beat('b', 1);
    make(r);
    expect(await r.made.reached(2, 1e9)).toEqual({ applied: 1, nodes: 2, behind: ['b'] });
  });

  it('to nodes that read the same stream: the numbers of another one are other messages', async () => {
    const { made, own, beat } = registry();
    beat('b', 900);
    beat('c', 900);
    expect(await made.reached(901, 5)).toMatchObject({ applied: 1 });
    own.stream = 'two';
    beat('b', 1, true, 0, 'two');
    expect(made.reach(1)).toEqual({ applied: 2, nodes: 3, behind: ['c'] });
    // Being late with a message of the former stream does not count either.
    let done = false;
    beat('c', 1, true, 0, 'two');
    const both = made.reached(2, 1e9).then((reach) => {
      done = true;
      return reach;
    });
    await new Promise(process.nextTick);
    expect(done).toBe(false);
    for (const name of ['b', 'c']) made.applied(name, 2, 'two');
    expect(await both).toEqual({ applied: 3, nodes: 3, behind: [] });
    own.stream = '';
    expect(made.reach(2)).toMatchObject({ applied: 1 });
  });

  it('without a node that leaves meanwhile', async () => {
    const { made, beat } = registry();
    beat('b', 1);
    const reach = made.reached(2, 1e9);
    made.left('b');
    expect(await reach).toEqual({ applied: 1, nodes: 1, behind: [] });
  });
});

it('forgets a node that gives no sign of life, and takes none from before', () => {
  const { made, beat, live } = registry();
  beat('self', 1);
  beat('b', 1);
  beat('old', 1, true, GONE);
  expect(made.count).toBe(2);
  live(GONE - 1);
  expect(made.count).toBe(2);
  live(1);
  expect(made.count).toBe(1);
});

it('forgets nobody while the bus carries not even its own sign of life, and waits for nobody then', async () => {
  const { made, beat, pass, live } = registry();
  beat('self', 1);
  beat('b', 1);
  pass(10 * GONE);
  expect(made.reach(2)).toEqual({ applied: 1, nodes: 2, behind: ['b'] });
  // The bus is back; what the others say is still on its way.
  beat('self', 1);
  expect(await made.reached(2, 1e9)).toEqual({ applied: 1, nodes: 2, behind: ['b'] });
  expect(made.list()).toMatchObject([{ node: 'b', state: 'silent' }]);
  live(GONE - SILENT - 2);
  expect(made.count).toBe(2);
  live(2);
  expect(made.count).toBe(1);
});

it('lists the nodes by name, with their last report', () => {
  const { made, beat, pass } = registry();
  beat('c', 3, false);
  pass(1000);
  beat('b', 1);
  made.applied('b', 2, 'one');
  const base = { self: false, version: '', lag: 0 };
  expect(made.list()).toEqual([
    { ...base, node: 'b', state: 'current', seen: 0, applied: 2 },
    { ...base, node: 'c', state: 'behind', seen: 1, applied: 3 },
  ]);
  pass(SILENT);
  expect(made.list().map(({ state }) => state)).toEqual(['current', 'silent']);
});
