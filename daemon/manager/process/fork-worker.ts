// Starts a worker process. It does nothing before it is told what to run, so it may be started early.
//
// The flags keep what the runtime holds beside the store small and change the cost of no hit that could be
// measured. Without them 50,000 misses leave 30 MB of young and promoted garbage and 20 MB of holes in the C heap.

import type { ChildProcess } from 'node:child_process';
import { inPackage } from '../../../protocol/files/package-files.ts';
import { ProcessCode } from '../../own-process.ts';

/** Of V8, in MB and percent. The objects live outside its heap: what is there lives for a request. */
const HEAP_FLAGS = [
  '--max-semi-space-size=4',
  '--initial-old-space-size=16',
  '--heap-growing-percent=30',
  // Where many requests are under way, V8 takes them for long-lived and puts them where only a full collection looks.
  '--no-allocation-site-pretenuring',
];

/** Of the C library. A fixed threshold puts the store's chunks into mappings of their own instead of among
 * short-lived buffers; few arenas leave few holes; and large mappings ask for large pages where the system gives them
 * on request, which among millions of objects saves a tenth of what random hits cost over one object, and a quarter
 * of the time that taking objects out takes. What the operator has set wins. */
const MALLOC_SETTINGS = {
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_ARENA_MAX: '2',
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};

/** Reads the worker's code. */
export function workerCode(): ProcessCode {
  return new ProcessCode(inPackage('dist/daemon/worker/main.js'), 'commonjs');
}

export function forkWorker(code: ProcessCode): ChildProcess {
  return code.start([], {
    stdio: ['pipe', 'pipe', 'ipc'],
    env: { ...MALLOC_SETTINGS, ...process.env },
    // Later flags win: those that the manager was started with.
    execArgv: [...HEAP_FLAGS, ...process.execArgv.filter((arg) => !arg.startsWith('--inspect'))],
  });
}
