// The short way of a plain hit: when the program leaves vcl_deliver to the builtin one and the request asks for
// nothing but the object as it is, the response is ready but for two fields. What is sent and logged is what
// deliver.ts and transmit.ts send and log, byte for byte; in any doubt deliver() takes its own way.

import { Tag } from '../../protocol/tables/tags.ts';
import { BODY_ALIGN } from '../cache/object-store.ts';
import type { HotHead } from './hot-heads.ts';
import type { Request } from './request.ts';
import { FINISH, type Step } from './steps.ts';

/** The hot head to answer with at once, or null when the response needs a second look. */
export function plainHit(req: Request): HotHead | null {
  const { core, http, session } = req;
  if (!req.isHit || req.programRef?.plainDeliver !== true || session.closeAfter !== null) return null;
  if (
    http.method !== 'GET' ||
    req.isHead ||
    req.isHttp10 ||
    req.body !== null ||
    core.params.http_range_support === 0
  )
    return null;
  if (http.has('if-none-match') || http.has('if-modified-since') || http.has('range')) return null;
  const hot = core.hotHeads.find(req.oc);
  return hot?.plain === true ? hot : null;
}

/** Sends the whole response of a plain hit. */
export function deliverHot(req: Request, hot: HotHead): Step {
  const { core, log, oc } = req;
  const { cache, hotHeads } = core;
  log.putConstant(hot.records);
  const { scratch } = hotHeads;
  log.open().text('X-Proxy-Id: ').int(req.vxid).text(' ').int(req.hitVxid);
  let n = log.closeInto(Tag.RespHeader, scratch, 0);
  const age = Math.max(0, Math.floor(req.turnTime() - cache.tOriginOf(oc)));
  log.open().text('Age: ').int(age);
  n = log.closeInto(Tag.RespHeader, scratch, n);
  log.putConstant(hotHeads.delivered);
  if (!req.counted) cache.countHit(oc);
  log.timestamp('Process', core.clock.now());
  log.putConstant(hotHeads.sent);

  const { wire, length } = hot;
  const { tail } = hotHeads;
  const head = wire.length + n + tail.length;
  const out = core.output(head + length + BODY_ALIGN);
  const start = length > 0 ? -head & (BODY_ALIGN - 1) : 0;
  let at = start;
  out.set(wire, at);
  at += wire.length;
  for (let i = 0; i < n; i++) out[at++] = scratch[i] as number;
  out.set(tail, at);
  at += tail.length;
  if (length > 0) cache.copyBody(oc, 0, out, at, length);
  req.headBytesOut = head;
  req.bodyBytesOut = length;
  req.session.writeOutput(out, start, at + length);
  return FINISH;
}
