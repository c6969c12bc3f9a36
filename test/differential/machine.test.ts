// Every return of every state, every way a body goes, and what may live how long, beside Varnish: responses, what the
// origin was asked, and the log must be the same but for what `machine-known.ts` explains.
import { expect, it } from 'vitest';
import { compareCases } from './compare.ts';
import { MACHINE_CASES } from './machine-cases.ts';
import { COUNTERS_KNOWN } from './machine-counters.ts';
import { MACHINE_KNOWN } from './machine-known.ts';
import { isTriedAgain, type Suite } from './runner.ts';

const counters = new Map<string, Record<string, number>>();

const SUITE: Suite = {
  cases: MACHINE_CASES,
  program: 'machine.vcl',
  params: { pipe_timeout: '1' },
  counted: (c) => c.timeless === true && MACHINE_KNOWN[c.name] === undefined,
  onCounters: (product, read) => counters.set(product, read),
};

compareCases('the state machines beside Varnish', SUITE, MACHINE_KNOWN, (playAll) => {
  it('counts what Varnish counts', async ({ task }) => {
    if (isTriedAgain(task)) await playAll();
    const main = (product: string): Record<string, number | undefined> =>
      Object.fromEntries(
        Object.entries(counters.get(product) ?? {})
          .filter(([name]) => name.startsWith('MAIN.'))
          .map(([name, value]) => [name.slice(5), value]),
      );
    const theirs = main('varnish');
    const own = main('proxyd');
    const differing = Object.keys(theirs).filter((name) => own[name] !== theirs[name]);
    expect(theirs.client_req).toBeGreaterThan(200);
    expect(
      differing
        .filter((name) => COUNTERS_KNOWN[name] === undefined)
        .map((name) => `${name}: ${theirs[name]} there, ${own[name]} here`),
    ).toEqual([]);
  }, 240_000);
});
