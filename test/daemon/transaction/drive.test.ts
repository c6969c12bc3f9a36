// The driver: steps in order until the end or a wait, defects contained, and what the debug mode asserts.
import { describe, expect, it } from 'vitest';
import { bindSteps, DONE, Driver, PARKED, type Step, step } from '../../../daemon/transaction/drive.ts';
import { StepChecks } from '../../../daemon/transaction/step-checks.ts';

class FakeTransaction {
  readonly core: { stepChecks: StepChecks | null };
  readonly lines: string[] = [];
  readonly log = { put: (_: number, text: string) => void this.lines.push(text) };
  readonly did: string[] = [];
  holds: string[] = [];
  ended = false;

  constructor(checked = false) {
    this.core = { stepChecks: checked ? new StepChecks() : null };
  }

  held(): string[] {
    return this.holds;
  }
}

const ONE = step<FakeTransaction>('one');
const TWO = step<FakeTransaction>('two');
const WAIT = step<FakeTransaction>('wait');
const BREAK = step<FakeTransaction>('break');
const TWICE = step<FakeTransaction>('twice');
const LOST = step<FakeTransaction>('lost');

const noted =
  (next: Step<FakeTransaction>) =>
  (tx: FakeTransaction): Step<FakeTransaction> => {
    tx.did.push(next.name);
    return next;
  };
const driver = new Driver<FakeTransaction>({
  broke: (tx) => {
    tx.did.push('broke');
    tx.ended = true;
  },
  done: (tx) => {
    tx.did.push('over');
    tx.ended = true;
  },
});
bindSteps<FakeTransaction>([
  [ONE, noted(TWO)],
  [TWO, noted(DONE)],
  [WAIT, noted(PARKED)],
  [
    BREAK,
    () => {
      throw new Error('defect');
    },
  ],
  [
    TWICE,
    (tx) => {
      driver.run(tx, TWO);
      return PARKED;
    },
  ],
]);

describe('Driver', () => {
  it('runs steps until the last one', () => {
    const tx = new FakeTransaction();
    driver.run(tx, ONE);
    expect(tx.did).toEqual(['two', 'done', 'over']);
    expect(tx.lines).toEqual([]);
  });

  it('stops at a wait and goes on where it is resumed', () => {
    const tx = new FakeTransaction(true);
    driver.run(tx, WAIT);
    driver.run(tx, TWO);
    expect(tx.did).toEqual(['parked', 'done', 'over']);
    expect(tx.lines).toEqual(['step wait', 'step two']);
  });

  it('ends a transaction whose step throws or has no function, and hears of it no more', () => {
    for (const from of [BREAK, LOST]) {
      const tx = new FakeTransaction(true);
      driver.run(tx, from);
      driver.run(tx, ONE);
      expect(tx.did).toEqual(['broke']);
    }
  });
});

describe('the debug mode', () => {
  it('takes a transaction that is resumed after its end for a defect', () => {
    const tx = new FakeTransaction(true);
    driver.run(tx, ONE);
    expect(() => driver.run(tx, ONE)).toThrow('a transaction that is over was resumed');
  });

  it('takes one that is resumed while it runs for a defect', () => {
    const tx = new FakeTransaction(true);
    driver.run(tx, TWICE);
    expect(tx.did).toEqual(['broke']);
    const unchecked = new FakeTransaction();
    driver.run(unchecked, TWICE);
    expect(unchecked.did).toEqual(['done', 'over']);
  });

  it('names what one still holds after its end', () => {
    const tx = new FakeTransaction(true);
    tx.holds = ['object', 'connection'];
    expect(() => driver.run(tx, ONE)).toThrow('a transaction that is over holds object, connection');
    driver.run(Object.assign(new FakeTransaction(), { holds: ['object'] }), ONE);
  });
});
