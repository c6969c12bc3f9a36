// Loaded before a program and its threads (node --require): its clock is ahead by as many milliseconds as stand in the file
// that CLOCK_AHEAD names. With CLOCK_SLOW, "START FACTOR", it has passed only one FACTORth of the time since START, in
// milliseconds of the epoch: a test that advances the clock itself has that much more time between its steps. Wall time and
// the monotonic clocks move together, as they do when time simply passes; timers do not.
'use strict';
const { openSync, readSync } = require('node:fs');
const { performance } = require('node:perf_hooks');

const file = openSync(process.env.CLOCK_AHEAD, 'r');
const bytes = Buffer.alloc(16);
const ahead = () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 16, 0)) || 0);
const [start = 0, factor = 1] = (process.env.CLOCK_SLOW ?? '0 1').split(' ').map(Number);
const shifted = (real) => start + (real - start) / factor + ahead();
const wall = Date.now.bind(Date);
const steady = performance.now.bind(performance);
const { timeOrigin } = performance;

Date.now = () => Math.trunc(shifted(wall()));
performance.now = () => shifted(steady() + timeOrigin) - timeOrigin;
process.hrtime = Object.assign(
  () => {
    const millis = shifted(steady() + timeOrigin);
    return [Math.floor(millis / 1000), (millis % 1000) * 1e6];
  },
  { bigint: () => BigInt(Math.round(shifted(steady() + timeOrigin) * 1e6)) },
);
