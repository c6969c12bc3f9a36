// Waits until the object this request fetches can be delivered: its head is there and, unless it may be
// streamed, its body too. A client that leaves meanwhile releases its reference; the fetch goes its own way.

import type { ProgressReader, ProgressSource } from '../cache/live.ts';
import type { Request } from '../transaction/request.ts';
import { DELIVER, FINISH, PARKED, type Step, SYNTH } from '../transaction/steps.ts';

export function fetch(req: Request): Step {
  const { core, oc } = req;
  if (req.aborted) return FINISH;
  if (core.cache.isFailed(oc)) {
    // Not even an error object could be made.
    req.log.timestamp('Fetch', core.clock.now());
    req.dropObject();
    req.synthStatus = 503;
    req.synthReason = 'Service Unavailable';
    return SYNTH;
  }
  if (core.cache.isDeliverable(oc)) {
    req.log.timestamp('Fetch', core.clock.now());
    return DELIVER;
  }
  req.fetchWait ??= new FetchWait(req);
  req.fetchWait.begin();
  return PARKED;
}

/** The wait of a request for what it fetches: one at a time, so a request has one and uses it again. */
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
    this.source = req.core.cache.onProgress(req.oc, this);
    req.onAbort = this.leave;
  }

  progress(): void {
    const { req } = this;
    const { cache } = req.core;
    if (!cache.isDeliverable(req.oc) && !cache.isFailed(req.oc)) return;
    this.end();
    req.onAbort = null;
    req.resume(fetch(req));
  }

  private end(): void {
    this.source?.detach(this);
    this.source = null;
  }
}
