// Makes the response from the object and lets vcl_deliver have the last word on it.
//
// A plain hit has a shorter way: when the program leaves vcl_deliver to the builtin one and the request asks for nothing
// but the object as it is, the response is ready but for two fields. What is sent and logged is the same, byte for byte;
// in any doubt the long way is taken. A head that is not hot is sent and logged from its stored bytes: with hits all over
// a million objects that is nearly every one, and making strings of them would take longer than everything else.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { lineCount, lineLength, wireStart } from '../cache/head-codec.ts';
import { OF_GZIPPED, OF_PLAIN } from '../cache/objcore.ts';
import { BODY_ALIGN } from '../cache/object-store.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { isStrict } from '../fetch/lifetime.ts';
import { joined, type Piece, stored } from '../flow/piece.ts';
import { notModified, weakenEtag } from '../http1/conditional.ts';
import { parseDate } from '../http1/date.ts';
import type { StoredBytes } from '../http1/lent-bytes.ts';
import { constantRecord, PreparedRecords } from '../log/tx-log.ts';
import type { StreamAnswer } from '../transaction/client-session.ts';
import { type Step, waitFor } from '../transaction/drive.ts';
import type { FragmentPlace } from '../transaction/fragment-place.ts';
import { ACCEPT_RANGES, type HotHead, ONE_WRITE } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import { ObjectHolder } from '../transaction/store-flow.ts';
import { askForUnwanted, drainAtOnce } from './finish.ts';
import { partOf } from './first-part.ts';
import { judgesStatuses, writeStored } from './fragment-body.ts';
import { FAIL, FINISH, inClientState, RESET, RESTART, SYNTH, TRANSMIT } from './request-steps.ts';

const ACCEPT_RANGES_RECORD = constantRecord(Tag.RespHeader, ACCEPT_RANGES);
/** As a rule the age of an object that was just fetched. */
const NO_AGE = 'Age: 0';
const NO_AGE_RECORD = constantRecord(Tag.RespHeader, NO_AGE);
const STATUS_200 = new PreparedRecords([
  [Tag.RespProtocol, 'HTTP/1.1'],
  [Tag.RespStatus, '200'],
  [Tag.RespReason, 'OK'],
]);

export function deliver(req: Request): Step<Request> {
  const { core, resp, log, ctx, attempt } = req;
  const { oc } = attempt;
  const { facts, hits, reading } = core.cache;
  if (req.aborted) return RESET;
  if (req.body !== null) {
    askForUnwanted(req, req.body);
    drainAtOnce(req);
  }
  const plain = plainHit(req);
  if (plain !== null) return deliverHot(req, plain);
  attempt.part = attempt.farPart ?? partOf(core, oc);
  resp.reset();
  const hot = req.attempt.isHit ? core.hotHeads.find(oc) : null;
  if (hot !== null) hot.show(resp, log);
  else {
    reading.head(oc, resp);
    logResponse(req);
  }
  resp.log = log;
  if (resp.proto !== 'HTTP/1.1') resp.setProto('HTTP/1.1');
  putProxyId(req);
  // The head of what was just fetched is logged in the same moment.
  const now = req.attempt.isHit ? req.turnTime() : log.tPrev;
  const age = Math.max(0, Math.floor(now - facts.tOriginOf(oc)));
  if (age === 0) resp.put('age', NO_AGE, NO_AGE_RECORD);
  else resp.put('age', `Age: ${age}`);
  if (resp.has('via')) addVia(req);
  else resp.put('via', core.viaLine, core.viaRecord);
  if (core.params.http_gzip_support !== 0 && facts.has(oc, OF_GZIPPED) && !req.canGzip) weakenEtag(resp);
  if (core.params.http_range_support !== 0 && resp.status === 200 && !req.attempt.isPass) {
    resp.put('accept-ranges', ACCEPT_RANGES, ACCEPT_RANGES_RECORD);
  }
  ctx.now = now;
  if (req.attempt.isHit && !req.attempt.counted) hits.count(oc);
  return inClientState(req, State.deliver, afterDeliver);
}

/** Varnish adds a line of its own to a Via up to 7.1, and to the end of the line since then. */
function addVia({ core, ctx, resp }: Request): void {
  if (ctx.vcl.changes.requestVia) {
    resp.join('via');
    resp.set('Via', `${resp.get('via')}, ${core.via}`);
  } else resp.add('Via', core.via, 'via');
}

function afterDeliver(req: Request, ret: ReturnCode): Step<Request> {
  const { core, resp, log, ctx } = req;
  if (ret === RETURN.deliver || !ctx.vcl.changes.processOnlyAtEnd) log.timestamp('Process', core.clock.now());
  switch (ret) {
    case RETURN.deliver:
      break;
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.dropObject();
      req.attempt.synthStatus = ctx.synthStatus;
      req.attempt.synthReason = ctx.synthReason;
      return SYNTH;
    default:
      return FAIL;
  }
  resp.status %= 1000;
  if (resp.status === 200 && notModified(req.http, resp, madeAt(req), ctx.now, core.lenientDates)) {
    resp.status = 304;
    resp.reason = 'Not Modified';
    logStatus(req);
  }
  return TRANSMIT;
}

/** Since when this is the response, in whole seconds: as its Date says, or classically since it was fetched. */
function madeAt({ core, resp, attempt }: Request): number {
  const date = isStrict(core.params) ? resp.get('date') : null;
  const made = date === null ? null : parseDate(date, undefined, core.lenientDates);
  return made ?? Math.floor(core.cache.facts.tOriginOf(attempt.oc));
}

/** The response line as it stands now. */
export function logStatus(req: Request): void {
  const { log, resp } = req;
  if (resp.status === 200 && resp.reason === 'OK' && resp.proto === 'HTTP/1.1') {
    log.putConstant(STATUS_200);
    return;
  }
  resp.logStatusLine(log);
}

/** The line is built in the log and read back from there: that costs less than joining strings. */
function putProxyId(req: Request): void {
  const { resp, log } = req;
  const { key, start } = req.core.idHeader;
  if (resp.has(key)) resp.unset(key);
  log.open().text(start).int(req.attempt.vxid);
  // A hit that was passed after all shows what it got instead.
  if (req.attempt.hitVxid !== 0)
    log.text(' ').int(req.attempt.isPass ? req.core.cache.facts.vxidOf(req.attempt.oc) : req.attempt.hitVxid);
  resp.push(key, log.closeText(Tag.RespHeader));
}

function logResponse(req: Request): void {
  logStatus(req);
  req.resp.logFields(req.log);
}

/** Bytes of `HTTP/1.1 200 OK` and its CRLF. */
const STATUS_LINE = 17;

/** Stands for the head of an object that is not hot. */
const COLD = Symbol('cold');

const NO_FILTERS = constantRecord(Tag.Filters, '');

/** The head to answer with at once, or null when the response needs a second look. */
function plainHit(req: Request): HotHead | typeof COLD | null {
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
  // A head that is stored as HTTP/1 sends it is of no use to HTTP/2.
  if (session.stream !== null) return null;
  const { facts, reading } = core.cache;
  return facts.has(oc, OF_PLAIN) &&
    facts.isFinished(oc) &&
    reading.bodyLength(oc) <= ONE_WRITE &&
    facts.tOriginOf(oc) > core.idHeader.since
    ? COLD
    : null;
}

/** Whether the page takes a copy of the whole body of a fragment at once. */
function joinsAtOnce(req: Request, place: FragmentPlace): boolean {
  const { core, attempt } = req;
  return (
    !judgesStatuses(req) &&
    place.isInTurn &&
    place.output.makesRoom(core.cache.reading.bodyLength(attempt.oc))
  );
}

/** Sends the whole response of a plain hit. */
function deliverHot(req: Request, hot: HotHead | typeof COLD): Step<Request> {
  if (hot === COLD) return deliverCold(req);
  req.log.putConstant(hot.records);
  const { stream } = req.session;
  return stream === null ? send(req, hot.wire, hot.length) : sendFramed(req, stream, hot);
}

/** The same as send() over HTTP/2. */
function sendFramed(req: Request, stream: StreamAnswer, hot: HotHead): Step<Request> {
  const { core, log, attempt } = req;
  const { hotHeads } = core;
  const { facts, hits } = core.cache;
  const id = `${attempt.vxid} ${attempt.hitVxid}`;
  log.open().text(core.idHeader.start).text(id).close(Tag.RespHeader);
  const age = Math.max(0, Math.floor(req.turnTime() - facts.tOriginOf(attempt.oc)));
  log.open().text('Age: ').int(age).close(Tag.RespHeader);
  log.putConstant(hotHeads.delivered);
  if (!attempt.counted) hits.count(attempt.oc);
  log.timestamp('Process', core.clock.now());
  log.putConstant(NO_FILTERS);
  attempt.headBytesOut = stream.hotHead(hot, id, age, hot.length === 0);
  return hot.length === 0 ? FINISH : sendFramedBody(req, stream, 0, hot.length);
}

/** Sends `length` bytes of a stored body, which is whole, after a head that was sent. */
export function sendFramedBody(
  req: Request,
  stream: StreamAnswer,
  from: number,
  length: number,
): Step<Request> {
  const { attempt, core } = req;
  attempt.bodyBytesOut = length;
  const place = stream.bodyPlace(length);
  if (place !== null) {
    core.cache.reading.copyBody(attempt.oc, from, place.out, place.at, length);
    return FINISH;
  }
  return stream.end(storedPart(req, from, length)) === 'more' ? FINISH : untilTaken(req);
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
  req.session.write(core.outputPiece(out, start, at + length));
  return FINISH;
}

/** Bytes of a body that are rather copied. In place 64 KiB cost 5 % less in all. */
export const COPIED = 16 * 1024;

/**
 * Sends a head and a body that is whole, where it is stored, in one system call. Copying a small body behind its head costs
 * less than a view of it; a large one more than everything else there is to do for it.
 * @param out the worker's output buffer, with the head in its first `head` bytes
 */
export function sendInPlace(
  req: Request,
  out: Buffer,
  head: number,
  from: number,
  length: number,
): Step<Request> {
  const whole = joined(req.core.outputPiece(out, 0, head), storedPart(req, from, length));
  return req.session.write(whole) === 'more' ? FINISH : untilTaken(req);
}

/** Bytes of the object's body where they are stored. */
function storedPart({ core, attempt }: Request, from: number, length: number): Piece {
  const { reading } = core.cache;
  const parts: StoredBytes[] = [];
  for (let at = from; at < from + length; ) {
    const slice = reading.slice(attempt.oc, at, from + length - at);
    parts.push(slice);
    at += slice.length;
  }
  return stored(parts, new ObjectHolder(core.cache, attempt.oc));
}

/** The response is over when the client has taken it. */
function untilTaken(req: Request): Step<Request> {
  return waitFor(req, (proceed) => {
    const over = (): void => {
      req.onAbort = null;
      proceed(FINISH);
    };
    req.onAbort = over;
    req.session.onRoom({ room: over });
  });
}
