import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Transfer, TransferTable } from '../../../daemon/cache/transfers.ts';

describe('TransferTable', () => {
  it('holds what a Map holds, whatever comes and goes', () => {
    const handle = fc.integer({ min: 1, max: 400 });
    const step = fc.record({ oc: handle, out: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 150, maxLength: 300 }), (steps) => {
        const table = new TransferTable();
        const model = new Map<number, Transfer>();
        for (const { oc, out } of steps) {
          if (out) {
            table.delete(oc);
            model.delete(oc);
          } else if (!model.has(oc)) {
            const transfer = new Transfer(0);
            table.set(oc, transfer);
            model.set(oc, transfer);
          }
        }
        expect(table.size).toBe(model.size);
        for (let oc = 1; oc <= 400; oc++) expect(table.get(oc)).toBe(model.get(oc));
      }),
    );
  });
});
