// Size and cost of the history of counters: 500 counters, some of which change every second, for a day. node
// test/bench/micro/counters-history.js [share of those that change, in percent]

import { mkdtempSync, rmSync } from 'node:fs';
import { CountersHistory } from '../../../dist/modules/daemon/stats/counters-history.js';

const COUNTERS = 500;
const DAY = 86_400;
const share = Number(process.argv[2] ?? 30) / 100;
const dir = mkdtempSync('/dev/shm/history-bench-');
const history = new CountersHistory(dir, (text) => console.log(text));
history.open();
const info = Array.from({ length: COUNTERS }, (_, i) => ({
  name: `VBE.program_name.backend${i}.counter_name`,
}));
const values = info.map(() => 0n);
const busy = Math.round(COUNTERS * share);
let took = 0;
let worst = 0;
for (let s = 0; s < DAY; s++) {
  // Rates of a few to some millions a second, each as noisy as traffic is.
  for (let i = 0; i < busy; i++) values[i] += BigInt(Math.floor(Math.random() * 10 ** (1 + (i % 6))));
  const begin = performance.now();
  Array.from(history.take(1_795_220_600_000 + s * 1000, { info, values }));
  const ms = performance.now() - begin;
  took += ms;
  worst = Math.max(worst, ms);
}
const begin = performance.now();
let samples = 0;
for (const _ of history.samples(0, 1)) samples++;
const fine = performance.now() - begin;
for (const _ of history.samples(0, 10)) samples++;
const open = performance.now();
new CountersHistory(dir, () => undefined).open();
console.log(
  `${busy} of ${COUNTERS} counters change: ${(history.bytes / 2 ** 20).toFixed(1)} MiB for ${samples} samples; ` +
    `${((took / DAY) * 1000).toFixed(0)} µs a second (${worst.toFixed(1)} ms at most); ` +
    `an hour read in ${fine.toFixed(0)} ms, all of it opened in ${(performance.now() - open).toFixed(0)} ms`,
);
history.close();
rmSync(dir, { recursive: true });
