import { afterEach, expect, it, vi } from 'vitest';
import { Clock } from '../../../daemon/clock.ts';
import { newWrkCounters } from '../../../daemon/stats/counter-fields.ts';
import { sampleWorkerGauges } from '../../../daemon/stats/worker-gauges.ts';
import { TurnWatch } from '../../../daemon/turns/turn-watch.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('keeps the last size when no descriptor is free to read it', () => {
  const wrk = newWrkCounters();
  const sample = sampleWorkerGauges(wrk, new TurnWatch(new Clock()));
  sample();
  expect(wrk.rss_bytes).toBeGreaterThan(0);
  const before = wrk.rss_bytes;
  vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory');
  });
  expect(sample).not.toThrow();
  expect(wrk.rss_bytes).toBe(before);
});
