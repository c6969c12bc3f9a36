// Responses of the fleet to a program and its client: the state ends normally when everything is stored, and with 504
// otherwise.
import { describe, expect, it } from 'vitest';
import type { FleetReceipt } from '../../../daemon/contract/invalidation.ts';
import { State, type StateName } from '../../../daemon/contract/program.ts';
import { inState } from '../../../daemon/transaction/program-state.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { type RETURN, RETURNS } from '../../../protocol/tables/returns.ts';
import { FakeCore } from '../../harness/fake-core.ts';

const stored: FleetReceipt = { state: 'stored', seq: 7, applied: 2, nodes: 3, behind: ['c'], detail: '' };
const lost: FleetReceipt = { ...stored, state: 'lost', seq: 0, detail: 'no connection to the bus for 5 s' };
const unknown: FleetReceipt = { ...lost, state: 'unknown', detail: 'timeout for 5 s' };

/** A state of the program that has published something, and ended with `ret`. */
async function ended(
  state: StateName,
  ret: keyof typeof RETURN,
  ...receipts: FleetReceipt[]
): Promise<{ req: Request; code: string; log: string }> {
  const fake = new FakeCore().program(state, ret);
  const req = fake.request();
  req.ctx.published = receipts.map((receipt) => Promise.resolve(receipt));
  const code = await new Promise<number>((resolve) => {
    const run = { name: 'over', run: () => run } as never;
    req.resume = (step) => void step.run(req);
    const step = inState(req, State[state], (_, c) => {
      resolve(c);
      return run;
    });
    expect(step.name).toBe('parked');
  });
  return { req, code: RETURNS[code]?.name ?? '', log: fake.records.join('\n') };
}

describe('a state that has invalidated something', () => {
  it('ends as it did when that is stored, and says how far it has come', async () => {
    const { req, code, log } = await ended('recv', 'pass', stored);
    expect([code, req.ctx.fleetReply]).toEqual(['pass', 'stored 7, applied by 2 of 3 nodes, not yet by c']);
    expect(log).toContain('Notice fleet: stored 7, applied by 2 of 3 nodes, not yet by c');
  });

  it.each([
    ['recv', 'pass', lost, 'Applied here, not stored for the fleet'],
    ['hit', 'synth', unknown, 'Applied here, perhaps stored for the fleet'],
    ['purge', 'synth', lost, 'Applied here, not stored for the fleet'],
    ['deliver', 'deliver', lost, 'Applied here, not stored for the fleet'],
  ] as const)('in vcl_%s ends with 504 when it is not: %s', async (state, ret, receipt, reason) => {
    const { req, code } = await ended(state, ret, stored, receipt);
    expect([code, req.ctx.synthStatus, req.ctx.synthReason]).toEqual(['synth', 504, reason]);
    expect(req.ctx.fleetReply).toMatch(/^(not|perhaps) stored: /);
  });

  it('in vcl_synth changes the answer that is being made', async () => {
    const { req, code } = await ended('synth', 'deliver', lost);
    expect([code, req.resp.status, req.resp.reason]).toEqual([
      'deliver',
      504,
      'Applied here, not stored for the fleet',
    ]);
  });

  it.each([
    ['hash', 'lookup'],
    ['recv', 'fail'],
  ] as const)('that cannot end so only logs it: vcl_%s with %s', async (state, ret) => {
    const { code, log } = await ended(state, ret, lost);
    expect(code).toBe(ret);
    expect(log).toContain('Notice fleet: not stored: no connection to the bus for 5 s');
  });
});
