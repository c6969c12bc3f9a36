// What the origin answered, before the program sees it: logged, dated, and given the life that its own fields
// and the parameters call for.

import { Tag } from '../../protocol/tables/tags.ts';
import { httpDate } from '../http1/date.ts';
import { MSG_PROTOCOL, MSG_REASON, MSG_STATUS } from '../http1/message.ts';
import type { BusyObj } from './busyobj.ts';
import { lifetime } from './ttl.ts';

/** Logs beresp as it stands; from here on the program's changes are logged one by one. */
export function logBeresp(bo: BusyObj): void {
  const { beresp, log } = bo;
  log.put(beresp.base + MSG_PROTOCOL, beresp.proto);
  log.put(beresp.base + MSG_STATUS, String(beresp.status % 1000).padStart(3, '0'));
  log.put(beresp.base + MSG_REASON, beresp.reason);
  beresp.logFields(log);
  beresp.log = log;
}

export function takeResponse(bo: BusyObj): void {
  const { beresp, core } = bo;
  const now = core.clock.now();
  logBeresp(bo);
  if (!beresp.has('date')) beresp.add('Date', httpDate(now), 'date');
  bo.tOrigin = now;
}

/** ttl, grace and keep from the response's own fields; a pass has no life of its own. */
export function giveLife(bo: BusyObj): void {
  const { beresp, core, log } = bo;
  const now = core.clock.now();
  const life = lifetime(beresp, now, core.params);
  bo.tOrigin = life.tOrigin;
  if (bo.uncacheable) {
    bo.ttl = -1;
    bo.grace = core.params.default_grace;
    bo.keep = 0;
    return;
  }
  bo.ttl = life.ttl;
  bo.grace = life.grace;
  bo.keep = life.keep;
  log.put(Tag.TTL, `RFC ${life.text} ${bo.uncacheable ? 'uncacheable' : 'cacheable'}`);
}
