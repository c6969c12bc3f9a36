import { expect, it } from 'vitest';
import { Histogram } from '../../../console/histogram/histogram.ts';
import { histogramLines } from '../../../console/histogram/histogram-text.ts';
import { Pacer } from '../../../console/histogram/pacer.ts';
import { PROFILES, parseProfile } from '../../../console/histogram/profile.ts';
import { encodeRecord } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';

function took(seconds: string, hit: boolean): LogTransaction {
  const records = [
    ...(hit ? [encodeRecord(Tag.Hit, 2, 'c', '1 100.0 10.0 0.0')] : []),
    encodeRecord(Tag.Timestamp, 2, 'c', `Process: 1700000000.000000 ${seconds} 0.000001`),
  ];
  return { level: 1, type: 'request', reason: 'rxreq', vxid: 2, parent: 1, records: Buffer.concat(records) };
}

it('puts each value at its power of ten, hits below misses', () => {
  const profile = PROFILES.responsetime;
  if (profile === undefined) throw new Error('no such profile');
  const histogram = new Histogram(profile);
  for (const [seconds, hit] of [
    ['0.001', true],
    ['0.001', false],
    ['0.000001', false],
    ['5000', false],
  ] as const) {
    histogram.add([took(seconds, hit)]);
  }
  expect(histogramLines(histogram, 'x', 5, 18)).toEqual([
    '1:1, n = 4       x',
    '      #',
    '#     |          #',
    '+-+-+-+-+-+-+-+-+-',
    '|1e-6 |1e-3 |1e0|1',
  ]);
});

it('reads definitions of other numbers', () => {
  expect(parseProfile('b:BereqAcct::5:1:8')).toEqual({ ...PROFILES.Besize });
  expect(parseProfile('Timestamp:Process:3')).toEqual({ ...PROFILES.responsetime });
  expect(parseProfile('ReqAcct::x')).toBe("-P: 'ReqAcct:' is not a valid profile name or definition");
});

it('lets everything pass at once without a factor', () => {
  const seen: LogTransaction[][] = [];
  const pacer = new Pacer(
    (group) => seen.push(group),
    () => 0,
  );
  expect(pacer.push([[took('1', true)], [took('2', true)]])).toBe(true);
  expect(seen.length).toBe(2);
});
