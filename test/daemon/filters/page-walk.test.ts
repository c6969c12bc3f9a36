// The walk through a page of edge-side includes: in a turn of the event loop without time it does a few parts and leaves
// the rest to later ones, and whatever happens between two of them it delivers the page or nothing more.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PagePlan, PlanCursor, PlanMaker, type PlanPart } from '../../../daemon/esi/page-plan.ts';
import { ESI } from '../../../daemon/filters/esi-deliver.ts';
import type { DeliveredBody, FilterMaker, Page } from '../../../daemon/filters/filter.ts';
import { asserted, type Sink } from '../../../daemon/flow/flow.ts';
import { turns } from '../../../daemon/turns/turns.ts';
import { runs } from '../../harness/runs.ts';
import { bytesOf } from '../flow/flow-ends.ts';
import { message, Taking } from './filter-setup.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `.` is a byte that goes out, `-` one that does not, `i` an include that is there at once, `w` one that is waited for. */
function walkOf(shape: string, slow = false) {
  const maker = new PlanMaker(false);
  for (const c of shape) {
    const part: PlanPart =
      c === '.'
        ? { kind: 'text', stored: 1, plain: 1, crc: 0 }
        : c === '-'
          ? { kind: 'skip', stored: 1 }
          : { kind: 'include', host: null, url: c, onerrorContinue: false };
    maker.add(part);
  }
  const seen = { parts: 0, closed: 0, pauses: 0 };
  const walk = new PlanCursor(new PagePlan(Buffer.from(maker.bytes())));
  const next = walk.next.bind(walk);
  walk.next = () => {
    seen.parts++;
    return next();
  };
  const page: Page = {
    gzip: false,
    walk,
    within: null,
    isBare: false,
    include: ({ url }, output, done) => {
      if (url === 'w') output.flush();
      const written = (): void => {
        // As a fragment whose body has its own way: the page may have no room for it yet.
        if (output.writePlain(bytesOf(url)) === 'more') done(true);
        else output.onRoom({ room: () => done(true) });
      };
      if (url === 'i') written();
      else setImmediate(written);
    },
    later: (proceed) => {
      seen.pauses++;
      turns.later(proceed);
    },
    close: () => {
      seen.closed++;
    },
  };
  const body = { head: message(0, {}), length: 0, openPage: () => page } as unknown as DeliveredBody;
  const make = ESI.open(body) as FilterMaker;
  const chain = { connect: (sink: Sink) => make(asserted(sink, true)) };
  const stored = Buffer.from(shape.replaceAll(/[iw]/g, ''));
  return { seen, stored, taking: new Taking(chain, slow) };
}

const shapes = fc
  .array(fc.constantFrom('.', '-', 'i', 'i', 'w'), { maxLength: 120, size: 'max' })
  .map((parts) => parts.join(''));

describe('the walk through a page, in turns without time', () => {
  beforeAll(() => turns.follow(() => 0));
  afterAll(() => turns.follow(() => 2));

  it.each(['i', '.', '-', 'i.-'])('does a few parts of %j in each', async (unit) => {
    const { seen, taking, stored } = walkOf(unit.repeat(3000));
    const taken = taking.give([stored], false);
    let most = seen.parts;
    while (taking.outcome === null) {
      const before = seen.parts;
      await nextTurn();
      most = Math.max(most, seen.parts - before);
    }
    expect(most).toBeLessThan(20);
    expect((await taken).bytes.toString()).toBe(unit.replace('-', '').repeat(3000));
    expect(seen.closed).toBe(1);
  });

  it('delivers the page, in any pieces and to whoever takes it slowly', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.boolean(), fc.integer({ min: 1, max: 40 }), async (shape, slow, size) => {
        const { taking, stored } = walkOf(shape, slow);
        const pieces = [];
        for (let at = 0; at < stored.length; at += size) pieces.push(stored.subarray(at, at + size));
        const { bytes, outcome } = await taking.give(pieces, shape.length % 2 === 0);
        expect([outcome, bytes.toString()]).toEqual(['whole', shape.replaceAll('-', '')]);
      }),
      { numRuns: runs(200) },
    );
  });

  it('reports nothing more once it is closed, wherever that is', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.boolean(), fc.nat(30), async (shape, slow, at) => {
        const { seen, taking, stored } = walkOf(shape, slow);
        void taking.give([stored], false);
        for (let turn = 0; turn < at && taking.outcome === null; turn++) await nextTurn();
        if (taking.outcome !== null) return;
        taking.cancel();
        const { parts } = seen;
        const got = taking.got.length;
        for (let turn = 0; turn < 6; turn++) await nextTurn();
        expect([seen.parts, taking.got.length, taking.outcome, seen.closed]).toEqual([
          parts,
          got,
          'broken',
          1,
        ]);
      }),
      { numRuns: runs(200) },
    );
  });
});
