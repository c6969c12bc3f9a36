import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitingList } from '../../../daemon/cache/waiting-list.ts';
import { Turns } from '../../../daemon/turns/turns.ts';

function setup(exponent = 3) {
  const deferred: (() => void)[] = [];
  const emptied: number[] = [];
  let millis = 0;
  const list = new WaitingList({
    turns: new Turns(
      () => millis,
      (run) => deferred.push(run),
    ),
    exponent: () => exponent,
    onEmpty: (oh) => emptied.push(oh),
  });
  const turn = (): void => {
    for (const run of deferred.splice(0)) run();
  };
  const spend = (spent: number): void => {
    millis += spent;
  };
  return { list, turn, emptied, deferred, spend };
}

describe('WaitingList', () => {
  it('wakes in growing waves, never inside the caller, each waiter once', () => {
    const { list, turn, deferred } = setup();
    const woken: number[] = [];
    for (let i = 0; i < 20; i++) list.park(1, { wake: () => woken.push(i) });
    list.rush(1, false);
    expect(woken).toEqual([]);
    const sizes: number[] = [];
    while (deferred.length > 0) {
      const before = woken.length;
      turn();
      sizes.push(woken.length - before);
    }
    expect(sizes.filter((size) => size > 0)).toEqual([3, 9, 8]);
    expect(woken).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('wakes all at once, and returns that, if there is nothing to share', () => {
    const { list, turn } = setup();
    const alone: boolean[] = [];
    for (let i = 0; i < 500; i++) list.park(1, { wake: (a) => alone.push(a) });
    list.rush(1, true);
    turn();
    expect(alone).toHaveLength(500);
    expect(alone.every((a) => a)).toBe(true);
  });

  it('does not wake who left, before or after the rush', () => {
    const { list, turn } = setup(1);
    const woken: string[] = [];
    const leaveA = list.park(1, { wake: () => woken.push('a') });
    list.park(1, { wake: () => woken.push('b') });
    const leaveC = list.park(1, { wake: () => woken.push('c') });
    leaveA();
    list.rush(1, false);
    leaveC();
    for (let i = 0; i < 5; i++) turn();
    expect(woken).toEqual(['b']);
  });

  it('keeps those who park again for the next rush', () => {
    const { list, turn } = setup();
    let wakes = 0;
    list.park(1, { wake: () => list.park(1, { wake: () => wakes++ }) });
    list.rush(1, false);
    for (let i = 0; i < 5; i++) turn();
    expect(wakes).toBe(0);
    expect(list.has(1)).toBe(true);
    list.rush(1, false);
    turn();
    expect(wakes).toBe(1);
  });

  it('reports when nobody waits any more', () => {
    const { list, emptied } = setup();
    const leave = list.park(4, { wake: () => {} });
    expect(list.has(4)).toBe(true);
    leave();
    leave();
    expect(list.has(4)).toBe(false);
    expect(emptied).toEqual([4]);
  });

  it('wakes no more in a turn than there is time for, and all in the end', () => {
    const { list, turn, deferred, spend } = setup();
    let woken = 0;
    const wake = (): void => {
      spend(0.5);
      woken++;
    };
    for (let i = 0; i < 1000; i++) list.park(1, { wake });
    list.rush(1, true);
    const perTurn: number[] = [];
    while (deferred.length > 0) {
      const before = woken;
      turn();
      perTurn.push(woken - before);
    }
    expect(woken).toBe(1000);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(5);
  });

  it('lets a wave that has had its time end before the next one', () => {
    const { list, turn, deferred, spend } = setup(10);
    const woken: number[] = [];
    const seen: number[] = [];
    for (let i = 0; i < 200; i++) {
      const wake = (): void => {
        spend(1);
        woken.push(i);
      };
      list.park(1, { wake });
    }
    list.rush(1, false);
    while (deferred.length > 0) {
      turn();
      seen.push(woken.length);
    }
    expect(woken).toEqual(Array.from({ length: 200 }, (_, i) => i));
    expect(seen).toContain(10);
    expect(seen).toContain(110);
  });

  it('does not wake who leaves between two turns of a wave', () => {
    const { list, turn, deferred, spend } = setup();
    const woken: number[] = [];
    const leave = Array.from({ length: 100 }, (_, i) =>
      list.park(1, {
        wake: () => {
          spend(0.5);
          woken.push(i);
        },
      }),
    );
    list.rush(1, true);
    turn();
    const before = woken.length;
    for (let i = before; i < 90; i++) leave[i]?.();
    while (deferred.length > 0) turn();
    expect(woken.slice(before)).toEqual(Array.from({ length: 10 }, (_, i) => 90 + i));
  });

  it('wakes everybody once who has not left, whatever happens in between', () => {
    const step = fc.constantFrom('park', 'park', 'park', 'leave', 'leave', 'rush', 'all', 'turn');
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat(), fc.constantFrom(1, 2)), { maxLength: 300 }), (steps) => {
        const { list, turn, deferred, emptied, spend } = setup(2);
        /** Which requests wait, have been woken or have left, and in which crowd. */
        const all: { oh: number; crowd: number; state: 'waits' | 'woken' | 'left'; leave: () => void }[] = [];
        const crowds = [0, 0, 0];
        const left = (oh: number): number =>
          all.filter((each) => each.oh === oh && each.crowd === crowds[oh] && each.state === 'waits').length;
        for (const [what, which, oh] of steps) {
          if (what === 'park') {
            const one = {
              oh,
              crowd: crowds[oh] as number,
              state: 'waits',
              leave: () => {},
            } as (typeof all)[0];
            one.leave = list.park(oh, {
              wake: () => {
                expect(one.state).toBe('waits');
                one.state = 'woken';
                spend(0.7);
              },
            });
            all.push(one);
          } else if (what === 'leave' && all.length > 0) {
            const one = all[which % all.length] as (typeof all)[0];
            const before = emptied.length;
            const counts = one.state === 'waits' && one.crowd === crowds[one.oh];
            one.leave();
            if (one.state === 'waits') one.state = 'left';
            expect(emptied.length - before).toBe(counts && left(one.oh) === 0 ? 1 : 0);
          } else if (what === 'turn') turn();
          else {
            list.rush(oh, what === 'all');
            crowds[oh] = (crowds[oh] as number) + 1;
          }
          for (const each of [1, 2]) expect(list.has(each)).toBe(left(each) > 0);
        }
        for (const oh of [1, 2]) list.rush(oh, false);
        while (deferred.length > 0) turn();
        expect(all.filter((each) => each.state === 'waits')).toEqual([]);
      }),
    );
  });
});
