// Waits until the object this request fetches can be delivered: its head is there and, unless it may be
// streamed, its body too. A client that leaves meanwhile releases its reference; the fetch goes its own way.

import type { ProgressReader, ProgressSource } from '../cache/roles.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
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
  if (core.cache.facts.isDeliverable(oc)) {
    req.log.timestamp('Fetch', core.clock.now());
    return DELIVER;
  }
  new FetchWait(req).begin();
  return PARKED;
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
    const { facts } = req.core.cache;
    if (!facts.isDeliverable(req.attempt.oc) && !facts.isFailed(req.attempt.oc)) return;
    this.end();
    req.onAbort = null;
    req.resume(fetch(req));
  }

  private end(): void {
    this.source?.detach(this);
    this.source = null;
  }
}
