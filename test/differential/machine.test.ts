// Every return of every state, every kind of body, and lifetimes, compared with Varnish: responses, requests to the
// origin, and the log must be the same apart from differences explained in `machine-known.ts`.
import { beforeAll, expect, it } from 'vitest';
import { compareCases } from './compare.ts';
import { MACHINE_CASES } from './machine-cases.ts';
import { COUNTERS_KNOWN } from './machine-counters.ts';
import { MACHINE_KNOWN } from './machine-known.ts';
import { MODE, type Reference, recording } from './recording.ts';
import { type Suite, suiteInputs } from './runner.ts';

type Counters = Record<string, number>;

const answers = recording('machine-counters');
const counters = new Map<string, Record<string, number>>();

const SUITE: Suite = {
  cases: MACHINE_CASES,
  program: 'machine.vcl',
  params: { pipe_timeout: '1' },
  counted: (c) => c.timeless === true && MACHINE_KNOWN[c.name] === undefined,
  onCounters: (product, read) => counters.set(product, read),
};

/** Those of the main section that are compared. */
function main(product: string): Counters {
  const all = Object.entries(counters.get(product) ?? {})
    .filter(([name]) => name.startsWith('MAIN.'))
    .map(([name, value]) => [name.slice(5), value] as const);
  return Object.fromEntries(all.filter(([name]) => COUNTERS_KNOWN[name] === undefined));
}

compareCases('machine', 'the state machines beside Varnish', SUITE, MACHINE_KNOWN, () => {
  let reference: Reference<Counters>;
  beforeAll(async () => {
    const inputs = await suiteInputs({ ...SUITE, cases: MACHINE_CASES.filter((c) => SUITE.counted?.(c)) });
    const input = new Map([['after all cases', [...inputs.values()].join('\n')]]);
    reference = answers.settle(
      input,
      MODE === 'replay' ? null : new Map([['after all cases', main('varnish')]]),
    );
  });

  it('counts what Varnish counts', () => {
    const theirs = reference.get('after all cases');
    const own = main('proxyd');
    expect(theirs.client_req).toBeGreaterThan(200);
    const differing = Object.keys(theirs).filter((name) => own[name] !== theirs[name]);
    expect(differing.map((name) => `${name}: ${theirs[name]} there, ${own[name]} here`)).toEqual([]);
  });
});
