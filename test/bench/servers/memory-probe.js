// Preloaded into a program that is measured (node --expose-gc --import …): on SIGUSR2 it collects garbage and writes
// what memory is left into the file that PROBE_FILE names, with the processor time in ms that each turn of the event
// loop took since the last signal.
import { openSync, readSync, writeFileSync } from 'node:fs';

/** Shorter turns are waits for input. */
const LEAST_MS = 0.5;

// Of the main thread: the helpers of the garbage collector do not delay a turn.
const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const buffer = Buffer.alloc(64);
const cpuMs = () => Number(buffer.latin1Slice(0, readSync(schedstat, buffer, 0, 64, 0)).split(' ')[0]) / 1e6;

let turns = [];
let before = cpuMs();

// Without a reference an immediate does not keep the loop from waiting: it runs once after each wait.
function end() {
  const now = cpuMs();
  if (now - before >= LEAST_MS) turns.push(now - before);
  before = now;
  setImmediate(end).unref();
}
setImmediate(end).unref();

process.on('SIGUSR2', () => {
  const taken = turns;
  globalThis.gc();
  // Memory released outside the heap is freed a moment after the objects that held it.
  setTimeout(() => {
    globalThis.gc();
    writeFileSync(process.env.PROBE_FILE, JSON.stringify({ ...process.memoryUsage(), turns: taken }));
    // The collections are no turns of the program.
    setImmediate(() => {
      turns = [];
    });
  }, 200);
});
