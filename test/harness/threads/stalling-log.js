// Loaded before a worker (node --import): when the file that LOG_STALL names is not empty, the next write of a thread beside
// the first empties it and stalls for longer than a lock may be held otherwise, as on a disk that does not answer. Such a thread writes nothing
// but the log.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const STALL_MS = 11_000;
const { writeSync } = fs;
const file = process.env.LOG_STALL;

if (!isMainThread) {
  fs.writeSync = (...args) => {
    if (fs.statSync(file).size > 0) {
      fs.truncateSync(file);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
    }
    return writeSync(...args);
  };
  syncBuiltinESMExports();
}
