import { describe, expect, it } from 'vitest';
import { WaitingList } from '../../../daemon/cache/waiting-list.ts';

function setup(exponent = 3) {
  const deferred: (() => void)[] = [];
  const emptied: number[] = [];
  const list = new WaitingList({
    defer: (run) => deferred.push(run),
    exponent: () => exponent,
    onEmpty: (oh) => emptied.push(oh),
  });
  const turn = (): void => {
    for (const run of deferred.splice(0)) run();
  };
  return { list, turn, emptied, deferred };
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
    expect(sizes).toEqual([3, 9, 8]);
    expect(woken).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('wakes all at once, and says so, when there is nothing to share', () => {
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

  it('tells when nobody waits any more', () => {
    const { list, emptied } = setup();
    const leave = list.park(4, { wake: () => {} });
    expect(list.has(4)).toBe(true);
    leave();
    leave();
    expect(list.has(4)).toBe(false);
    expect(emptied).toEqual([4]);
  });
});
