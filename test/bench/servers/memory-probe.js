// Preloaded into a program that is measured (node --expose-gc --import …): on SIGUSR2 it collects garbage and writes
// what memory is left into the file that PROBE_FILE names.
import { writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc();
  // Memory released outside the heap is freed a moment after the objects that held it.
  setTimeout(() => {
    globalThis.gc();
    writeFileSync(process.env.PROBE_FILE, JSON.stringify(process.memoryUsage()));
  }, 200);
});
