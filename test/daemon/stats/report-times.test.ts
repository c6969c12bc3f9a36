// Until when the sums of several threads are whole.
import { describe, expect, it } from 'vitest';
import { ReportTimes } from '../../../daemon/stats/report-times.ts';

/** Memory that two threads have in common. */
function setUp() {
  const times = new Float64Array(2);
  const sent = new Int32Array(2);
  return { first: new ReportTimes(times, sent), other: new ReportTimes(times, sent) };
}

describe('the time until which sums are whole', () => {
  it('is that of the last look, when all reports have come', () => {
    const { first, other } = setUp();
    other.scanned(1, 1000);
    expect(first.wholeUntil()).toBe(1000);
    other.sending(1);
    other.scanned(1, 1100);
    expect(first.wholeUntil()).toBe(1000);
    first.received(1, 1100);
    expect(first.wholeUntil()).toBe(1100);
    other.scanned(1, 1200);
    expect(first.wholeUntil()).toBe(1200);
  });

  it('is known of each thread', () => {
    const times = new Float64Array(3);
    const first = new ReportTimes(times, new Int32Array(3));
    first.scanned(1, 1000);
    first.scanned(2, 5000);
    expect([first.until(1), first.until(2), first.wholeUntil()]).toEqual([1000, 5000, 1000]);
  });

  it('continues in a first thread that is late, which always has a report under way', () => {
    const { first, other } = setUp();
    const report = (at: number): void => {
      other.sending(1);
      other.scanned(1, at);
    };
    report(1000);
    for (let at = 1100; at < 9000; at += 100) {
      report(at);
      first.received(1, at - 100);
      expect(first.wholeUntil()).toBe(at - 100);
    }
  });
});
