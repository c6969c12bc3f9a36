// The worker's debug.* commands, as Varnish's own tests and some scripts use them.

import { ok } from '../reply.ts';
import type { WorkerHandler, WorkerHandlers } from '../worker-services.ts';

/** The last id, or the one before the next; ids are not taken in chunks here, whatever their size is said to be. */
const xid: WorkerHandler = (worker, { args: [text, chunk = '1'] }) => {
  const next = Number(text ?? worker.lastVxid());
  if (text !== undefined) worker.setNextVxid(next + 1);
  return ok(`XID is ${next} chunk ${chunk}`);
};

export const DEBUG_COMMANDS = {
  'debug.fragfetch': () => ok(),
  // The caller takes it for what it is and ends the process.
  'debug.panic.worker': () => {
    throw new Error('You asked for it (debug.panic.worker)');
  },
  'debug.srandom': () => ok(),
  'debug.xid': xid,
} satisfies Partial<WorkerHandlers>;
