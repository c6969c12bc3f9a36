// Readers of a body in progress that join and leave while they are notified of its growth.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ProgressReader } from '../../../daemon/cache/transfers.ts';
import { Transfer } from '../../../daemon/cache/transfers.ts';
import { Turns } from '../../../daemon/turns/turns.ts';

function loop() {
  let deferred: (() => void)[] = [];
  let millis = 0;
  const turns = new Turns(
    () => millis,
    (run) => void deferred.push(run),
  );
  const turn = (): boolean => {
    const due = deferred;
    deferred = [];
    for (const run of due) run();
    return due.length > 0;
  };
  const spend = (spent: number): void => {
    millis += spent;
  };
  return { turns, turn, spend };
}

class Reader implements ProgressReader {
  reported = 0;
  here = false;
  meanwhile: () => void = () => undefined;

  progress(): void {
    // A reader that has left is not called.
    expect(this.here).toBe(true);
    this.reported++;
    this.meanwhile();
  }
}

it('notifies each remaining reader once, whoever joins and leaves meanwhile', () => {
  const who = fc.nat(9);
  const action = fc.tuple(fc.constantFrom('come', 'come', 'go', 'tell'), who, who);
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const transfer = new Transfer(0);
      const { turns, turn } = loop();
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
          const before = readers.map((each) => each.reported);
          reader.meanwhile = () => {
            reader.meanwhile = () => undefined;
            if (other.here) go(other);
            else come(other);
          };
          transfer.notify(turns);
          turn();
          reader.meanwhile = () => undefined;
          for (const [i, each] of readers.entries()) {
            const reported = each.reported - (before[i] as number);
            if (there.includes(each) && each.here) expect(reported).toBe(1);
            else expect(reported).toBeLessThanOrEqual(1);
          }
        }
        expect(transfer.readerCount).toBe(readers.filter((each) => each.here).length);
      }
    }),
  );
});

it('notifies some of many listeners in each turn, and all of them of later progress until the end', () => {
  const step = fc.constantFrom('grow', 'grow', 'turn', 'turn', 'leave', 'come');
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(99)), { maxLength: 40 }), (steps) => {
      const transfer = new Transfer(0);
      const { turns, turn, spend } = loop();
      let length = 0;
      let inTurn = 0;
      let most = 0;
      /** How far each has read, by its number; absent: it is not there. */
      const read = new Map<number, number>();
      const readers = Array.from({ length: 100 }, (_, i) => ({
        progress: () => {
          expect(read.has(i)).toBe(true);
          if (read.get(i) === length) return;
          read.set(i, length);
          spend(0.3);
          most = Math.max(most, ++inTurn);
        },
      }));
      const come = (i: number): void => {
        if (!read.has(i)) transfer.attach(readers[i] as ProgressReader);
        read.set(i, length);
      };
      for (let i = 0; i < 100; i++) come(i);
      const pass = (): boolean => {
        inTurn = 0;
        return turn();
      };
      for (const [what, i] of steps) {
        if (what === 'grow') {
          length++;
          transfer.notify(turns);
        } else if (what === 'turn') pass();
        else if (what === 'come') come(i);
        else if (read.delete(i)) transfer.detach(readers[i] as ProgressReader);
      }
      while (pass());
      expect([...read.values()].every((to) => to === length)).toBe(true);
      // Eight between two looks at the clock, and the first one, who is alone most of the time.
      expect(most).toBeLessThan(7 + 8 + steps.length);
    }),
  );
});
