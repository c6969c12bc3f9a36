// Waits until the object this request fetches can be delivered: its head is there and, unless it may be
// streamed, its body too. A client that leaves meanwhile releases its reference; the fetch goes its own way.
//
// What the program wants to take the place of others (purge.others) does so here, when it is whole.

import { RETURN } from '../../protocol/tables/returns.ts';
import { OF_FAILURE } from '../cache/objcore.ts';
import type { ProgressReader, ProgressSource } from '../cache/roles.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import { afterWriting } from '../transaction/program-state.ts';
import { purgeRest } from '../transaction/purge-objects.ts';
import type { Request } from '../transaction/request.ts';
import { DELIVER, FINISH, SYNTH } from './request-steps.ts';

export function fetch(req: Request): Step<Request> {
  const { core } = req;
  const { oc } = req.attempt;
  if (req.aborted) return FINISH;
  if (core.cache.facts.isFailed(oc)) {
    // Not even an error object could be made.
    req.log.timestamp('Fetch', core.clock.now());
    req.dropObject();
    req.attempt.synthStatus = 503;
    req.attempt.synthReason = 'Service Unavailable';
    return SYNTH;
  }
  if (isReady(req)) {
    req.log.timestamp('Fetch', core.clock.now());
    return req.attempt.replacesOthers && !core.cache.facts.has(oc, OF_FAILURE) ? replaceOthers(req) : DELIVER;
  }
  new FetchWait(req).begin();
  return PARKED;
}

/** What is to take the place of others is to be whole first, unless it is kept only as fast as its client takes it. */
function isReady({ core, attempt }: Request): boolean {
  const { facts } = core.cache;
  if (!facts.isDeliverable(attempt.oc)) return false;
  return !attempt.replacesOthers || facts.isFinished(attempt.oc) || facts.isUncacheable(attempt.oc);
}

/** Edge and fleet hear of it before the client does. */
function replaceOthers(req: Request): Step<Request> {
  req.attempt.replacesOthers = false;
  purgeRest(req);
  return afterWriting(req, State.deliver, RETURN.deliver as ReturnCode, (_req, ret) => {
    if (req.aborted) return FINISH;
    if (ret === RETURN.deliver) return DELIVER;
    req.dropObject();
    req.attempt.synthStatus = req.ctx.synthStatus;
    req.attempt.synthReason = req.ctx.synthReason;
    return SYNTH;
  });
}

/** The wait of a request for what it fetches. */
class FetchWait implements ProgressReader {
  private readonly req: Request;
  private source: ProgressSource | null = null;
  private readonly leave: () => void;

  constructor(req: Request) {
    this.req = req;
    this.leave = () => {
      this.end();
      req.resume(FINISH);
    };
  }

  begin(): void {
    const { req } = this;
    this.source = req.core.cache.reading.onProgress(req.attempt.oc, this);
    req.onAbort = this.leave;
  }

  progress(): void {
    const { req } = this;
    if (!isReady(req) && !req.core.cache.facts.isFailed(req.attempt.oc)) return;
    this.end();
    req.onAbort = null;
    req.resume(fetch(req));
  }

  private end(): void {
    this.source?.detach(this);
    this.source = null;
  }
}
