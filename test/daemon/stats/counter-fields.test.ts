import { setFlagsFromString } from 'node:v8';
import { expect, it } from 'vitest';
import {
  newMainCounters,
  newMgtCounters,
  newSmaCounters,
  newVbeCounters,
  newWrkCounters,
} from '../../../daemon/stats/counter-fields.ts';

setFlagsFromString('--allow-natives-syntax');
const isFast = new Function('object', 'return %HasFastProperties(object)') as (object: object) => boolean;

it.each([newMainCounters, newMgtCounters, newSmaCounters, newVbeCounters, newWrkCounters])(
  '%o makes an object whose properties V8 keeps in fields',
  (make) => {
    const counters: Record<string, number | bigint> = make();
    expect(isFast(counters)).toBe(true);
    expect(Object.values(counters).every((value) => value === 0 || value === 0n)).toBe(true);
    for (const name of Object.keys(counters)) (counters[name] as number)++;
    expect(isFast(counters)).toBe(true);
  },
);
