// Starts a worker process. It does nothing before it is told what to run, so it may be started early.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The worker's compiled entry, seen from here. */
export const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.js', import.meta.url));

export function forkWorker(entry: string = WORKER_ENTRY): ChildProcess {
  return fork(entry, [], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
    execArgv: process.execArgv.filter((arg) => !arg.startsWith('--inspect')),
  });
}
