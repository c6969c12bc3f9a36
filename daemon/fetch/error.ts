// vcl_backend_error: a response made here because the origin gave none. It is delivered to those who asked and
// never cached (SAFETY rule 13), unless the program gives it a life of its own.
//
// Those who wait for this fetch get it too, as a short-lived object that nobody else finds: each on its own would ask
// an origin that is down.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { State } from '../contract/program.ts';
import { httpDate } from '../http1/date.ts';
import { reasonOf } from '../http1/status-reasons.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import type { BusyObj } from './busyobj.ts';
import { storeObject } from './prepare.ts';
import { logBeresp } from './response.ts';

/** The life of an answer that waiters share, in seconds: what Varnish gives it. */
const SHARED = { ttl: 1, grace: 5, keep: 5 } as const;
const NONE = { ttl: 0, grace: 0, keep: 0 } as const;

/** Answers for the origin; true asks for another try instead. */
export function fetchError(bo: BusyObj, status: number, reason: string): boolean {
  const { core, beresp, ctx, log } = bo;
  const now = core.clock.now();
  log.timestamp('Error', now);
  beresp.reset();
  beresp.proto = 'HTTP/1.1';
  beresp.status = status < 100 ? 503 : status;
  beresp.reason = reason !== '' ? reason : status === 503 ? 'Backend fetch failed' : reasonOf(status % 1000);
  beresp.push('date', `Date: ${httpDate(now)}`);
  beresp.push('server', 'Server: proxyd');
  logBeresp(bo);
  const life = bo.mode !== 'pass' && core.cache.hasWaiters(bo.oc) ? SHARED : NONE;
  Object.assign(bo, life);
  bo.tOrigin = now;
  bo.synthBody = null;
  // Whatever was to become of the origin's body, this one is as it is.
  bo.filter = 'none';
  bo.was304 = false;
  bo.standsIn = false;
  bo.copyFailure = null;
  bo.pump = null;
  bo.storage = core.cache.nextStorage();
  ctx.now = now;
  const ret = runState(ctx.vcl, State.backend_error, ctx);
  if (ret === RETURN.retry) return true;
  if (ret !== RETURN.deliver) {
    if (ret === RETURN.fail) core.stats.vcl_fail++;
    return false;
  }
  bo.forWaiters = life === SHARED && bo.ttl === life.ttl && bo.grace === life.grace && bo.keep === life.keep;
  const body = Buffer.from(bo.synthBody ?? '', 'latin1');
  bo.doStream = false;
  if (!storeObject(bo)) return false;
  if (body.length > 0 && !core.cache.append(bo.oc, body, 0, body.length)) return false;
  log.put(Tag.Length, String(body.length));
  core.cache.finish(bo.oc, bo.ttl <= 0);
  // An answer that the program keeps takes the place of what was stale.
  if (bo.ttl > 0 && !bo.forWaiters && bo.staleOc !== 0) core.cache.kill(bo.staleOc);
  return false;
}
