// Around each test file: the processor time of its process and of the children that ended meanwhile, theirs included. Wall
// times of files side by side say little about which of them cost most. The orphans of a killed parent are not counted.
import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Seconds, of a file. */
    cpu?: number;
  }
}

/** Clock ticks a second that /proc counts in: always 100 for programs. */
const TICKS = 100;
/** Fields of proc_pid_stat(5) after the name, from the third on: utime, stime, cutime, cstime. */
const TIMES = [11, 12, 13, 14];

function seconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return TIMES.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS;
}

const before = seconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest wants fixtures to be named, and there are none
afterAll(({}, suite) => {
  suite.file.meta.cpu = seconds() - before;
});
