// Waits until the object this request fetches can be delivered: its head is there and, unless it may be
// streamed, its body too. A client that leaves meanwhile releases its reference; the fetch goes its own way.

import type { Request } from './request.ts';
import { DELIVER, FINISH, PARKED, type Step, SYNTH } from './steps.ts';

export function fetch(req: Request, resume: (step: Step) => void): Step {
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
  const cancel = core.cache.onProgress(oc, {
    progress: () => {
      if (!core.cache.isDeliverable(oc) && !core.cache.isFailed(oc)) return;
      cancel();
      req.onAbort = null;
      resume(fetch(req, resume));
    },
  });
  req.onAbort = () => {
    cancel();
    resume(FINISH);
  };
  return PARKED;
}
