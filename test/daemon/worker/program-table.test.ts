// The programs of a worker without the worker: what is active, what a label names, when a discarded program goes and
// when one becomes cold, and that nothing is left of one that cannot run.
import { beforeEach, expect, it, vi } from 'vitest';
import { BackendRow } from '../../../daemon/backend/shared-backends.ts';
import type { BackendThreads, ProgramIdentity } from '../../../daemon/worker/backend-threads.ts';
import type { ProgramEntry, ProgramServices } from '../../../daemon/worker/program-entry.ts';
import { type CarriesOut, ProgramTable } from '../../../daemon/worker/program-table.ts';
import { BoundedRegex } from '../../../queries/regex/bounded-regex.ts';
import { fakePrograms, PLAIN, program } from './fake-programs.ts';

let services: ProgramServices;
let table: ProgramTable;
/** Counters of warm programs' backends. */
let shown: Set<unknown>;
/** Log output of programs outside of requests. */
let records: string[];
/** The next turn of the event loop. */
let later: (() => void)[];

beforeEach(() => {
  ({ services, shown, records, later } = fakePrograms());
  table = new ProgramTable(services);
});

async function load(name: string, text?: string, how?: Parameters<typeof program>[2]): Promise<void> {
  expect(await table.load(program(name, text, how))).toBeNull();
}

const states = (): string[] =>
  table.list().map((p) => `${p.name} ${p.discarded ? 'discarded' : p.label ? 'label' : p.temperature}`);
const active = (): ProgramEntry => table.active as ProgramEntry;

it('begins new requests with what is used, also for a label that moves', async () => {
  await load('a');
  await load('b');
  expect(table.use('a')).toBe(true);
  expect(active().name).toBe('a');
  expect(table.label('blue', 'a')).toBe(true);
  expect(table.use('blue')).toBe(true);
  table.label('blue', 'b');
  expect(active().name).toBe('b');
  expect(states()).toEqual(['a warm', 'b warm', 'blue label']);
});

it('reports unknown names', async () => {
  await load('a');
  table.use('a');
  expect([table.use('none'), table.label('blue', 'none')]).toEqual([false, false]);
  expect([active().name, states()]).toEqual(['a', ['a warm']]);
});

it('keeps a discarded program until its last transaction ends', async () => {
  await load('a');
  table.use('a');
  const { stats } = services;
  const running = active();
  running.refs++;
  await load('b');
  table.use('b');
  table.discard('a');
  expect(states()).toEqual(['a discarded', 'b warm']);
  expect([stats.n_vcl, stats.n_vcl_avail, stats.n_vcl_discard, stats.n_backend]).toEqual([2, 1, 1, 2]);
  await load('a');
  table.sweep();
  expect(states()).toEqual(['a discarded', 'b warm', 'a warm']);
  running.refs--;
  table.sweep();
  expect(states()).toEqual(['b warm', 'a warm']);
  expect([stats.n_vcl, stats.n_vcl_discard, shown.size]).toEqual([2, 0, 2]);
});

it('keeps a discarded program that another one, still running, may switch to', async () => {
  await load('target');
  table.label('blue', 'target');
  await load('from', `${PLAIN} sub vcl_recv { return (vcl(blue)); }`, { labels: ['blue'] });
  table.use('from');
  const running = active();
  running.refs++;
  for (const name of ['from', 'blue', 'target']) table.discard(name);
  table.sweep();
  expect(states()).toEqual(['target discarded', 'from discarded']);
  running.refs--;
  table.sweep();
  table.sweep();
  expect(states()).toEqual([]);
});

it('lets a program become cold once nobody runs it, and shows its backends only while it is warm', async () => {
  await load('a');
  await load('b');
  table.use('a');
  const entry = table.active as ProgramEntry;
  table.use('b');
  entry.refs++;
  expect(await table.setState('a', 'cold', false)).toBeNull();
  expect([states()[0], shown.size]).toEqual(['a busy', 2]);
  entry.refs--;
  table.sweep();
  expect([states()[0], shown.size]).toEqual(['a cold', 1]);
  expect(await table.setState('a', 'warm', true)).toBeNull();
  expect([states()[0], shown.size]).toEqual(['a warm', 2]);
});

it('runs vcl_fini of a program that goes, once', async () => {
  await load('a', `${PLAIN} import std; sub vcl_fini { std.log("over"); return (ok); }`);
  table.discard('a');
  table.sweep();
  expect(records).toEqual(['VCL_Log over']);
});

it('loads a cold program without its backends being shown', async () => {
  await load('a', PLAIN, { state: 'cold', warm: false });
  expect([states(), shown.size]).toEqual([['a cold'], 0]);
});

it('leaves nothing of a program whose vcl_init refuses', async () => {
  const refuses = `${PLAIN} sub vcl_init { return (fail("no luck")); }`;
  const problem = await table.load(program('a', refuses));
  expect(problem).toContain('VCL "a" Failed initialization');
  expect(problem).toContain('no luck');
  expect([states(), shown.size, services.stats.n_vcl]).toEqual([[], 0, 0]);
});

it('lists the directors of each program under its name', async () => {
  await load(
    'a',
    `${PLAIN} backend two { .host = "127.0.0.1"; } sub vcl_recv { set req.backend_hint = two; }`,
  );
  expect([...table.directors()].map(([name]) => name)).toEqual(['a.one', 'a.two']);
});

it('has the regular expressions of a warm program ready before it is asked, in bounded steps', async () => {
  const prepare = vi.spyOn(BoundedRegex.prototype, 'prepare');
  const clauses = Array.from({ length: 500 }, (_, i) => `req.url ~ "^/(a|b)+${i}[^/]*/x\\d{2,4}$"`);
  const text = `${PLAIN} sub vcl_recv { if (${clauses.join(' || ')}) { return (pass); } }`;
  const run = (): number => {
    prepare.mockClear();
    for (const step of later.splice(0)) step();
    return prepare.mock.calls.length;
  };
  try {
    await load('cold', text, { state: 'cold', warm: false });
    for (const step of later.splice(0)) step();
    expect([prepare.mock.calls, later]).toEqual([[], []]);
    await load('a', text);
    expect(prepare).not.toHaveBeenCalled();
    let ready = run();
    expect(ready).toBeGreaterThan(0);
    expect(ready).toBeLessThan(400);
    while (later.length > 0) ready += run();
    // The builtin program has some of its own.
    expect(ready).toBeGreaterThanOrEqual(500);
    table.use('a');
    expect(ready).toBe(active().program.regexes.length);
  } finally {
    prepare.mockRestore();
  }
});

it('does not make ready what belongs to a program that is gone, and leaves errors to whoever uses it', async () => {
  const text = `${PLAIN} sub vcl_recv { if (req.url ~ "a" || req.url ~ "b") { return (pass); } }`;
  const prepare = vi.spyOn(BoundedRegex.prototype, 'prepare').mockImplementation(() => {
    throw new Error('planted');
  });
  try {
    await load('a', text);
    for (const step of later.splice(0)) step();
    expect(prepare.mock.calls.length).toBeGreaterThan(1);
    await load('b', text);
    table.discard('b');
    prepare.mockClear();
    for (let i = 0; i < 5; i++) for (const step of later.splice(0)) step();
    expect([prepare.mock.calls, later]).toEqual([[], []]);
  } finally {
    prepare.mockRestore();
  }
});

it('begins as a worker before it ended, in that order', async () => {
  const made: string[] = [];
  const answers = { status: 200, body: '' } as const;
  const begun = new ProgramTable(services);
  const carryOut: CarriesOut = async (call) => {
    made.push(call.op);
    if (call.op === 'vcl.load') await begun.load(call.load);
    else if (call.op === 'vcl.label') begun.label(call.name, call.target);
    else if (call.op === 'vcl.use') begun.use(call.name);
    return answers;
  };
  const from = program('b', `${PLAIN} sub vcl_recv { return (vcl(blue)); }`, { labels: ['blue'] });
  const order = ['a', 'blue', 'b'];
  const labels = [{ name: 'blue', target: 'a' }];
  await begun.begin({ programs: [program('a'), from], labels, order, active: 'b' }, carryOut);
  expect(made).toEqual(['vcl.load', 'vcl.load', 'vcl.label', 'vcl.use']);
  expect(begun.list().map(({ name }) => name)).toEqual(['a', 'blue', 'b']);
  expect(begun.active?.labels.get('blue')?.target.name).toBe('a');
});

it('does not begin with a program that cannot run', async () => {
  const begun = new ProgramTable(services);
  const refuse: CarriesOut = async () => ({ status: 300, body: 'it cannot' });
  await expect(begun.begin({ programs: [program('a')], active: 'a' }, refuse)).rejects.toThrow('it cannot');
});

it('gives back what its backends share with other threads, whether the program ran or never could', async () => {
  const rows = new Map<string, number>();
  const row = (key: string): BackendRow => {
    rows.set(key, (rows.get(key) ?? 0) + 1);
    const giveBack = (): void => void rows.set(key, (rows.get(key) ?? 0) - 1);
    return new BackendRow(new Int32Array(64), 16, { thread: 0, count: 2 }, giveBack);
  };
  const join = ({ name, loading }: ProgramIdentity, key: string): BackendRow =>
    row(`${name} ${loading} ${key}`);
  const threads = {
    join,
    kept: () => undefined,
    onKept: (_: ProgramIdentity, __: string): void => undefined,
  };
  services = { ...services, backendThreads: threads as unknown as BackendThreads };
  table = new ProgramTable(services);
  expect(await table.load({ ...program('a'), loading: 1 })).toBeNull();
  const entry = [...rows.keys()];
  expect([entry, rows.get('a 1 one')]).toEqual([['a 1 one'], 1]);
  // Another thread has made this one.
  const key = JSON.stringify({ host: '127.0.0.1', port: '81' });
  threads.onKept({ name: 'a', loading: 2 }, key);
  expect(rows.size).toBe(1);
  threads.onKept({ name: 'a', loading: 1 }, key);
  threads.onKept({ name: 'a', loading: 1 }, JSON.stringify({ host: 'nowhere.test' }));
  expect(rows.get(`a 1 ${key}`)).toBe(1);
  expect([...table.directors()].map(([name]) => name)).toEqual(['a.one', 'a.127.0.0.1:81']);
  table.discard('a');
  expect([...rows.values()]).toEqual([0, 0]);
  const broken = { ...program('b'), loading: 3 };
  broken.program = { ...broken.program, pieces: [{ text: 'throw new Error("on purpose")', line: 0 }] };
  expect(await table.load(broken)).not.toBeNull();
  expect(rows.get('b 3 one')).toBe(0);
});
