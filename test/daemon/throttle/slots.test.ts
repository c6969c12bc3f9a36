// Slots of two threads, played by two objects over one memory; leases run on the real clock.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Slots } from '../../../daemon/throttle/slots.ts';
import { until } from '../../harness/processes.ts';

/** Seconds that no test takes, and milliseconds that each may. */
const LONG = 3_600_000;
const SHORT = 20;

function memory(): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer(8 * 4));
}

describe('a slot', () => {
  it('that another thread took over is not freed by the one that lost it', async () => {
    const words = memory();
    // It gives no signs of life, as a thread that computes.
    const [silent, other] = [new Slots(words, 1, 1, 1, SHORT), new Slots(words, 1, 1, 2, SHORT)];
    const lost = silent.acquire()!;
    expect(lost).toBeDefined();
    expect(other.acquire()).toBeUndefined();
    const taken = await until('the lease is over', () => other.acquire());
    silent.release(lost);
    expect(words[1]).toBe(taken.word);
    other.release(taken);
    expect(words[1]).toBe(0n);
    // The same slot, held again: a second release of the old hold does nothing to it.
    const again = silent.acquire()!;
    silent.release(lost);
    expect(words[1]).toBe(again.word);
  });

  it('never lapses to the thread that holds it', async () => {
    const words = memory();
    const [own, other] = [new Slots(words, 1, 1, 0, SHORT), new Slots(words, 1, 1, 2, SHORT)];
    own.acquire();
    await until('the lease is over for others', () => other.taken() === 0);
    expect(own.taken()).toBe(1);
    expect(own.acquire()).toBeUndefined();
  });

  it('is freed with the thread that has ended, and no other with it', () => {
    const words = memory();
    const [one, two] = [new Slots(words, 1, 3, 1, LONG), new Slots(words, 1, 3, 2, LONG)];
    one.acquire();
    two.acquire();
    one.acquire();
    two.free(1);
    expect([...words].map((word) => word !== 0n)).toEqual([false, false, true, false]);
    expect(two.taken()).toBe(1);
  });
});

describe('signs of life', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are given while slots are held that others may see, and then no longer', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const slots = new Slots(memory(), 1, 3, 1, LONG);
    const first = slots.acquire()!;
    expect(vi.getTimerCount()).toBe(0);
    slots.share();
    const second = slots.acquire()!;
    expect(vi.getTimerCount()).toBe(1);
    slots.release(first);
    expect(vi.getTimerCount()).toBe(1);
    slots.release(second);
    expect(vi.getTimerCount()).toBe(0);
    slots.release(slots.acquire()!);
    expect(vi.getTimerCount()).toBe(0);
  });
});
