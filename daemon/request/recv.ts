// vcl_recv and vcl_hash: the program decides what becomes of the request, and under which key.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { acceptsGzip } from '../http1/accept-encoding.ts';
import { HttpMessage } from '../http1/message.ts';
import { State } from '../vcl/program.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import type { ProgramRef } from './core.ts';
import type { Request } from './request.ts';
import { FAIL, LOOKUP, PASS, PIPE, PURGE, RESTART, type Step, SYNTH } from './steps.ts';

export function recv(req: Request): Step {
  const { core, http, ctx } = req;
  if (req.http0 === null) saveOriginal(req);
  ctx.now = req.tStart;
  req.canGzip = core.params.http_gzip_support !== 0 && acceptsGzip(http.getAll('accept-encoding'));
  let ret = runState(ctx.vcl, State.recv, ctx);
  if (ret === RETURN.fail) return FAIL;
  if (ret === RETURN.vcl && req.nextProgram !== null) ret = switchProgram(req, req.nextProgram);
  if (core.params.http_gzip_support !== 0 && ret !== RETURN.pipe && ret !== RETURN.pass)
    normaliseEncoding(req);
  if (
    ret !== RETURN.synth &&
    !req.isHttp10 &&
    !http.has('host') &&
    req.esiLevel === 0 &&
    http.method !== 'PRI'
  ) {
    // The builtin program answers 400; one that returns before it must not get further either.
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
      req.synthReason = '';
      return SYNTH;
    case RETURN.fail:
      return FAIL;
    default:
      throw new Error(`vcl_recv returned ${ret}`);
  }
}

/** Keeps what the client sent for rollback; only programs that can roll back pay for it. */
function saveOriginal(req: Request): void {
  if (req.programRef?.rollsBack !== true) return;
  req.http0 = new HttpMessage(req.http.base);
  req.http0.copyFrom(req.http);
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
function switchProgram(req: Request, to: ProgramRef): number {
  const { ctx, http, log } = req;
  req.switchProgram(to);
  const forwarded = http.getAll('x-forwarded-for');
  if (forwarded !== null) {
    const own = `, ${req.session.clientIp}`;
    if (forwarded.endsWith(own)) log.put(Tag.ReqUnset, `X-Forwarded-For: ${forwarded.slice(0, -own.length)}`);
    log.put(Tag.ReqHeader, `X-Forwarded-For: ${forwarded}`);
  }
  return runState(ctx.vcl, State.recv, ctx);
}
