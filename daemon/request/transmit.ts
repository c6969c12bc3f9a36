// Sends the response. Decides how the body is framed and whether the connection can
// live on; a whole small body leaves in one write with its head, everything else by a flow.

import { BODY_ALIGN } from '../cache/object-store.ts';
import type { DeliveryChain } from '../filters/chain.ts';
import { type Abort, DISCARD, Flow, type Source } from '../flow/flow.ts';
import { own } from '../flow/piece.ts';
import { responseHeadLength, writeResponseHead } from '../http1/head-writer.ts';
import type { StreamAnswer } from '../transaction/client-session.ts';
import { type Step, waitFor } from '../transaction/drive.ts';
import { ONE_WRITE } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import { turns } from '../turns/turns.ts';
import { COPIED, sendFramedBody, sendInPlace } from './deliver.ts';
import { ClientBody, chooseFilters, type Framing, finishAlone, openBody, startBody } from './delivery.ts';
import { answerOverflow, setConnection } from './finish.ts';
import { transmitFragment } from './fragment-body.ts';
import { FINISH, TRANSMIT } from './request-steps.ts';

/** Milliseconds between the last bytes and a reset: many clients take one that comes with bytes for an orderly end. */
const RESET_DELAY = 50;

export function transmit(req: Request): Step<Request> {
  if (req.fragment !== null) return transmitFragment(req, req.fragment);
  if (req.isPage && req.attempt.isHit && !turns.mayContinue()) return leaveTurn(req);
  const { core, resp } = req;
  const { oc } = req.attempt;
  const { cache } = core;
  const finished = req.attempt.part === null && cache.facts.isFinished(oc);
  const { status } = resp;
  const bodiless = req.isHead || status < 200 || status === 204 || status === 304;
  const list = chooseFilters(req);
  if (list === null) {
    // As in Varnish: the head is made, and there is no way left to say what is wrong.
    req.session.cut('OVERLOAD');
    return FINISH;
  }
  const length = openBody(req, list);
  const { chain } = req.attempt;
  const works = chain?.works === true;
  const from = chain?.from ?? 0;
  const { stream } = req.session;
  const framing = framingOf(req, length);
  if (!bodiless && framing === 'close') req.session.closeAfter = 'TX_EOF';
  setConnection(req);
  if (!bodiless && framing === 'chunked') resp.add('Transfer-Encoding', 'chunked', 'transfer-encoding');
  if (req.ctx.overflowed) {
    answerOverflow(req);
    return FINISH;
  }
  const sendBody = !bodiless && length !== 0;
  const whole = sendBody && finished && !works && length <= ONE_WRITE;
  const sent =
    stream === null
      ? sendHead(req, from, whole ? length : 0)
      : sendFramed(req, stream, from, sendBody, whole, length);
  // Filters of a response without a body are opened, and given nothing.
  if (!sendBody && works) chain.connect(DISCARD);
  if (!sendBody || whole) return sent;
  const part = {
    from,
    // Never more than was promised: the program may have changed what the origin announced.
    to: works || length < 0 ? (chain?.to ?? Number.POSITIVE_INFINITY) : from + length,
  };
  return waitFor(req, (proceed) =>
    startBody(req, part, works ? chain : null, new ClientBody(req, framing, length), (reason) =>
      finishBody(req, framing, reason, proceed),
    ),
  );
}

function finishBody(
  req: Request,
  framing: Framing,
  reason: Abort | null,
  proceed: (next: Step<Request>) => void,
): void {
  // Where the end of the connection ends the body, an orderly end would say that all was sent.
  if (reason !== null && framing === 'close') {
    setTimeout(() => {
      req.session.reset('REM_CLOSE');
      finishAlone(req, proceed);
    }, RESET_DELAY);
  } else finishAlone(req, proceed);
}

/** Sends a body that was made here, or what is read of it, through filters. */
export function sendMade(req: Request, body: Buffer, chain: DeliveryChain): Step<Request> {
  const { resp, core } = req;
  const { stream } = req.session;
  const { length, parts } = chain;
  const read =
    parts === null
      ? body.subarray(chain.from, chain.to)
      : Buffer.concat(parts.spans.map(({ from, to }) => body.subarray(from, to)));
  resp.unset('content-length');
  if (length >= 0) resp.add('Content-Length', String(length), 'content-length');
  const framing = framingOf(req, length);
  if (framing === 'close') req.session.closeAfter = 'TX_EOF';
  setConnection(req);
  if (framing === 'chunked') resp.add('Transfer-Encoding', 'chunked', 'transfer-encoding');
  if (req.ctx.overflowed) {
    answerOverflow(req);
    return FINISH;
  }
  if (stream === null) sendHead(req, 0, 0);
  else sendFramed(req, stream, 0, true, false, length);
  const asserts = core.stepChecks !== null;
  const into = chain.connect(new ClientBody(req, framing, length), asserts);
  const source: Source = {
    start(sink) {
      sink.connect(source);
      sink.end(own(read));
    },
    room: () => undefined,
    stop: () => undefined,
  };
  return waitFor(req, (proceed) => {
    const flow = new Flow(source, into, asserts, (reason) => {
      req.onAbort = null;
      finishBody(req, framing, reason, proceed);
    });
    req.onAbort = () => flow.cancel('left');
    flow.start();
  });
}

/** A page of fragments is not begun in a turn of the event loop that has no time for any: its head and its first bytes
 * leave in one write. */
function leaveTurn(req: Request): Step<Request> {
  // Bytes that are lent for this turn only.
  req.resp.raw = null;
  return waitFor(req, (proceed) => {
    turns.later(() => proceed(req.aborted ? FINISH : TRANSMIT));
  });
}

function framingOf({ session, isHttp10 }: Request, length: number): Framing {
  if (session.stream !== null) return 'stream';
  if (length >= 0) return 'length';
  return isHttp10 ? 'close' : 'chunked';
}

/** The same as sendHead() over HTTP/2, where a head may also be all. */
function sendFramed(
  req: Request,
  stream: StreamAnswer,
  from: number,
  sendBody: boolean,
  whole: boolean,
  length: number,
): Step<Request> {
  req.attempt.headBytesOut = stream.head(req.resp, !sendBody);
  req.resp.raw = null;
  return whole ? sendFramedBody(req, stream, from, length) : FINISH;
}

/** Writes the head and, in the same write, `length` body bytes from `from` on. */
function sendHead(req: Request, from: number, length: number): Step<Request> {
  const { core, resp, session } = req;
  const head = responseHeadLength(resp);
  const copied = length > COPIED ? 0 : length;
  const out = core.output(head + copied + BODY_ALIGN);
  // The head begins where its end falls on the body's alignment.
  const start = copied > 0 ? (from - head) & (BODY_ALIGN - 1) : 0;
  writeResponseHead(out, start, resp);
  // Of a pass these are bytes of the read buffer.
  resp.raw = null;
  req.attempt.headBytesOut = head;
  req.attempt.bodyBytesOut = length;
  if (copied < length) return sendInPlace(req, out, head, from, length);
  if (length > 0) core.cache.reading.copyBody(req.attempt.oc, from, out, start + head, length);
  session.write(core.outputPiece(out, start, start + head + length));
  return FINISH;
}
