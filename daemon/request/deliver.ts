// Makes the response from the object and lets vcl_deliver have the last word on it.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { State } from '../contract/program.ts';
import { isStrict } from '../fetch/rfc9111.ts';
import { notModified, weakenEtag } from '../http1/conditional.ts';
import { parseDate } from '../http1/date.ts';
import { constantRecord, PreparedRecords } from '../log/tx-log.ts';
import { ACCEPT_RANGES } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import { FAIL, FINISH, RESTART, type Step, SYNTH, TRANSMIT } from '../transaction/steps.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { deliverHot, plainHit } from './deliver-hot.ts';
import { askForUnwanted, drainAtOnce } from './drain.ts';

const ACCEPT_RANGES_RECORD = constantRecord(Tag.RespHeader, ACCEPT_RANGES);
/** What is just fetched, as a rule. */
const NO_AGE = 'Age: 0';
const NO_AGE_RECORD = constantRecord(Tag.RespHeader, NO_AGE);
const STATUS_200 = new PreparedRecords([
  [Tag.RespProtocol, 'HTTP/1.1'],
  [Tag.RespStatus, '200'],
  [Tag.RespReason, 'OK'],
]);

export function deliver(req: Request): Step {
  const { core, resp, log, ctx, oc } = req;
  const { cache } = core;
  if (req.aborted) return FINISH;
  if (req.body !== null) {
    askForUnwanted(req, req.body);
    drainAtOnce(req);
  }
  const plain = plainHit(req);
  if (plain !== null) return deliverHot(req, plain);
  resp.reset();
  const hot = req.isHit ? core.hotHeads.find(oc) : null;
  if (hot !== null) hot.show(resp, log);
  else {
    cache.head(oc, resp);
    logResponse(req);
  }
  resp.log = log;
  if (resp.proto !== 'HTTP/1.1') resp.setProto('HTTP/1.1');
  putProxyId(req);
  // What was fetched is told of in this very moment.
  const now = req.isHit ? req.turnTime() : log.tPrev;
  const age = Math.max(0, Math.floor(now - cache.tOriginOf(oc)));
  if (age === 0) resp.put('age', NO_AGE, NO_AGE_RECORD);
  else resp.put('age', `Age: ${age}`);
  // A line of its own, as Varnish adds it.
  if (resp.has('via')) resp.add('Via', core.via, 'via');
  else resp.put('via', core.viaLine, core.viaRecord);
  if (core.params.http_gzip_support !== 0 && cache.isGzipped(oc) && !req.canGzip) weakenEtag(resp);
  if (core.params.http_range_support !== 0 && resp.status === 200 && !req.isPass) {
    resp.put('accept-ranges', ACCEPT_RANGES, ACCEPT_RANGES_RECORD);
  }
  ctx.now = now;
  if (req.isHit && !req.counted) cache.countHit(oc);
  const ret = runState(ctx.vcl, State.deliver, ctx);
  log.timestamp('Process', core.clock.now());
  switch (ret) {
    case RETURN.deliver:
      break;
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.dropObject();
      req.synthStatus = ctx.synthStatus;
      req.synthReason = ctx.synthReason;
      return SYNTH;
    default:
      return FAIL;
  }
  resp.status %= 1000;
  if (resp.status === 200 && notModified(req.http, resp, madeAt(req), now, core.lenientDates)) {
    resp.status = 304;
    resp.reason = 'Not Modified';
    logStatus(req);
  }
  return TRANSMIT;
}

/** Since when this is the response, in whole seconds: as its Date says, or classically since it was fetched. */
function madeAt({ core, resp, oc }: Request): number {
  const date = isStrict(core.params) ? resp.get('date') : null;
  const made = date === null ? null : parseDate(date, undefined, core.lenientDates);
  return made ?? Math.floor(core.cache.tOriginOf(oc));
}

/** The response line as it stands now. */
export function logStatus(req: Request): void {
  const { log, resp } = req;
  if (resp.status === 200 && resp.reason === 'OK' && resp.proto === 'HTTP/1.1') {
    log.putConstant(STATUS_200);
    return;
  }
  log.put(Tag.RespProtocol, resp.proto);
  log.put(Tag.RespStatus, String(resp.status % 1000).padStart(3, '0'));
  log.put(Tag.RespReason, resp.reason);
}

/** The line is built in the log and read back from there: that costs less than joining strings. */
function putProxyId(req: Request): void {
  const { resp, log } = req;
  const { key, start } = req.core.idHeader;
  if (resp.has(key)) resp.unset(key);
  log.open().text(start).int(req.vxid);
  // A hit that was passed after all shows what it got instead.
  if (req.hitVxid !== 0) log.text(' ').int(req.isPass ? req.core.cache.vxidOf(req.oc) : req.hitVxid);
  resp.push(key, log.closeText(Tag.RespHeader));
}

function logResponse(req: Request): void {
  logStatus(req);
  req.resp.logFields(req.log);
}
