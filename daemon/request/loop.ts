// The loop that drives a client request: calls one step after another until the transaction is over or waits.
// It is the only place that parks and the only place that catches: a throw here is a defect of ours, which
// ends this transaction with a closed connection and a record, never the worker.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Request } from '../transaction/request.ts';
import { DONE, PARKED, type Step } from '../transaction/steps.ts';
import { deliver } from './deliver.ts';
import { fail } from './fail.ts';
import { fetch } from './fetch.ts';
import { finish } from './finish.ts';
import { hit } from './hit.ts';
import { lookup } from './lookup.ts';
import { miss } from './miss.ts';
import { pass } from './pass.ts';
import { pipe } from './pipe.ts';
import { purge } from './purge.ts';
import { received, recv } from './recv.ts';
import { restart } from './restart.ts';
import { synth } from './synth.ts';
import { transmit } from './transmit.ts';
import { transport } from './transport.ts';

type StepFunction = (req: Request, resume: (step: Step) => void) => Step;

/** By step number; DONE and PARKED have no function. */
const TABLE: readonly (StepFunction | null)[] = [
  null,
  null,
  transport,
  recv,
  lookup,
  hit,
  miss,
  pass,
  pipe,
  purge,
  synth,
  fetch,
  deliver,
  transmit,
  restart,
  fail,
  finish,
  received,
];

/** Runs `req` from `step` on. A parked step calls its `resume` with the step to go on with. */
export function run(req: Request, step: Step): void {
  let next = step;
  try {
    while (next > PARKED) next = (TABLE[next] as StepFunction)(req, req.resume);
  } catch (error) {
    req.core.stats.vcl_fail++;
    req.log.put(Tag.Error, `Internal error: ${(error as Error).stack ?? String(error)}`);
    req.session.cut('TX_ERROR');
    letGo(req);
    return;
  }
  if (next === DONE) req.session.requestDone();
}

/** Gives back what a transaction held that a defect ended, so that nobody waits for its fetch or its object. */
function letGo(req: Request): void {
  const { cache } = req.core;
  req.onAbort = null;
  if (req.busyOc !== 0) cache.abandon(req.busyOc);
  if (req.staleOc !== 0) cache.deref(req.staleOc);
  req.busyOc = 0;
  req.staleOc = 0;
  req.dropObject();
  req.objectView.clear();
  req.log.put(Tag.End, '');
  req.releaseProgram();
  req.body = null;
  req.session.requestDone();
}
