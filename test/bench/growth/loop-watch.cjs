// Required into a daemon's processes (NODE_OPTIONS): how long the steps of their event loops take. Each quarter of a second
// a line with the time (ms), the longest step and the longest garbage collection since the last line (ms) goes to the file
// LOOP_WATCH.<pid>.
const { openSync, writeSync } = require('node:fs');
const { monitorEventLoopDelay, PerformanceObserver } = require('node:perf_hooks');

const RESOLUTION = 1;
// Opened while the process is still the user who started it.
const file = openSync(`${process.env.LOOP_WATCH}.${process.pid}`, 'w');
const steps = monitorEventLoopDelay({ resolution: RESOLUTION });
steps.enable();
let collecting = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) collecting = Math.max(collecting, duration);
}).observe({ entryTypes: ['gc'] });
setInterval(() => {
  // It measures the time from one timer to the next.
  const longest = Math.max(0, steps.max / 1e6 - RESOLUTION);
  steps.reset();
  writeSync(file, `${Date.now()} ${longest.toFixed(1)} ${collecting.toFixed(1)}\n`);
  collecting = 0;
}, 250).unref();
