// A node runs what the fleet has chosen, once for each choice, and keeps what it has when the bus has nothing to say.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ActivePrograms, writeActive } from '../../../daemon/fleet/active-program.ts';
import type { NodeRow } from '../../../daemon/fleet/fleet-rows.ts';
import { makeBundle, writeBundle } from '../../../daemon/fleet/program-bundle.ts';
import { ProgramService } from '../../../daemon/fleet/program-service.ts';
import { FakeBus } from './fake-bus.ts';

const bundle = (name: string, text = name) =>
  makeBundle(name, [], [{ name: '/f', text, shipped: null }], 'n', 0);
const id = (name: string, text?: string): string => bundle(name, text).id;

function follower() {
  const bus = new FakeBus();
  const log: string[] = [];
  const calls: string[] = [];
  const here = { programs: new Set(['boot']), active: 'boot', refuse: '' };
  const others: NodeRow[] = [];
  const done = (call: string, change: () => void): string | null => {
    calls.push(call);
    if (here.refuse !== '' && call.includes(here.refuse)) return 'no';
    change();
    return null;
  };
  const made = new ProgramService({
    bus,
    node: 'self',
    host: {
      load: async (name) => done(`load ${name}`, () => here.programs.add(name)),
      use: async (name) => done(`use ${name}`, () => (here.active = name)),
      discard: async (name) =>
        name === here.active ? 'it is in use' : done(`discard ${name}`, () => here.programs.delete(name)),
      has: (name) => here.programs.has(name),
      active: () => here.active,
    },
    nodes: () => [
      {
        node: 'self',
        self: true,
        state: 'current',
        seen: 0,
        version: '',
        applied: 0,
        lag: 0,
        ...made.figures,
      },
      ...others,
    ],
    programTimeout: () => 20,
    report: (_, text) => log.push(text),
    changed: () => {},
  });
  open.push(made);
  const store = async (name: string, text?: string): Promise<void> => {
    const key = `program.${name}`;
    await bus.storeEntry(
      'programs',
      key,
      writeBundle(bundle(name, text)),
      bus.entries.get(key)?.revision ?? 0,
    );
  };
  const choose = async (name: string, at = 1, canary: ActivePrograms['canary'] = null): Promise<void> => {
    const value = writeActive({ all: { name, id: id(name), by: 'n', at }, canary });
    await bus.storeEntry('programs', 'active', value, bus.entries.get('active')?.revision ?? 0);
  };
  const idle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
  return { bus, log, calls, here, made, others, store, choose, idle };
}
const open: ProgramService[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
  vi.useRealTimers();
});

describe('a node', () => {
  it('loads what is active first, uses it, and then loads the others', async () => {
    const f = follower();
    await f.store('a');
    await f.store('b');
    await f.choose('b');
    void f.made.run();
    await f.made.ready;
    expect(f.here.active).toBe('b');
    await f.idle();
    expect(f.calls).toEqual(['load b', 'use b', 'load a']);
    expect(f.made.figures).toMatchObject({ using: id('b'), wanted: 'b', own_program: false });
  });

  it('is ready when nothing is active, and when there is no bucket', async () => {
    const f = follower();
    void f.made.run();
    await f.made.ready;
    const g = follower();
    g.bus.readBucket = async () => Promise.reject(new Error('not allowed'));
    void g.made.run();
    await g.made.ready;
    await g.idle();
    expect(g.log).toEqual(['Fleet: cannot read the programs: not allowed; retrying']);
  });

  it('runs another where one is tried', async () => {
    const f = follower();
    await f.store('a');
    await f.store('b');
    await f.choose('a', 1, { name: 'b', id: id('b'), by: 'n', at: 2, on: ['self'] });
    void f.made.run();
    await f.made.ready;
    expect(f.here.active).toBe('b');
    await f.choose('a', 3);
    await f.idle();
    expect(f.here.active).toBe('a');
  });

  it("keeps its operator's choice until the next one of the fleet", async () => {
    const f = follower();
    await f.store('a');
    await f.choose('a');
    void f.made.run();
    await f.made.ready;
    f.here.active = 'boot';
    f.made.localChange();
    await f.idle();
    expect([f.here.active, f.made.figures.own_program]).toEqual(['boot', true]);
    await f.choose('a', 2);
    await f.idle();
    expect([f.here.active, f.made.figures.own_program]).toEqual(['a', false]);
  });

  it('loads again what was discarded here, and under another name what has one that is taken', async () => {
    const f = follower();
    await f.store('a');
    await f.store('boot');
    void f.made.run();
    await f.idle();
    const other = `boot-${id('boot').slice(0, 8)}`;
    expect(f.calls).toEqual(['load a', `load ${other}`]);
    f.here.programs.delete('a');
    f.made.localChange();
    await f.idle();
    expect(f.calls.slice(2)).toEqual(['load a']);
  });

  it('discards what the fleet has no more, and what was replaced, but nothing that is in use', async () => {
    const f = follower();
    await f.store('a');
    await f.choose('a');
    await f.store('b');
    void f.made.run();
    await f.idle();
    await f.store('b', 'another text');
    await f.idle();
    expect(f.calls.slice(3)).toEqual([`load b-${id('b', 'another text').slice(0, 8)}`, 'discard b']);
    f.bus.entries.delete('program.a');
    await f.store('c');
    await f.idle();
    expect([f.here.active, f.here.programs.has('a')]).toEqual(['a', true]);
  });

  it('does not take a program for the one that was chosen when it was changed since', async () => {
    const f = follower();
    await f.store('a', 'another text');
    await f.choose('a');
    void f.made.run();
    await f.made.ready;
    await f.idle();
    expect([f.calls, f.here.active]).toEqual([['load a'], 'boot']);
  });

  it('tries again what could not be loaded, and then uses it', async () => {
    const f = follower();
    f.here.refuse = 'load a';
    await f.store('a');
    await f.choose('a');
    void f.made.run();
    await f.made.ready;
    expect(f.made.figures).toMatchObject({
      programs: [{ name: 'a', id: id('a'), problem: 'no' }],
      using: null,
      own_program: true,
    });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 9000 });
    f.made.tick();
    await f.idle();
    expect(f.calls).toEqual(['load a']);
    f.here.refuse = '';
    vi.setSystemTime(Date.now() + 2000);
    f.made.tick();
    await f.idle();
    expect([f.calls, f.here.active]).toEqual([['load a', 'load a', 'use a'], 'a']);
    expect(f.log).toEqual([
      'Fleet: a cannot be loaded here: no',
      'Fleet: loaded a of n',
      'Fleet: using a, chosen on n',
    ]);
  });

  it('reports invalid values once in a while, however many there are', async () => {
    const f = follower();
    void f.made.run();
    for (let i = 0; i < 50; i++) await f.bus.storeEntry('programs', 'active', Buffer.from(`x${i}`), i);
    await f.bus.storeEntry('programs', 'program.a', Buffer.from('x'), 0);
    await f.idle();
    expect(f.log).toEqual(['Fleet: the stored active program is malformed']);
    expect(f.made.list()).toMatchObject([{ name: 'a', id: null, problem: 'not a program of version 1' }]);
  });

  it('keeps everything when the bucket is gone', async () => {
    const f = follower();
    await f.store('a');
    await f.store('b');
    await f.choose('a');
    void f.made.run();
    await f.idle();
    f.bus.entries.clear();
    await f.store('c');
    await f.idle();
    expect([f.here.active, [...f.here.programs]]).toEqual(['a', ['boot', 'a', 'b', 'c']]);
    expect(f.log.at(-2)).toBe('Fleet: the programs are gone from the bus; this node keeps its own');
  });
});

describe('an operator', () => {
  const other = (node: string, more: Partial<NodeRow>): NodeRow => ({
    ...{ node, self: false, state: 'current', seen: 1, version: '', applied: 0, lag: 0 },
    ...more,
  });
  const all = { on: null, force: false };

  it('is held up by nodes that have not loaded it, and by none that takes no programs', async () => {
    const f = follower();
    await f.store('a');
    void f.made.run();
    await f.idle();
    const loaded = { programs: [{ name: 'a', id: id('a') }] };
    f.others.push(
      other('b', {}),
      other('c', { programs: [{ name: 'a', id: id('a'), problem: 'its error\n' }] }),
      other('d', { programs: [], state: 'silent', seen: 9 }),
      other('e', { accept: 'invalidate' }),
      other('f', loaded),
    );
    expect(await f.made.use('a', all)).toEqual({
      done: false,
      text: 'Not used: a is not loaded everywhere\nb: it reports no programs: its version may not support them\nc: its error\nd: no heartbeat for 9 s\n',
    });
    expect(f.here.active).toBe('boot');
    expect(f.made.list()).toMatchObject([{ name: 'a', status: 'available', loaded: 2, nodes: 5 }]);
    // Two have it: they may try it.
    expect((await f.made.use('a', { on: ['self', 'f'], force: false })).done).toBe(true);
    await f.idle();
    expect(f.here.active).toBe('a');
    expect(await f.made.discard('a')).toEqual({ done: false, text: 'a is the canary on self, f' });
    expect(await f.made.use('a', { on: null, force: true })).toEqual({
      done: true,
      text: 'Fleet: a is in use by 1 of 5 nodes\nb: not yet\nc: it could not be loaded\nd: no heartbeat for 9 s\nf: not yet\n',
    });
    expect(await f.made.discard('a')).toEqual({ done: false, text: 'a is the active program of the fleet' });
  });

  it('stores nothing that nodes would refuse', async () => {
    const f = follower();
    await f.store('a');
    void f.made.run();
    await f.idle();
    const files = Array.from({ length: 300 }, (_, i) => ({ name: `/${i}`, text: '' }));
    expect((await f.made.load('b', files, '/p')).text).toBe(
      'b cannot be stored: files is not a list of 1 to 256 files',
    );
    expect((await f.made.use('a', { on: ['b c'], force: true })).text).toBe('"b c" is not a name of a node');
    expect([...f.bus.entries.keys()]).toEqual(['program.a']);
  });

  it('is refused when another node was faster', async () => {
    const f = follower();
    await f.store('a');
    await f.store('b');
    void f.made.run();
    await f.idle();
    const { storeEntry } = f.bus;
    f.bus.storeEntry = async (bucket, key, data, revision) => {
      f.bus.storeEntry = storeEntry;
      await f.choose('b');
      return storeEntry.call(f.bus, bucket, key, data, revision);
    };
    expect(await f.made.use('a', all)).toEqual({
      done: false,
      text: 'Not used: another operator has just chosen b, on n',
    });
    f.bus.storeEntry = async (bucket, key, data, revision) => {
      f.bus.storeEntry = storeEntry;
      const result = await storeEntry.call(f.bus, bucket, key, data, revision);
      await f.choose('b', 2);
      return result;
    };
    expect(await f.made.use('a', all)).toEqual({ done: false, text: 'a was chosen, and then b, on n' });
    expect(f.here.active).toBe('b');
  });

  it('gets an exact error when the bus does not answer, or is absent', async () => {
    const f = follower();
    expect((await f.made.load('a', [{ name: '/f', text: 'a' }], '/p')).text).toBe(
      'The bus is not connected: nothing was changed.',
    );
    void f.made.run();
    await f.idle();
    f.bus.storeEntry = async () => ({ state: 'unanswered', detail: 'timeout' });
    expect((await f.made.load('a', [{ name: '/f', text: 'a' }], '/p')).text).toBe(
      'It may or may not be stored: timeout; see fleet.list',
    );
    f.bus.connected = false;
    expect((await f.made.use('a', all)).text).toBe('The bus is not connected: nothing was changed.');
  });
});
