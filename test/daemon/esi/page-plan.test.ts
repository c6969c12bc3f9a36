// The plan of a page as bytes: the same parts again however many there are and wherever its stretches end, and of few
// bytes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PagePlan, PlanCursor, PlanMaker, type PlanPart } from '../../../daemon/esi/page-plan.ts';
import { runs } from '../../harness/runs.ts';

function planOf(gzip: boolean, parts: readonly PlanPart[]): PagePlan {
  const maker = new PlanMaker(gzip);
  for (const part of parts) maker.add(part);
  return new PagePlan(Buffer.from(maker.bytes()));
}

function partsOf(plan: PagePlan): PlanPart[] {
  const cursor = new PlanCursor(plan);
  const parts: PlanPart[] = [];
  for (let part = cursor.next(); part !== undefined; part = cursor.next()) parts.push(part);
  expect(cursor.next()).toBeUndefined();
  return parts;
}

const texts = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)) });
const lengths = fc.oneof(fc.nat(300), fc.maxSafeNat());
const anyPart = (gzip: boolean): fc.Arbitrary<PlanPart> =>
  fc.oneof(
    fc
      .record({ stored: lengths, plain: lengths, crc: fc.nat(0xffffffff) })
      .map((t) => ({ kind: 'text' as const, ...t, ...(gzip ? {} : { plain: t.stored, crc: 0 }) })),
    lengths.map((stored) => ({ kind: 'skip' as const, stored })),
    fc
      .record({ host: fc.option(texts), url: texts, onerrorContinue: fc.boolean() })
      .map((i) => ({ kind: 'include' as const, ...i })),
  );
const plans = fc.boolean().chain((gzip) =>
  fc.record({
    gzip: fc.constant(gzip),
    parts: fc.array(anyPart(gzip), { maxLength: 1200, size: 'max' }),
  }),
);

describe('A plan as bytes', () => {
  it('is the plan again', () => {
    fc.assert(
      fc.property(plans, ({ gzip, parts }) => {
        const plan = planOf(gzip, parts);
        expect([plan.gzip, plan.isShort]).toEqual([gzip, parts.length <= 256]);
        expect(partsOf(plan)).toEqual(parts);
      }),
      { numRuns: runs(60) },
    );
  });

  it('has the includes found ahead of a walk, from wherever that is', () => {
    fc.assert(
      fc.property(plans, fc.nat(1200), ({ gzip, parts }, walked) => {
        const plan = planOf(gzip, parts);
        const walk = new PlanCursor(plan);
        for (let i = 0; i < walked; i++) walk.next();
        const ahead = new PlanCursor(plan);
        ahead.goTo(walk);
        const found: PlanPart[] = [];
        for (let part = ahead.nextInclude(); part !== undefined; part = ahead.nextInclude())
          if (part !== null) found.push(part);
        expect(found).toEqual(parts.slice(walked).filter(({ kind }) => kind === 'include'));
      }),
      { numRuns: runs(60) },
    );
  });

  it('takes a few bytes for a part', () => {
    const maker = new PlanMaker(false);
    for (let i = 0; i < 1000; i++) {
      maker.add({ kind: 'text', stored: 100, plain: 100, crc: 0 });
      maker.add({ kind: 'include', host: null, url: '/fragment', onerrorContinue: false });
      maker.add({ kind: 'skip', stored: 30 });
    }
    expect(maker.bytes().length).toBeLessThan(15_100);
  });

  it('keeps nothing of the bytes when it is short', () => {
    const maker = new PlanMaker(false);
    maker.add({ kind: 'include', host: 'a.test', url: '/f', onerrorContinue: true });
    const bytes = Buffer.from(maker.bytes());
    const plan = new PagePlan(bytes);
    bytes.fill(0xbe);
    expect(partsOf(plan)).toEqual([{ kind: 'include', host: 'a.test', url: '/f', onerrorContinue: true }]);
  });
});
