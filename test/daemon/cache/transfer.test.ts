// The readers of a body that comes in, who come and go while they are told that it has grown.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ProgressReader } from '../../../daemon/cache/roles.ts';
import { Transfer } from '../../../daemon/cache/transfer.ts';

class Reader implements ProgressReader {
  told = 0;
  here = false;
  meanwhile: () => void = () => undefined;

  progress(): void {
    // Nobody is called who has gone.
    expect(this.here).toBe(true);
    this.told++;
    this.meanwhile();
  }
}

it('tells everybody once who was there and still is, whoever comes and goes meanwhile', () => {
  const who = fc.nat(9);
  const action = fc.tuple(fc.constantFrom('come', 'come', 'go', 'tell'), who, who);
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const transfer = new Transfer(0);
      const readers = Array.from({ length: 10 }, () => new Reader());
      const come = (reader: Reader): void => {
        if (!reader.here) transfer.attach(reader);
        reader.here = true;
      };
      const go = (reader: Reader): void => {
        if (reader.here) transfer.detach(reader);
        reader.here = false;
      };
      for (const [what, a, b] of actions) {
        const reader = readers[a] as Reader;
        const other = readers[b] as Reader;
        if (what === 'come') come(reader);
        else if (what === 'go') go(reader);
        else {
          const there = readers.filter((each) => each.here);
          const before = readers.map((each) => each.told);
          reader.meanwhile = () => {
            reader.meanwhile = () => undefined;
            if (other.here) go(other);
            else come(other);
          };
          transfer.notify();
          reader.meanwhile = () => undefined;
          for (const [i, each] of readers.entries()) {
            const told = each.told - (before[i] as number);
            if (there.includes(each) && each.here) expect(told).toBe(1);
            else expect(told).toBeLessThanOrEqual(1);
          }
        }
        expect(transfer.readerCount).toBe(readers.filter((each) => each.here).length);
      }
    }),
  );
});
