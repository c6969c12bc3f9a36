// Sends the response. Decides how the body is framed, which filters it passes and whether the connection can
// live on; a whole small body leaves in one write with its head, everything else through BodyWriter.

import { Tag } from '../../protocol/tables/tags.ts';
import { BODY_ALIGN } from '../cache/object-store.ts';
import { parseLength } from '../http1/framing.ts';
import { responseHeadLength, writeResponseHead } from '../http1/head-writer.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import { constantRecord } from '../log/tx-log.ts';
import { deliveryFilters } from '../transaction/delivery-filters.ts';
import { KEEP_ALIVE, ONE_WRITE } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import { FINISH, PARKED, type Step } from '../transaction/steps.ts';
import { BodyWriter } from './body-writer.ts';
import { willDrain } from './finish.ts';
import { answerOverflow } from './overflow.ts';
import { makePartial } from './ranged.ts';

const KEEP_ALIVE_RECORD = constantRecord(Tag.RespHeader, KEEP_ALIVE);

/** Milliseconds between the last bytes and a reset: many clients take one that comes with bytes for an orderly end. */
const RESET_DELAY = 50;

export function transmit(req: Request, resume: (step: Step) => void): Step {
  const { core, resp, log, oc } = req;
  const { cache } = core;
  const finished = cache.isFinished(oc);
  const clText = resp.getAll('content-length');
  const declared = clText === null ? -1 : parseLength(clText);
  let length = finished ? cache.bodyLength(oc) : declared;
  const { status } = resp;
  const bodiless = req.isHead || status < 200 || status === 204 || status === 304;
  const filters = deliveryFilters(req);
  if (filters === null) {
    // As in Varnish: the head is made, and there is no way left to say what is wrong.
    req.session.cut('OVERLOAD');
    return FINISH;
  }
  const { gunzip } = filters;
  // The unpacked length is known of what was unpacked to be tested.
  if (gunzip) length = finished && cache.isGzipped(oc) ? cache.gunzippedLength(oc) : -1;
  let from = 0;
  let to = Number.POSITIVE_INFINITY;
  log.putConstant(filters.text);
  if (gunzip) resp.unset('content-encoding');
  const part = filters.range && length >= 0 ? makePartial(req, length) : null;
  if (part !== null) {
    from = part.from;
    to = part.to;
    length = to - from;
  } else if (status === 304 || status === 204) {
    resp.unset('content-length');
  } else if (gunzip) {
    if (length < 0 || declared !== length) resp.unset('content-length');
    if (length >= 0 && declared !== length) resp.add('Content-Length', String(length), 'content-length');
  } else if (!(declared >= 0 && declared === length) && !(req.isHead && req.isPass)) {
    if (clText !== null) resp.unset('content-length');
    if (length >= 0) resp.add('Content-Length', String(length), 'content-length');
  }
  const chunked = !bodiless && length < 0 && !req.isHttp10;
  if (!bodiless && length < 0 && !chunked) req.session.closeAfter = 'TX_EOF';
  setConnection(req);
  if (chunked) resp.add('Transfer-Encoding', 'chunked', 'transfer-encoding');
  if (req.ctx.overflowed) {
    answerOverflow(req);
    return FINISH;
  }
  const sendBody = !bodiless && length !== 0;
  const whole = sendBody && finished && !gunzip && length <= ONE_WRITE;
  sendHead(req, whole ? from : -1, whole ? length : 0);
  if (gunzip && !sendBody) {
    core.stats.n_gunzip++;
    log.put(Tag.Gzip, 'U D - 0 0 0 0 0');
  }
  if (!sendBody || whole) return FINISH;
  // Never more than was promised: the program may have changed what the origin announced.
  if (length >= 0) to = from + length;
  const writer = new BodyWriter(req, { from, to, gunzip, chunked, length }, (ok) => {
    // Where the end of the connection ends the body, an orderly end would say that all was sent.
    if (!ok && length < 0 && !chunked) {
      setTimeout(() => {
        req.session.reset('REM_CLOSE');
        resume(FINISH);
      }, RESET_DELAY);
      return;
    }
    if (!ok) req.session.cut('REM_CLOSE');
    resume(FINISH);
  });
  writer.start();
  return PARKED;
}

/** Writes the head and, in the same write, `length` body bytes from `from` on. */
function sendHead(req: Request, from: number, length: number): void {
  const { core, resp, session } = req;
  const head = responseHeadLength(resp);
  const out = core.output(head + length + BODY_ALIGN);
  // The head begins where its end falls on the body's alignment.
  const start = length > 0 ? (from - head) & (BODY_ALIGN - 1) : 0;
  writeResponseHead(out, start, resp);
  // Of a pass these are bytes of the read buffer.
  resp.raw = null;
  req.headBytesOut = head;
  if (length > 0) {
    core.cache.copyBody(req.oc, from, out, start + head, length);
    req.bodyBytesOut = length;
  }
  session.writeOutput(out, start, start + head + length);
}

/** Connection tells the client what will happen; a program that set `close` gets its way, one that set a coding not. */
export function setConnection(req: Request): void {
  const { resp, body } = req;
  // How the body is framed is not a program's business (SAFETY rule 2).
  resp.unset('transfer-encoding');
  const own = resp.has('connection');
  const ends = own && connectionHas(resp, 'close');
  if (ends) req.closeAfter('RESP_CLOSE');
  if (body !== null && !body.complete && !willDrain(req, body)) req.closeAfter('RX_BODY');
  if (ends) return;
  if (req.session.closeAfter !== null) resp.put('connection', 'Connection: close');
  else if (!own) resp.put('connection', KEEP_ALIVE, KEEP_ALIVE_RECORD);
}
