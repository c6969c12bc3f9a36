// The machine of a client request: which function each step has, where a request begins, and how it ends.

import { Tag } from '../../protocol/tables/tags.ts';
import { bindSteps, Driver, nameOf } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import { deliver } from './deliver.ts';
import { finish, reset } from './finish.ts';
import { lookup } from './lookup-step.ts';
import { fetch, hit, miss, pass, purge } from './outcomes.ts';
import { pipe } from './pipe.ts';
import { recv, restart, transport } from './receive.ts';
import * as steps from './request-steps.ts';
import { fail, synth } from './synth.ts';
import { transmit } from './transmit.ts';

bindSteps<Request>([
  [steps.TRANSPORT, transport],
  [steps.RECV, recv],
  [steps.LOOKUP, lookup],
  [steps.HIT, hit],
  [steps.MISS, miss],
  [steps.PASS, pass],
  [steps.PIPE, pipe],
  [steps.PURGE, purge],
  [steps.SYNTH, synth],
  [steps.FETCH, fetch],
  [steps.DELIVER, deliver],
  [steps.TRANSMIT, transmit],
  [steps.RESTART, restart],
  [steps.FAIL, fail],
  [steps.FINISH, finish],
  [steps.RESET, reset],
]);

const driver = new Driver<Request>({ broke, done, name });

export const requestMachine = {
  /** Runs a request whose head has been read. */
  start: (req: Request): void => driver.start(req, steps.TRANSPORT),
  /** Runs one from a step on, after a wait. */
  run: driver.run,
};

function name({ attempt, http }: Request): string {
  return nameOf('request', attempt.vxid, http);
}

function done(req: Request): void {
  req.ended = true;
  req.session.requestDone();
}

/** Releases everything held by a transaction that a defect ended, so that no request waits for its fetch or object. */
function broke(req: Request, error: unknown): void {
  const { core, log, session, attempt } = req;
  const { references } = core.cache;
  core.stats.vcl_fail++;
  log.put(Tag.Error, `Internal error: ${(error as Error).stack ?? String(error)}`);
  session.cut('TX_ERROR');
  req.onAbort = null;
  if (attempt.busyOc !== 0) references.deref(attempt.busyOc);
  if (attempt.staleOc !== 0) references.deref(attempt.staleOc);
  attempt.busyOc = 0;
  attempt.staleOc = 0;
  req.dropObject();
  req.objectView.clear();
  log.end();
  req.releaseProgram();
  req.dropBody();
  done(req);
}
