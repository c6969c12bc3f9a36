// vcl_recv and vcl_hash: the program decides what becomes of the request, and under which key.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { acceptsGzip } from '../http1/accept-encoding.ts';
import type { ProgramRef } from '../transaction/core.ts';
import type { Step } from '../transaction/drive.ts';
import { noteRefusal } from '../transaction/refuse.ts';
import type { Request } from '../transaction/request.ts';
import type { BodyError } from '../transaction/request-body.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { inClientState } from './client-state.ts';
import { answerBare } from './keep-alive.ts';
import { FAIL, FINISH, LOOKUP, PASS, PIPE, PURGE, RESTART, SYNTH } from './request-steps.ts';
import { forwardedFor } from './transport.ts';

export function recv(req: Request): Step<Request> {
  req.ctx.now = req.attempt.tStart;
  return runProgram(req);
}

function runProgram(req: Request): Step<Request> {
  return inClientState(req, State.recv, judge);
}

/** What vcl_recv decided, and vcl_hash. */
function judge(req: Request, ret: ReturnCode): Step<Request> {
  const { core, http, ctx } = req;
  // The failure of a program that was switched to is logged after vcl_hash, as Varnish does.
  if (ret === RETURN.fail && (req.entryRef === null || req.restarts > 0)) return FAIL;
  if (req.body !== null && req.body.failed !== null) return giveUp(req, req.body.failed);
  if (ret === RETURN.vcl && req.nextProgram !== null) {
    switchProgram(req, req.nextProgram);
    return runProgram(req);
  }
  if (req.expectContinue) expectation(req);
  if (core.params.http_gzip_support !== 0 && ret !== RETURN.pipe && ret !== RETURN.pass)
    normaliseEncoding(req);
  if (
    req.hostless &&
    ret !== RETURN.synth &&
    !req.isHttp10 &&
    !http.has('host') &&
    req.esiLevel === 0 &&
    http.method !== 'PRI'
  ) {
    // The builtin program answers 400; one that returns before it must not get further either.
    noteRefusal(req.log, core.stats, 'request', 'host_missing', '');
    req.attempt.synthStatus = 400;
    req.attempt.synthReason = 'Bad Request';
    return SYNTH;
  }
  req.attempt.hashKey = '';
  if (runState(ctx.vcl, State.hash, ctx) === RETURN.fail) return FAIL;
  switch (ret) {
    case RETURN.hash:
      return LOOKUP;
    case RETURN.pass:
      return PASS;
    case RETURN.pipe:
      if (req.fragment === null) return PIPE;
      req.log.put(Tag.VCL_Error, 'vcl_recv{} returns pipe for ESI included object.  Doing pass.');
      return PASS;
    case RETURN.purge:
      return PURGE;
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.attempt.synthStatus = ctx.synthStatus;
      req.attempt.synthReason = ctx.synthReason;
      return SYNTH;
    case RETURN.vcl:
      req.log.put(
        Tag.VCL_Error,
        `Illegal return(vcl): ${req.restarts > 0 ? 'Not after restarts' : 'Only from active VCL'}`,
      );
      req.attempt.synthStatus = 503;
      req.attempt.synthReason = 'Service Unavailable';
      return SYNTH;
    case RETURN.fail:
      return FAIL;
    default:
      throw new Error(`vcl_recv returned ${ret}`);
  }
}

/** The body could not be cached, and nothing else can be done with what is left of it. */
function giveUp(req: Request, why: BodyError): Step<Request> {
  req.closeAfter('RX_BODY');
  if (why === 'overflow') answerBare(req, 400, 'Bad Request');
  else if (why === 'storage') answerBare(req, 503, 'Service Unavailable');
  else req.unanswered = true;
  return FINISH;
}

/** A client that has not waited needs no answer; the others get theirs now, unless the program wants it late. */
function expectation(req: Request): void {
  if (req.session.hasInput) req.expectContinue = false;
  else if (!req.late100Continue) req.askForBody();
}

/** With gzip support on, the cache knows two kinds of clients: those that take gzip and the rest. */
function normaliseEncoding(req: Request): void {
  const { http } = req;
  const i = http.find('accept-encoding');
  if (i < 0) return;
  if (acceptsGzip(http.getAll('accept-encoding'))) {
    if (http.valueAt(i) !== 'gzip' || http.find('accept-encoding', i + 1) >= 0) {
      http.set('Accept-Encoding', 'gzip');
    }
  } else http.unset('accept-encoding');
}

/** Another program takes over: the request begins again in it, as it came from the client. */
function switchProgram(req: Request, to: ProgramRef): void {
  req.switchProgram(to);
  forwardedFor(req);
}
