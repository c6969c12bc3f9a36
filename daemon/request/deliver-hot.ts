// The short ways of a plain hit: when the program leaves vcl_deliver to the builtin one and the request asks for
// nothing but the object as it is, the response is ready but for two fields. What is sent and logged is what
// deliver.ts and transmit.ts send and log, byte for byte; in any doubt deliver() takes its own way. A head that is
// not hot is sent and logged from its stored bytes: with hits all over a million objects that is nearly every one,
// and making strings of them would take longer than all the rest.

import { Tag } from '../../protocol/tables/tags.ts';
import { lineCount, lineLength, wireStart } from '../cache/head-codec.ts';
import { BODY_ALIGN } from '../cache/object-store.ts';
import { PreparedRecords } from '../log/tx-log.ts';
import { type HotHead, ONE_WRITE } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import { FINISH, type Step } from '../transaction/steps.ts';

/** Bytes of `HTTP/1.1 200 OK` and its CRLF. */
const STATUS_LINE = 17;

/** Stands for the head of an object that is not hot. */
const COLD = Symbol('cold');

const STATUS_200 = new PreparedRecords([
  [Tag.RespProtocol, 'HTTP/1.1'],
  [Tag.RespStatus, '200'],
  [Tag.RespReason, 'OK'],
]);

/** What to answer with at once, or null when the response needs a second look. */
export function plainHit(req: Request): HotHead | typeof COLD | null {
  const { core, http, session } = req;
  if (!req.isHit || req.programRef?.plainDeliver !== true || session.closeAfter !== null) return null;
  if (req.ctx.overflowed) return null;
  if (
    http.method !== 'GET' ||
    req.isHead ||
    req.isHttp10 ||
    req.body !== null ||
    core.params.http_range_support === 0
  )
    return null;
  if (http.has('if-none-match') || http.has('if-modified-since') || http.has('range')) return null;
  const { oc } = req;
  const hot = core.hotHeads.find(oc);
  if (hot !== null) return hot.plain ? hot : null;
  const { cache } = core;
  return cache.isPlain(oc) &&
    cache.isFinished(oc) &&
    cache.bodyLength(oc) <= ONE_WRITE &&
    cache.tOriginOf(oc) > core.idHeader.since
    ? COLD
    : null;
}

/** Sends the whole response of a plain hit. */
export function deliverHot(req: Request, hot: HotHead | typeof COLD): Step {
  if (hot === COLD) return deliverCold(req);
  req.log.putConstant(hot.records);
  return send(req, hot.wire, hot.length);
}

function deliverCold(req: Request): Step {
  const { log, oc } = req;
  const { cache } = req.core;
  const chunk = cache.headChunk(oc);
  const head = cache.headAt(oc);
  const wire = wireStart(chunk, head);
  log.putConstant(STATUS_200);
  let at = wire + STATUS_LINE;
  for (let i = 0; i < lineCount(chunk, head); i++) {
    const length = lineLength(chunk, head, i);
    log.putBytes(Tag.RespHeader, chunk, at, at + length);
    at += length + 2;
  }
  return send(req, chunk.subarray(wire, at), cache.bodyLength(oc));
}

/** Sends a whole response that begins with `wire`, and logs what is not logged yet. */
function send(req: Request, wire: Uint8Array, length: number): Step {
  const { core, log, oc } = req;
  const { cache, hotHeads } = core;
  const { scratch } = hotHeads;
  log.open().text(core.idHeader.start).int(req.vxid).text(' ').int(req.hitVxid);
  let n = log.closeInto(Tag.RespHeader, scratch, 0);
  const age = Math.max(0, Math.floor(req.turnTime() - cache.tOriginOf(oc)));
  log.open().text('Age: ').int(age);
  n = log.closeInto(Tag.RespHeader, scratch, n);
  log.putConstant(hotHeads.delivered);
  if (!req.counted) cache.countHit(oc);
  log.timestamp('Process', core.clock.now());
  log.putConstant(hotHeads.sent);

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
