// vcl_recv and vcl_hash: the program decides what becomes of the request, and under which key.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import type { StateSteps } from '../contract/waiting.ts';
import { acceptsGzip } from '../http1/accept-encoding.ts';
import type { ProgramRef } from '../transaction/core.ts';
import { noteRefusal } from '../transaction/refuse.ts';
import type { Request } from '../transaction/request.ts';
import {
  FAIL,
  FINISH,
  LOOKUP,
  PARKED,
  PASS,
  PIPE,
  PURGE,
  RECEIVED,
  RESTART,
  type Step,
  SYNTH,
} from '../transaction/steps.ts';
import { runState, runWaitingState } from '../vcl/runtime/run-state.ts';
import { forwardedFor } from './transport.ts';

export function recv(req: Request, resume: (step: Step) => void): Step {
  req.ctx.now = req.tStart;
  return runProgram(req, resume);
}

/** Runs vcl_recv, which may have to wait for the body of the request. */
function runProgram(req: Request, resume: (step: Step) => void): Step {
  const { ctx } = req;
  const steps = ctx.vcl.waitingRecv;
  if (steps !== null) return runWaiting(req, steps, resume);
  return judge(req, runState(ctx.vcl, State.recv, ctx), resume);
}

function runWaiting(req: Request, steps: StateSteps, resume: (step: Step) => void): Step {
  const ret = runWaitingState(req.ctx.vcl, State.recv, steps, req.ctx, (code) => {
    req.recvCode = code;
    resume(RECEIVED);
  });
  return ret === null ? PARKED : judge(req, ret, resume);
}

/** vcl_recv has waited. */
export function received(req: Request, resume: (step: Step) => void): Step {
  return req.aborted ? FINISH : judge(req, req.recvCode, resume);
}

/** What vcl_recv decided, and vcl_hash. */
function judge(req: Request, ret: ReturnCode, resume: (step: Step) => void): Step {
  const { core, http, ctx } = req;
  // The failure of a program that was switched to is told after vcl_hash, as Varnish does.
  if (ret === RETURN.fail && (req.entryRef === null || req.restarts > 0)) return FAIL;
  if (req.body !== null && req.body.failed !== null) {
    // It could not be cached, and nothing else can be done with what is left of it.
    req.closeAfter('RX_BODY');
    req.unanswered = true;
    return FINISH;
  }
  if (ret === RETURN.vcl && req.nextProgram !== null) {
    switchProgram(req, req.nextProgram);
    return runProgram(req, resume);
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
    req.synthStatus = 400;
    req.synthReason = 'Bad Request';
    return SYNTH;
  }
  req.hashKey = '';
  if (runState(ctx.vcl, State.hash, ctx) === RETURN.fail) return FAIL;
  switch (ret) {
    case RETURN.hash:
      return LOOKUP;
    case RETURN.pass:
      return PASS;
    case RETURN.pipe:
      return PIPE;
    case RETURN.purge:
      return PURGE;
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.synthStatus = ctx.synthStatus;
      req.synthReason = ctx.synthReason;
      return SYNTH;
    case RETURN.vcl:
      req.log.put(
        Tag.VCL_Error,
        `Illegal return(vcl): ${req.restarts > 0 ? 'Not after restarts' : 'Only from active VCL'}`,
      );
      req.synthStatus = 503;
      req.synthReason = 'Service Unavailable';
      return SYNTH;
    case RETURN.fail:
      return FAIL;
    default:
      throw new Error(`vcl_recv returned ${ret}`);
  }
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

/** Another program takes over: the request begins anew in it, as it came from the client. */
function switchProgram(req: Request, to: ProgramRef): void {
  req.switchProgram(to);
  forwardedFor(req);
}
