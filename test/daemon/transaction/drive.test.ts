// The driver: steps in order until the end or a wait, defects contained, and what the debug mode asserts.
import { describe, expect, it } from 'vitest';
import {
  bindSteps,
  DONE,
  Driver,
  PARKED,
  type Step,
  StepChecks,
  step,
} from '../../../daemon/transaction/drive.ts';
import { TurnWatch } from '../../../daemon/turns/turn-watch.ts';

class FakeTransaction {
  readonly core: { stepChecks: StepChecks | null; turnWatch: TurnWatch | null };
  readonly lines: string[] = [];
  readonly log = { put: (_: number, text: string) => void this.lines.push(text) };
  readonly did: string[] = [];
  holds: string[] = [];
  ended = false;

  constructor(checked = false) {
    this.core = { stepChecks: checked ? new StepChecks() : null, turnWatch: null };
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
  name: () => 'request 7 GET /a',
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

  it('stops at a wait and continues where it is resumed', () => {
    const tx = new FakeTransaction(true);
    driver.run(tx, WAIT);
    driver.run(tx, TWO);
    expect(tx.did).toEqual(['parked', 'done', 'over']);
    expect(tx.lines).toEqual(['step wait', 'step two']);
  });

  it('ends a transaction whose step throws or has no function, and is not notified of it again', () => {
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

describe('the watch over turns', () => {
  function watched() {
    const tx = new FakeTransaction();
    let time = 0;
    const clock = {
      latest: 0,
      now: () => {
        clock.latest = time;
        return time;
      },
    };
    const watch = new TurnWatch(clock, undefined, () => time);
    tx.core.turnWatch = watch;
    return {
      tx,
      watch,
      clock,
      spend: (millis: number) => {
        time += millis;
      },
    };
  }

  it('names the step in which the clock moved', () => {
    const { tx, watch, clock, spend } = watched();
    const slow = step<FakeTransaction>('slow');
    bindSteps<FakeTransaction>([
      [
        slow,
        () => {
          spend(40);
          clock.now();
          return ONE;
        },
      ],
    ]);
    driver.run(tx, slow);
    expect(watch.lately()).toEqual([{ at: 40, millis: 40, work: 'slow', of: 'request 7 GET /a' }]);
  });

  it('reads it before a wait, and not for the time of the wait', () => {
    const { tx, watch, spend } = watched();
    const slow = step<FakeTransaction>('slow');
    bindSteps<FakeTransaction>([
      [
        slow,
        () => {
          spend(30);
          return PARKED;
        },
      ],
    ]);
    driver.run(tx, slow);
    spend(10_000);
    driver.run(tx, WAIT);
    expect(watch.lately().map(({ millis, work }) => `${work} ${millis}`)).toEqual(['slow 30']);
  });
});
