// The machine of a fetch: which function each step has, where a fetch begins, and how it ends. A fetch runs on its own,
// step by step, and is resumed by what it waits for.
//
// Whatever happens, the object leaves here finished or failed, its waiters are woken and its references dropped: a
// client would hang on what end() leaves out.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Oc } from '../cache/objcore.ts';
import { bindSteps, Driver, nameOf } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import { BusyObj, type FetchMode } from './busyobj.ts';
import { acquireLater, answered, connected, connectNow, sent } from './exchange-steps.ts';
import * as steps from './fetch-steps.ts';
import { isStrict } from './lifetime.ts';
import { respond, stored } from './respond.ts';
import { copyBody, takeOver } from './revalidation.ts';
import { attempt, failed, interimForwarder, makeBereq, soon, unanswered } from './try-origin.ts';
import type { WantedPart } from './wanted-part.ts';

bindSteps<BusyObj>([
  [steps.ATTEMPT, attempt],
  [steps.CHOOSE, connectNow],
  [steps.CONNECTED, connected],
  [steps.ACQUIRE, acquireLater],
  [steps.SENT, sent],
  [steps.ANSWERED, answered],
  [steps.UNANSWERED, unanswered],
  [steps.RESPOND, respond],
  [steps.STORED, stored],
  [steps.TAKE_OVER, takeOver],
  [steps.COPY, copyBody],
  [steps.UNSTORED, failed],
]);

const driver = new Driver<BusyObj>({ broke, done, name });

/**
 * Starts to fill `oc` for this request. `staleOc` may be 0. Returns at once. Who starts a background fetch has taken one of
 * `core.bgFetches`, which it gives back at its end.
 * @param bodyDone called once when the request's body has been sent, or will not be: at the latest with the fetch's end
 * @param part the slice to ask for; null for the whole
 */
export function startFetch(
  req: Request,
  oc: Oc,
  staleOc: Oc,
  mode: FetchMode,
  bodyDone: (() => void) | null = null,
  part: WantedPart | null = null,
): void {
  const { core } = req;
  const bo = new BusyObj(req, oc, staleOc, mode, driver.run, part);
  bo.onBodyDone = bodyDone;
  req.log.open().text('bereq ').int(bo.attempt.vxid).text(' ').text(mode).close(Tag.Link);
  core.stats.s_fetch++;
  if (mode === 'bgfetch') core.stats.s_bgfetch++;
  // In the middle of a body there is no place for them.
  const bringsHead = part === null || part.of === null;
  if (mode !== 'bgfetch' && bringsHead && isStrict(core.params)) bo.onInterim = interimForwarder(req);
  bo.log.begin(bo.attempt.vxid, 'b');
  bo.log.open().text('bereq ').int(bo.reqVxid).text(' ').text(mode).close(Tag.Begin);
  bo.log.put(Tag.VCL_use, bo.programRef.name);
  bo.log.timestamp('Start', bo.tStart);
  // Before this returns: the request's head will not stay as it is.
  try {
    makeBereq(bo, req);
  } catch (error) {
    broke(bo, error);
    return;
  }
  // A fetch costs as much as several hits, which do not wait for all of those that begin at once.
  if (!core.turns.mayContinue()) core.turns.later(() => bo.resume(steps.ATTEMPT));
  else if (req.attempt.fresh) driver.start(bo, steps.ATTEMPT);
  else soon(bo);
}

function broke(bo: BusyObj, error: unknown): void {
  bo.log.put(Tag.Error, `Internal error: ${(error as Error).stack ?? String(error)}`);
  end(bo);
}

function name({ attempt, bereq }: BusyObj): string {
  return nameOf('fetch', attempt.vxid, bereq);
}

function done(bo: BusyObj): void {
  end(bo);
  bo.recycle();
}

function end(bo: BusyObj): void {
  const { core } = bo;
  bo.ended = true;
  // Nothing to do unless a defect ended it: a connection has one end.
  bo.attempt.end('TX_ERROR');
  if (!core.cache.facts.isFinished(bo.oc)) core.cache.filling.fail(bo.oc);
  bo.end();
}
