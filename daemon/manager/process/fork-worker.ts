// Starts a worker process. It is idle until it receives its configuration, so that it may be started early.
//
// The flags keep the runtime's memory besides the store small, at no measurable cost per hit. Without them 50,000
// misses leave 30 MB of young and promoted garbage and 20 MB of holes in the C heap.

import type { ChildProcess } from 'node:child_process';
import { inPackage } from '../../../protocol/files/package-files.ts';
import { ProcessCode } from '../../own-process.ts';

/** V8 flags, in MB and percent. Objects are stored outside its heap, which holds only data of requests in progress. */
const HEAP_FLAGS = [
  '--max-semi-space-size=4',
  '--initial-old-space-size=16',
  '--heap-growing-percent=30',
  // With many requests in progress V8 would take their data for long-lived and allocate it where only a full collection
  // looks.
  '--no-allocation-site-pretenuring',
];

/** Settings of the C library; the operator's environment takes precedence. A fixed threshold puts the store's chunks
 * into mappings of their own instead of between short-lived buffers; few arenas leave few holes; huge pages for
 * large mappings, where the system grants them on request, save a tenth of the extra cost of random hits among
 * millions of objects, and a quarter of the time to evict. */
const MALLOC_SETTINGS = {
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_ARENA_MAX: '2',
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};

/** Reads of a disk that hangs take a thread of the pool each, at most 32 (disk-tier.ts): other work needs some beside them. */
const WITH_DISK = { UV_THREADPOOL_SIZE: '48' };

/** Reads the worker's code. */
export function workerCode(): ProcessCode {
  return new ProcessCode(inPackage('dist/daemon/worker/main.js'), 'commonjs');
}

/** @param hasDisk whether it has a disk tier */
export function forkWorker(code: ProcessCode, hasDisk: boolean): ChildProcess {
  return code.start([], {
    stdio: ['pipe', 'pipe', 'ipc'],
    env: { ...MALLOC_SETTINGS, ...(hasDisk && WITH_DISK), ...process.env },
    // Later flags win: those of the manager itself.
    execArgv: [...HEAP_FLAGS, ...process.execArgv.filter((arg) => !arg.startsWith('--inspect'))],
  });
}
