// The end of a request: whether and how the connection continues after the response, the status line in place of a response
// that cannot be made, the accounts, and the log. A request body that was not read is read now, within reason, so that the
// connection can carry the next request.

import { Tag } from '../../protocol/tables/tags.ts';
import { DISCARD, Flow, type Sink, type Writer } from '../flow/flow.ts';
import { type AnyPiece, own } from '../flow/piece.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import { logBodyWriter } from '../log/body-records.ts';
import { constantRecord } from '../log/tx-log.ts';
import { DONE, PARKED, type Step } from '../transaction/drive.ts';
import { answerFramed } from '../transaction/framed-text.ts';
import { KEEP_ALIVE } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import type { RequestBody } from '../transaction/request-body.ts';
import { FINISH } from './request-steps.ts';

const KEEP_ALIVE_RECORD = constantRecord(Tag.RespHeader, KEEP_ALIVE);

/** A declared length above this is not worth reading: the connection closes instead. */
const DRAIN_MAX = 1024 * 1024;

/**
 * Whether what is left of the body will be read after the response. Not one that was begun and given up, nor one
 * that the client holds back until it gets 100 Continue: it may as well send its next request instead.
 */
function willDrain(req: Request, body: RequestBody): boolean {
  return !body.started && !req.expectContinue && body.length <= DRAIN_MAX;
}

/** Asks for an unread body that waits for 100 Continue: the connection can be reused only after it. */
export function askForUnwanted(req: Request, body: RequestBody): void {
  if (req.expectContinue && body.length <= DRAIN_MAX && req.session.closeAfter === null) req.askForBody();
}

/** Discards an unread body that has come with its head, before the response is made, as Varnish does.
 * One that is still on its way is left to finish(): a client may wait for its answer before it sends the rest. */
export function drainAtOnce(req: Request): void {
  const { body, session } = req;
  if (body === null || body.chunked || body.complete || body.failed !== null) return;
  if (session.closeAfter !== null || !willDrain(req, body) || session.inputLength < body.length) return;
  body.start(DISCARD);
}

/** States in Connection whether the connection continues; a program that set `close` gets its way, one that set a coding not. */
export function setConnection(req: Request): void {
  const { resp, body } = req;
  // How the body is framed is not a program's business (SAFETY rule 2).
  resp.unset('transfer-encoding');
  // Streams end by themselves, and HTTP/2 has no Connection header (RFC 9113 section 8.2.2).
  if (req.session.stream !== null) return;
  const own = resp.has('connection');
  const ends = own && connectionHas(resp, 'close');
  if (ends) req.closeAfter('RESP_CLOSE');
  if (body !== null && !body.complete && !willDrain(req, body)) req.closeAfter('RX_BODY');
  if (ends) return;
  if (req.session.closeAfter !== null) resp.put('connection', 'Connection: close');
  else if (!own) resp.put('connection', KEEP_ALIVE, KEEP_ALIVE_RECORD);
}

/** Answers where the program had more to say than the workspace holds, or a head may have no more headers: the response
 * would lack what was lost, so the client gets a status line and nothing of it (as in Varnish). */
export function answerOverflow(req: Request): void {
  req.log.put(Tag.Error, 'workspace_client overflow');
  req.core.stats.client_resp_500++;
  answerBare(req, 500, 'Internal Server Error');
  req.session.closeAfter = 'TX_EOF';
}

/** A text as the whole response, which no program has seen; the connection ends after it. */
export function answerText(req: Request, text: string): void {
  const { log, session, attempt } = req;
  log.put(Tag.RespProtocol, 'HTTP/1.1');
  log.put(Tag.RespStatus, '200');
  log.put(Tag.RespReason, 'OK');
  attempt.bodyBytesOut = text.length;
  if (session.stream !== null) {
    attempt.headBytesOut = answerFramed(session.stream, 200, text);
    return;
  }
  const head = Buffer.from(
    `HTTP/1.1 200 OK\r\nServer: proxyd\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n`,
    'latin1',
  );
  attempt.headBytesOut = head.length;
  req.closeAfter('RESP_CLOSE');
  session.write(own(head, Buffer.from(text, 'latin1')));
}

/** A status line in the place of a response, and the end of the connection after it, for which the caller has a reason. */
export function answerBare(req: Request, status: number, reason: string): void {
  const { log, session, attempt } = req;
  log.put(Tag.RespProtocol, 'HTTP/1.1');
  log.put(Tag.RespStatus, String(status));
  log.put(Tag.RespReason, reason);
  attempt.bodyBytesOut = 0;
  if (session.stream !== null) {
    attempt.headBytesOut = answerFramed(session.stream, status);
    return;
  }
  const line = `HTTP/1.1 ${status} ${reason}`;
  const head = Buffer.from(
    `${line}\r\nServer: proxyd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    'latin1',
  );
  attempt.headBytesOut = head.length;
  session.write(own(head));
}

/** The client left before its response: since 7.5 the log has what it would have got. */
export function reset(req: Request): Step<Request> {
  const { core, ctx, log } = req;
  if (core.logsResets && ctx.vcl.changes.requestReset) {
    log.timestamp('Reset', core.clock.now());
    log.put(Tag.RespProtocol, 'HTTP/1.1');
    log.put(Tag.RespStatus, '408');
    log.put(Tag.RespReason, 'Client disconnected');
    core.stats.req_reset++;
  }
  return FINISH;
}

export function finish(req: Request): Step<Request> {
  const { core, log, session, body } = req;
  req.attempt.chain?.report(req.attempt.bodyWrites, req.attempt.bodyBytesOut);
  if (req.attempt.bodyBytesOut > 0 && log.wants(Tag.VdpAcct))
    logBodyWriter(log, req.attempt.bodyWrites, req.attempt.bodyBytesOut);
  if (!req.pipe && !req.unanswered) log.timestamp('Resp', core.clock.now());
  req.dropObject();
  req.objectView.clear();
  if (
    body !== null &&
    !body.complete &&
    body.failed === null &&
    session.closeAfter === null &&
    session.stream === null
  ) {
    if (!willDrain(req, body)) session.closeAfter = 'RX_BODY';
    else {
      let sync = true;
      let settled = false;
      const done = (): void => {
        settled = true;
        if (!sync) {
          close(req);
          req.resume(DONE);
        }
      };
      const flow = new Flow<AnyPiece>(body, drain(body), core.stepChecks !== null, (reason) => {
        if (reason !== null) session.closeAfter ??= 'RX_BODY';
        done();
      });
      flow.start();
      sync = false;
      if (!settled) return PARKED;
    }
  }
  close(req);
  return DONE;
}

/** Discards a body, within reason. */
function drain(body: RequestBody): Sink<AnyPiece> {
  let writer: Writer | null = null;
  return {
    ...DISCARD,
    connect: (to) => {
      writer = to;
    },
    write: () => {
      if (body.received <= DRAIN_MAX) return 'more';
      writer?.stop('overflow');
      return 'wait';
    },
  };
}

function close(req: Request): void {
  const { core, log, body } = req;
  const bodyIn = body === null ? 0 : body.received;
  const headOut = req.attempt.headBytesOut + req.interimBytesOut;
  const { stats } = core;
  if (!req.pipe) {
    log.acct(
      Tag.ReqAcct,
      req.headBytesIn,
      bodyIn,
      req.headBytesIn + bodyIn,
      headOut,
      req.attempt.bodyBytesOut,
      headOut + req.attempt.bodyBytesOut,
    );
    // A fragment's bytes are among those of its page.
    if (req.fragment === null) {
      stats.s_req_hdrbytes += req.headBytesIn;
      stats.s_req_bodybytes += bodyIn;
      stats.s_resp_hdrbytes += headOut;
      stats.s_resp_bodybytes += req.attempt.bodyBytesOut;
      if (req.attempt.isHit) stats.s_resp_bodybytes_hit += req.attempt.bodyBytesOut;
    }
  }
  // Extensions may still have something to log when the task ends.
  req.releaseProgram();
  log.endAnswered(req.attempt.isHit);
  req.dropBody();
}
