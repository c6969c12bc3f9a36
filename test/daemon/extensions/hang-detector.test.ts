import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { HangDetector, processorMs } from '../../../daemon/extensions/load/describe.ts';

/** When detector with a process ends, in ms of wall time, to 20 ms; it uses this share of its time until it ends. */
function endOf(share: (at: number) => number, longest = 60_000): number {
  const detector = new HangDetector(5000, 0);
  let used = 0;
  for (let at = 20; at <= longest; at += 20) {
    used += 20 * share(at);
    // As reported by the kernel.
    if (detector.isOver(Math.floor(used / 10) * 10, at)) return at;
  }
  return Number.POSITIVE_INFINITY;
}

describe('detector', () => {
  it('ends with a process that does nothing', () => {
    expect(endOf(() => 0)).toBeCloseTo(5000, -2);
  });

  it('ends with one that computes without end, by its processor time', () => {
    expect(endOf(() => 1)).toBeCloseTo(5000, -2);
    expect(endOf(() => 2)).toBeCloseTo(2500, -2);
  });

  it('waits for one that waits for a busy machine', () => {
    expect(Math.abs(endOf(() => 1 / 5) - 25_000)).toBeLessThan(200);
    expect(endOf(() => 1 / 20)).toBe(Number.POSITIVE_INFINITY);
    // It has its turns after four seconds each.
    expect(endOf((at) => (at % 4000 < 3500 ? 0 : 1))).toBeGreaterThan(20_000);
  });

  it('ends with one that begins to do nothing', () => {
    expect(endOf((at) => (at < 1000 ? 1 : 0))).toBeCloseTo(6000, -2);
  });
});

it('knows the processor time of a process, and of none that is gone', async () => {
  const child = spawn(process.execPath, [
    '-e',
    'for (const end = performance.now() + 300; performance.now() < end; );',
  ]);
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, processorMs(child.pid));
  }, 10);
  await once(child, 'exit');
  clearInterval(watch);
  expect(most).toBeGreaterThan(50);
  expect(processorMs(2 ** 30)).toBe(0);
});
