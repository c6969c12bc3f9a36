// Makes the response from the object and lets vcl_deliver have the last word on it.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { OF_GZIPPED } from '../cache/objcore.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { isStrict } from '../fetch/rfc9111.ts';
import { notModified, weakenEtag } from '../http1/conditional.ts';
import { parseDate } from '../http1/date.ts';
import { constantRecord, PreparedRecords } from '../log/tx-log.ts';
import type { Step } from '../transaction/drive.ts';
import { ACCEPT_RANGES } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import { inClientState } from './client-state.ts';
import { deliverHot, plainHit } from './deliver-hot.ts';
import { askForUnwanted, drainAtOnce } from './keep-alive.ts';
import { FAIL, FINISH, RESTART, SYNTH, TRANSMIT } from './request-steps.ts';

const ACCEPT_RANGES_RECORD = constantRecord(Tag.RespHeader, ACCEPT_RANGES);
/** What is just fetched, as a rule. */
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
  if (req.aborted) return FINISH;
  if (req.body !== null) {
    askForUnwanted(req, req.body);
    drainAtOnce(req);
  }
  const plain = plainHit(req);
  if (plain !== null) return deliverHot(req, plain);
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
  // A line of its own, as Varnish adds it.
  if (resp.has('via')) resp.add('Via', core.via, 'via');
  else resp.put('via', core.viaLine, core.viaRecord);
  if (core.params.http_gzip_support !== 0 && facts.has(oc, OF_GZIPPED) && !req.canGzip) weakenEtag(resp);
  if (core.params.http_range_support !== 0 && resp.status === 200 && !req.attempt.isPass) {
    resp.put('accept-ranges', ACCEPT_RANGES, ACCEPT_RANGES_RECORD);
  }
  ctx.now = now;
  if (req.attempt.isHit && !req.attempt.counted) hits.count(oc);
  return inClientState(req, State.deliver, afterDeliver);
}

function afterDeliver(req: Request, ret: ReturnCode): Step<Request> {
  const { core, resp, log, ctx } = req;
  log.timestamp('Process', core.clock.now());
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
