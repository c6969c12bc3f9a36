// Programs and labels in the manager, on a worker that only takes notes.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { WorkerCall } from '../../../../daemon/link.ts';
import type { Compile } from '../../../../daemon/manager/programs/compile-job.ts';
import { Programs } from '../../../../daemon/manager/programs/programs.ts';

interface Bench {
  programs: Programs;
  calls: string[];
  running: boolean;
  /** Resolves when no start is under way. */
  starting: Promise<void>;
  refuse: (call: WorkerCall) => string | null;
}

/** Texts are lists of the labels that a program switches to. */
const compile: Compile = async ({ name, text }) => ({
  program: {
    files: [{ name, text }],
    backends: [],
    defaultBackend: null,
    facts: {},
    keeps: { request: false, fetch: false },
    syntax: 41,
    release: '7.1' as const,
    imports: [],
    modules: [],
    positions: '',
    pieces: [],
    labels: text === '' ? [] : text.split(' '),
  },
  notes: '',
});

function bench(cooldown = 600): Bench {
  const out: Bench = {
    calls: [],
    running: true,
    starting: Promise.resolve(),
    refuse: () => null,
    programs: new Programs(
      compile,
      {
        get state() {
          return out.running ? 'running' : 'stopped';
        },
        settled: () => out.starting,
        call: async (call) => {
          const rest = 'name' in call ? ` ${call.name}` : call.op === 'vcl.load' ? ` ${call.load.name}` : '';
          out.calls.push(`${call.op}${rest}${'warm' in call ? ` ${call.warm ? 1 : 0}${call.state}` : ''}`);
          const why = out.refuse(call);
          return why === null ? { status: 200, body: '' } : { status: 300, body: why };
        },
      },
      { num: (name) => ({ max_vcl: 100, max_vcl_handling: 1, vcl_cooldown: cooldown })[name as string] ?? 0 },
    ),
  };
  return out;
}

async function load(b: Bench, name: string, uses = '', state = 'auto'): Promise<void> {
  expect((await b.programs.load(name, { name, text: uses }, state)).status).toBe(200);
}

it('discards what depends before what it depends on', async () => {
  const b = bench();
  await load(b, 'base');
  await b.programs.label('l1', 'base');
  await load(b, 'mid', 'l1');
  await b.programs.label('l2', 'mid');
  await load(b, 'top', 'l2 l1');
  b.calls.length = 0;
  expect((await b.programs.discard(['*'])).status).toBe(200);
  expect(b.calls.map((c) => c.split(' ')[1])).toEqual(['top', 'l2', 'mid', 'l1', 'base']);
});

it('discards nothing when one of several cannot go', async () => {
  const b = bench();
  await load(b, 'base');
  await b.programs.label('l1', 'base');
  await load(b, 'user', 'l1');
  await load(b, 'free');
  b.calls.length = 0;
  expect(await b.programs.discard(['free', 'l1'])).toEqual({
    status: 300,
    body: 'Cannot discard VCL label l1, other VCLs depend on it:\n\tuser\n',
  });
  expect(b.calls).toEqual([]);
  expect(b.programs.size).toBe(4);
});

it('names the whole cycle when a label would close one', async () => {
  const b = bench();
  await load(b, 'p1');
  await b.programs.label('a', 'p1');
  await load(b, 'p2', 'a');
  await b.programs.label('b', 'p2');
  await load(b, 'p3', 'b');
  expect(await b.programs.label('a', 'p3')).toEqual({
    status: 106,
    body:
      'Vcl p2 uses Label a\nLabel b points to vcl p2\nVcl p3 uses Label b\n' +
      'Pointing label a at p3 would create a loop',
  });
});

it('sends a new worker labels after their programs, and programs after the labels they use', async () => {
  const b = bench();
  await load(b, 'old');
  await b.programs.label('l', 'old');
  await load(b, 'user', 'l');
  await load(b, 'new');
  await b.programs.label('l', 'new');
  await b.programs.use('user');
  expect(await b.programs.forWorker()).toMatchObject({
    order: ['old', 'new', 'l', 'user'],
    labels: [{ name: 'l', target: 'new' }],
    active: 'user',
  });
});

it('cools an auto program out of use, and warms it when it is wanted', async () => {
  const b = bench(0.02);
  await load(b, 'a');
  await load(b, 'b');
  await load(b, 'w', '', 'warm');
  await b.programs.use('a');
  for (let i = 0; i < 200 && b.calls.length < 5; i++) await sleep(10);
  expect(b.calls).toEqual(['vcl.load a', 'vcl.load b', 'vcl.load w', 'vcl.use a', 'vcl.state b 0auto']);
  await b.programs.use('b');
  expect(b.calls.slice(5, 7)).toEqual(['vcl.state b 1auto', 'vcl.use b']);
  b.programs.close();
});

it('cools no program while a worker is starting', async () => {
  const b = bench(0.02);
  await load(b, 'a');
  b.running = false;
  await sleep(60);
  expect((await b.programs.list())[0]?.temperature).toBe('warm');
  b.programs.close();
});

it('keeps what it was when a program refuses to be warm', async () => {
  const b = bench();
  await load(b, 'a');
  await b.programs.use('a');
  await load(b, 'c', '', 'cold');
  b.refuse = (call) => (call.op === 'vcl.state' && call.warm ? 'Failed <vcl.state c auto>' : null);
  await b.programs.setState('c', 'auto');
  expect(await b.programs.use('c')).toEqual({ status: 300, body: 'Failed <vcl.state c auto>' });
  expect(await b.programs.label('l', 'c')).toMatchObject({ status: 300 });
  expect(await b.programs.setState('c', 'warm')).toMatchObject({ status: 300 });
  expect(b.programs.activeName()).toBe('a');
  b.running = false;
  expect((await b.programs.list()).map((p) => `${p.name} ${p.state} ${p.temperature}`)).toEqual([
    'a auto warm',
    'c auto cold',
  ]);
});

it('enters nothing that the worker has not taken', async () => {
  const b = bench();
  b.refuse = () => 'no';
  expect(await b.programs.load('x', { name: 'x', text: '' })).toEqual({ status: 300, body: 'no' });
  expect(b.programs.size).toBe(0);
});

it('makes changes in the order they were asked for', async () => {
  const b = bench();
  const [loaded, used, gone] = await Promise.all([
    b.programs.load('x', { name: 'x', text: '' }),
    b.programs.use('x'),
    b.programs.discard(['x']),
  ]);
  expect([loaded.status, used.status, gone.status]).toEqual([200, 200, 300]);
});

it('gives a worker what is being loaded, and makes no change between that and its first request', async () => {
  const b = bench();
  await load(b, 'x');
  await b.programs.use('x');
  b.running = false;
  let serves = (): void => {};
  b.starting = new Promise((resolve) => (serves = resolve));
  const under = b.programs.load('y', { name: 'y', text: '' });
  const given = b.programs.forWorker();
  const after = b.programs.load('z', { name: 'z', text: '' });
  expect((await given)?.order).toEqual(['x', 'y']);
  expect((await under).status).toBe(200);
  await sleep(10);
  expect(b.programs.has('z')).toBe(false);
  b.calls.length = 0;
  b.running = true;
  serves();
  expect((await after).status).toBe(200);
  expect(b.calls).toEqual(['vcl.load z']);
});
