// Every return of every state, every way a body goes, and what may live how long, beside the field's daemon: responses,
// what the origin was asked, and the log must be the same but for what `machine-known.ts` explains.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { MACHINE_CASES } from './machine-cases.ts';
import { COUNTERS_KNOWN } from './machine-counters.ts';
import { MACHINE_KNOWN } from './machine-known.ts';
import { isTriedAgain, playCases, type Seen, type Suite } from './runner.ts';

const there = installed('varnishd');
if (!there) console.warn('differential tests skipped: varnishd is not installed');

describe.skipIf(!there)('the state machines beside the field’s daemon', () => {
  const box = new Sandbox('proxyd-machine');
  const counters = new Map<string, Record<string, number>>();
  const suite: Suite = {
    cases: MACHINE_CASES,
    program: 'machine.vcl',
    params: { pipe_timeout: '1' },
    counted: (c) => c.timeless === true && MACHINE_KNOWN[c.name] === undefined,
    onCounters: (product, read) => counters.set(product, read),
  };
  let reference = new Map<string, Seen>();
  let ours = new Map<string, Seen>();

  const playAll = async (): Promise<void> => {
    [reference, ours] = await Promise.all([
      playCases(box, 'varnish', null, suite),
      playCases(box, 'proxyd', null, suite),
    ]);
  };
  beforeAll(playAll, 240_000);
  afterAll(() => box.dispose());

  it('explains only cases that exist', () => {
    const names = new Set(MACHINE_CASES.map((c) => c.name));
    expect(Object.keys(MACHINE_KNOWN).filter((name) => !names.has(name))).toEqual([]);
  });

  it('counts what the field counts', async ({ task }) => {
    if (isTriedAgain(task)) await playAll();
    const main = (product: string): Record<string, number | undefined> =>
      Object.fromEntries(
        Object.entries(counters.get(product) ?? {})
          .filter(([name]) => name.startsWith('MAIN.'))
          .map(([name, value]) => [name.slice(5), value]),
      );
    const field = main('varnish');
    const own = main('proxyd');
    const differing = Object.keys(field).filter((name) => own[name] !== field[name]);
    expect(field.client_req).toBeGreaterThan(200);
    expect(
      differing
        .filter((name) => COUNTERS_KNOWN[name] === undefined)
        .map((name) => `${name}: ${field[name]} there, ${own[name]} here`),
    ).toEqual([]);
  }, 240_000);

  it.for(MACHINE_CASES.map((c) => c.name))('%s', async (name, { task }) => {
    if (isTriedAgain(task)) {
      const [theirs, own] = await Promise.all(
        (['varnish', 'proxyd'] as const).map((product) => playCases(box, product, name, suite)),
      );
      reference.set(name, theirs?.get(name) as Seen);
      ours.set(name, own?.get(name) as Seen);
    }
    const known = MACHINE_KNOWN[name];
    const free: readonly string[] = known?.parts ?? [];
    for (const part of ['client', 'origin', 'log'] as const) {
      if (!free.includes(part)) expect(ours.get(name)?.[part], part).toEqual(reference.get(name)?.[part]);
    }
    if (known?.failure !== true) expect(ours.get(name)?.failure).toBeNull();
    if (known?.client !== undefined) {
      const heads = ours.get(name)?.client.filter((line) => line.startsWith('HTTP/1.1 '));
      expect(heads).toEqual(known.client.map((text) => `HTTP/1.1 ${text}`));
    }
  });
});
