// What an answer does to the object that it was to replace: usually that goes, since nobody will be given it again.
//
// An origin that fails takes nothing away: as long as its failure is not for keeping, what was there stays, to be delivered
// and to be revalidated. A program that wants otherwise gives the failure a life of its own.

import { OF_FAILURE } from '../cache/objcore.ts';
import type { BusyObj } from './busyobj.ts';

/** Whether the answer is a failure that will not be given to later requests. */
export function isPassingFailure(bo: BusyObj): boolean {
  const status = bo.beresp.status % 1000;
  const isFailure = bo.attempt.madeHere || (status >= 500 && status <= 599);
  return isFailure && (bo.uncacheable || bo.forWaiters || bo.ttl <= 0);
}

/** The new object is whole. */
export function replaceStale(bo: BusyObj): void {
  const { cache } = bo.core;
  if (bo.staleOc === 0) return;
  // Without this, markers would pile up as fast as requests come.
  const succeeds = bo.uncacheable && bo.ttl > 0 && cache.facts.has(bo.staleOc, OF_FAILURE);
  if (isPassingFailure(bo) && !succeeds) return;
  cache.invalidation.kill(bo.staleOc);
}
