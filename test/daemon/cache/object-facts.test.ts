// The facts of an object from its row alone.
import { describe, expect, it } from 'vitest';
import * as row from '../../../daemon/cache/objcore.ts';
import { ObjectFacts } from '../../../daemon/cache/object-facts.ts';
import { bareState, T0 } from './cache-setup.ts';

const state = bareState();
const facts = new ObjectFacts(state);

function made(meta: number): number {
  const oc = state.objcores.take();
  state.objcores.set(oc, row.META, meta);
  return oc;
}

describe('ObjectFacts', () => {
  it.each([
    [row.STATE_BUSY, false, false, false],
    [row.STATE_STREAM, true, false, false],
    [row.STATE_FINISHED, true, true, false],
    [row.STATE_FAILED, false, false, true],
  ] as const)('says what state %i means', (of, deliverable, finished, failed) => {
    const oc = made(row.withState(row.OF_ATTRIBUTES, of));
    expect([facts.isDeliverable(oc), facts.isFinished(oc), facts.isFailed(oc)]).toEqual([
      deliverable,
      finished,
      failed,
    ]);
  });

  it.each([
    [0, false],
    [row.OF_GZIPPED, false],
    [row.OF_PRIVATE, true],
    [row.OF_HIT_MISS, true],
    [row.OF_HIT_PASS, true],
    [row.OF_UNCACHEABLE, true],
  ])('with flags %i it is uncacheable: %s', (flags, uncacheable) => {
    const oc = made(row.withState(flags, row.STATE_FINISHED));
    expect(facts.isUncacheable(oc)).toBe(uncacheable);
    expect(facts.has(oc, row.OF_GZIPPED)).toBe(flags === row.OF_GZIPPED);
  });

  it('has the figures and the storage', () => {
    const oc = made(row.withStorage(0, 1));
    const { objcores } = state;
    objcores.setDouble(oc, row.T_ORIGIN, T0);
    objcores.setDouble(oc, row.TTL, 1);
    objcores.setDouble(oc, row.GRACE, 2);
    objcores.setDouble(oc, row.KEEP, 3);
    objcores.set(oc, row.HITS, 4);
    objcores.set(oc, row.VXID, -1);
    const seen = [facts.ttlOf(oc), facts.graceOf(oc), facts.keepOf(oc), facts.hitsOf(oc), facts.vxidOf(oc)];
    expect(seen).toEqual([1, 2, 3, 4, 2 ** 32 - 1]);
    expect([facts.tOriginOf(oc), facts.storageOf(oc)]).toEqual([T0, 'Transient']);
  });
});
