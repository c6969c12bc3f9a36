// A response made here: vcl_synth fills it in. Also the way out of failures, so it must itself end: where a program
// fails in vcl_synth, the client gets a status line that no program had a part in, and its connection is closed.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { endPrivs } from '../contract/priv.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { DISCARD } from '../flow/flow.ts';
import { own } from '../flow/piece.ts';
import { httpDate } from '../http1/date.ts';
import { headSize, writeResponseHead } from '../http1/head-writer.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import type { Step } from '../transaction/drive.ts';
import { answerStatus } from '../transaction/framed-text.ts';
import type { Request } from '../transaction/request.ts';
import { logStatus } from './deliver.ts';
import { chooseFilters, openChain } from './delivery.ts';
import { answerOverflow, askForUnwanted, drainAtOnce, setConnection } from './finish.ts';
import { FINISH, inClientState, RESTART, SYNTH, TRANSMIT } from './request-steps.ts';
import { sendMade } from './transmit.ts';

const LAST_STATUS = 500;
const LAST_REASON = 'Internal Server Error';
const LAST_WORDS = Buffer.from(`HTTP/1.1 ${LAST_STATUS} ${LAST_REASON}\r\n\r\n`, 'latin1');

export function synth(req: Request): Step<Request> {
  const { core, resp, log, ctx } = req;
  core.stats.s_synth++;
  const now = core.clock.now();
  const status = req.attempt.synthStatus;
  resp.reset();
  resp.proto = 'HTTP/1.1';
  // The program sees and may set VWXYZ; the client gets XYZ (vcl(7), return (synth)).
  resp.status = status < 100 ? 503 : status;
  resp.reason = req.attempt.synthReason;
  resp.log = log;
  logStatus(req);
  resp.add('Date', httpDate(now), 'date');
  resp.add('Server', 'proxyd', 'server');
  resp.add(core.idHeader.name, String(req.attempt.vxid), core.idHeader.key);
  if (req.expectContinue && req.late100Continue && req.body !== null) {
    // The client has its answer and may or may not send the body now: nothing can be read after it. A program that
    // takes this back has the body asked for, and read.
    resp.add('Connection', 'close', 'connection');
  }
  ctx.now = now;
  req.attempt.synthBody = null;
  return inClientState(req, State.synth, afterSynth);
}

function afterSynth(req: Request, ret: ReturnCode): Step<Request> {
  const { core, resp, log } = req;
  if (ret === RETURN.fail) return lastResort(req);
  log.timestamp('Process', core.clock.now());
  // A request that was restarted too often ends here, whatever the program wants.
  if (ret === RETURN.restart && req.restarts <= core.params.max_restarts) return RESTART;
  resp.status %= 1000;
  const length = String((req.attempt.synthBody ?? '').length);
  resp.set('Content-Length', length);
  return req.fragment === null ? send(req) : TRANSMIT;
}

/** Sends the page. As with any other response a range counts; conditions do not. */
function send(req: Request): Step<Request> {
  if (req.body !== null) {
    if (!connectionHas(req.resp, 'close')) askForUnwanted(req, req.body);
    drainAtOnce(req);
  }
  const { core, resp, log, session } = req;
  const body = Buffer.from(req.attempt.synthBody ?? '', 'latin1');
  log.put(Tag.Storage, 'malloc Transient');
  const list = chooseFilters(req);
  if (list === null) {
    session.cut('OVERLOAD');
    return FINISH;
  }
  const chain = openChain(req, list, body.length, -1);
  const bodiless = resp.status < 200 || resp.status === 204 || resp.status === 304;
  if (chain?.works === true) {
    if (!req.isHead && !bodiless && body.length > 0) return sendMade(req, body, chain);
    chain.connect(DISCARD);
  }
  if (bodiless) resp.unset('content-length');
  setConnection(req);
  if (req.ctx.overflowed) {
    answerOverflow(req);
    return FINISH;
  }
  const from = chain?.from ?? 0;
  const to = from + (chain?.length ?? body.length);
  const sent = req.isHead || bodiless ? 0 : to - from;
  if (session.stream !== null) {
    req.attempt.bodyBytesOut = sent;
    req.attempt.headBytesOut = session.stream.head(resp, sent === 0);
    if (sent > 0) session.stream.end(own(body.subarray(from, to)));
    return FINISH;
  }
  const out = core.output(headSize(resp) + sent);
  const head = writeResponseHead(out, 0, resp);
  if (sent > 0) body.copy(out, head, from, to);
  req.attempt.headBytesOut = head;
  req.attempt.bodyBytesOut = sent;
  session.write(core.outputPiece(out, 0, head + sent));
  return FINISH;
}

/** The answer when vcl_synth itself fails. */
function lastResort(req: Request): Step<Request> {
  const { core, log, session } = req;
  core.stats.vcl_fail++;
  log.timestamp('Process', core.clock.now());
  log.put(Tag.RespProtocol, 'HTTP/1.1');
  log.put(Tag.RespStatus, String(LAST_STATUS));
  log.put(Tag.RespReason, LAST_REASON);
  if (req.fragment !== null) {
    req.fragment.failed('vcl_synth failed');
    return FINISH;
  }
  session.closeAfter = 'VCL_FAILURE';
  if (session.stream !== null) req.attempt.headBytesOut = answerStatus(session.stream, LAST_STATUS);
  else {
    session.write(own(LAST_WORDS));
    req.attempt.headBytesOut = LAST_WORDS.length;
  }
  req.attempt.bodyBytesOut = 0;
  return FINISH;
}

/** The program failed: a 503 through vcl_synth, then the connection closes. */
export function fail(req: Request): Step<Request> {
  req.dropObject();
  req.rollback();
  endPrivs(req.ctx.priv);
  req.core.stats.vcl_fail++;
  req.attempt.synthStatus = 503;
  req.attempt.synthReason = 'VCL failed';
  req.session.closeAfter = 'VCL_FAILURE';
  return SYNTH;
}
