// The short ways of a plain hit: when the program leaves vcl_deliver to the builtin one and the request asks for
// nothing but the object as it is, the response is ready but for two fields. What is sent and logged is what
// deliver.ts and transmit.ts send and log, byte for byte; in any doubt deliver() takes its own way. A head that is
// not hot is sent and logged from its stored bytes: with hits all over a million objects that is nearly every one,
// and making strings of them would take longer than all the rest.

import { Tag } from '../../protocol/tables/tags.ts';
import { lineCount, lineLength, wireStart } from '../cache/head-codec.ts';
import { OF_PLAIN } from '../cache/objcore.ts';
import { BODY_ALIGN } from '../cache/object-store.ts';
import { constantRecord, PreparedRecords } from '../log/tx-log.ts';
import type { Step } from '../transaction/drive.ts';
import type { FragmentPlace } from '../transaction/fragment-place.ts';
import { type HotHead, ONE_WRITE } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import { writeStored } from './fragment-body.ts';
import { FINISH } from './request-steps.ts';
import { COPIED, sendInPlace } from './send-in-place.ts';

/** Bytes of `HTTP/1.1 200 OK` and its CRLF. */
const STATUS_LINE = 17;

/** Stands for the head of an object that is not hot. */
const COLD = Symbol('cold');

const NO_FILTERS = constantRecord(Tag.Filters, '');
const STATUS_200 = new PreparedRecords([
  [Tag.RespProtocol, 'HTTP/1.1'],
  [Tag.RespStatus, '200'],
  [Tag.RespReason, 'OK'],
]);

/** What to answer with at once, or null when the response needs a second look. */
export function plainHit(req: Request): HotHead | typeof COLD | null {
  const { core, http, session } = req;
  if (req.fragment !== null && !joinsAtOnce(req, req.fragment)) return null;
  if (!req.attempt.isHit || req.programRef?.plainDeliver !== true || session.closeAfter !== null) return null;
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
  const { oc } = req.attempt;
  const hot = core.hotHeads.find(oc);
  if (hot !== null) return hot.plain ? hot : null;
  const { facts, reading } = core.cache;
  return facts.has(oc, OF_PLAIN) &&
    facts.isFinished(oc) &&
    reading.bodyLength(oc) <= ONE_WRITE &&
    facts.tOriginOf(oc) > core.idHeader.since
    ? COLD
    : null;
}

/** Whether the page takes a copy of the whole body of a fragment at once. */
function joinsAtOnce({ core, attempt }: Request, place: FragmentPlace): boolean {
  return place.isInTurn && place.output.makesRoom(core.cache.reading.bodyLength(attempt.oc));
}

/** Sends the whole response of a plain hit. */
export function deliverHot(req: Request, hot: HotHead | typeof COLD): Step<Request> {
  if (hot === COLD) return deliverCold(req);
  req.log.putConstant(hot.records);
  return send(req, hot.wire, hot.length);
}

function deliverCold(req: Request): Step<Request> {
  const { log } = req;
  const { oc } = req.attempt;
  const { reading } = req.core.cache;
  const chunk = reading.headChunk(oc);
  const head = reading.headAt(oc);
  const wire = wireStart(chunk, head);
  log.putConstant(STATUS_200);
  let at = wire + STATUS_LINE;
  for (let i = 0; i < lineCount(chunk, head); i++) {
    const length = lineLength(chunk, head, i);
    log.putBytes(Tag.RespHeader, chunk, at, at + length);
    at += length + 2;
  }
  return send(req, chunk.subarray(wire, at), reading.bodyLength(oc));
}

/** Sends a whole response that begins with `wire`, and logs what is not logged yet. */
function send(req: Request, wire: Uint8Array, length: number): Step<Request> {
  const { core, log, attempt } = req;
  const { oc } = attempt;
  const { hotHeads } = core;
  const { facts, hits, reading } = core.cache;
  const { scratch } = hotHeads;
  log.open().text(core.idHeader.start).int(req.attempt.vxid).text(' ').int(req.attempt.hitVxid);
  let n = log.closeInto(Tag.RespHeader, scratch, 0);
  const age = Math.max(0, Math.floor(req.turnTime() - facts.tOriginOf(oc)));
  log.open().text('Age: ').int(age);
  n = log.closeInto(Tag.RespHeader, scratch, n);
  log.putConstant(hotHeads.delivered);
  if (!req.attempt.counted) hits.count(oc);
  log.timestamp('Process', core.clock.now());
  if (req.fragment !== null) {
    // Of a fragment the head leaves no trace but in the log.
    log.putConstant(NO_FILTERS);
    if (length > 0) writeStored(req, req.fragment.output, length);
    return FINISH;
  }
  log.putConstant(hotHeads.sent);

  const { tail } = hotHeads;
  const head = wire.length + n + tail.length;
  const copied = length > COPIED ? 0 : length;
  const out = core.output(head + copied + BODY_ALIGN);
  const start = copied > 0 ? -head & (BODY_ALIGN - 1) : 0;
  let at = start;
  out.set(wire, at);
  at += wire.length;
  for (let i = 0; i < n; i++) out[at++] = scratch[i] as number;
  out.set(tail, at);
  at += tail.length;
  req.attempt.headBytesOut = head;
  req.attempt.bodyBytesOut = length;
  if (copied < length) return sendInPlace(req, out, at, 0, length);
  if (length > 0) reading.copyBody(oc, 0, out, at, length);
  req.session.writeOutput(out, start, at + length);
  return FINISH;
}
