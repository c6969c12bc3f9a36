// Sends the response. Decides how the body is framed, which filters it passes and whether the connection can
// live on; a whole small body leaves in one write with its head, everything else through BodyWriter.

import { Tag } from '../../protocol/tables/tags.ts';
import { BODY_ALIGN } from '../cache/object-store.ts';
import { parseLength } from '../http1/framing.ts';
import { responseHeadLength, writeResponseHead } from '../http1/head-writer.ts';
import { answerRange } from '../http1/range.ts';
import { constantRecord } from '../log/tx-log.ts';
import { KEEP_ALIVE } from './added-fields.ts';
import { BodyWriter } from './body-writer.ts';
import { logStatus } from './deliver.ts';
import { willDrain } from './finish.ts';
import { ONE_WRITE } from './hot-heads.ts';
import type { Request } from './request.ts';
import { FINISH, PARKED, type Step } from './steps.ts';

const KEEP_ALIVE_RECORD = constantRecord(Tag.RespHeader, KEEP_ALIVE);
const NO_FILTERS = constantRecord(Tag.Filters, '');

/** Milliseconds between the last bytes and a reset: many clients take one that comes with bytes for an orderly end. */
const RESET_DELAY = 50;

export function transmit(req: Request, resume: (step: Step) => void): Step {
  const { core, resp, log, oc } = req;
  const { cache } = core;
  const finished = cache.isFinished(oc);
  const clText = resp.get('content-length');
  const declared = clText === null ? -1 : parseLength(clText);
  let length = finished ? cache.bodyLength(oc) : declared;
  const { status } = resp;
  const bodiless = req.isHead || status < 200 || status === 204 || status === 304;
  const gunzip =
    cache.isGzipped(oc) &&
    core.params.http_gzip_support !== 0 &&
    !req.canGzip &&
    resp.has('content-encoding');
  if (gunzip) length = finished ? cache.gunzippedLength(oc) : -1;
  let from = 0;
  let to = Number.POSITIVE_INFINITY;
  const range =
    length >= 0 && status === 200 && !req.isPass && core.params.http_range_support !== 0
      ? wantedRange(req)
      : null;
  const answer = range === null ? null : answerRange(range, length);
  const ranged = answer !== null && answer.kind !== 'whole';
  if (!ranged && !gunzip) log.putConstant(NO_FILTERS);
  else log.put(Tag.Filters, ranged ? (gunzip ? ' gunzip range' : ' range') : ' gunzip');
  if (gunzip) {
    resp.unset('content-encoding');
    if (!ranged) resp.unset('content-length');
  }
  if (ranged) {
    if (answer.kind === 'part') {
      resp.set('Content-Range', `bytes ${answer.from}-${answer.to - 1}/${length}`);
      from = answer.from;
      to = answer.to;
      resp.status = 206;
      resp.reason = 'Partial Content';
    } else {
      resp.set('Content-Range', `bytes */${length}`);
      resp.status = 416;
      resp.reason = 'Requested Range Not Satisfiable';
      to = 0;
    }
    logStatus(req);
    resp.unset('content-length');
    length = to - from;
    resp.add('Content-Length', String(length), 'content-length');
  } else if (gunzip) {
    if (length >= 0) resp.add('Content-Length', String(length), 'content-length');
  } else if (status === 304 || status === 204) {
    resp.unset('content-length');
  } else if (!(declared >= 0 && declared === length) && !(req.isHead && req.isPass)) {
    if (clText !== null) resp.unset('content-length');
    if (length >= 0) resp.add('Content-Length', String(length), 'content-length');
  }
  const chunked = !bodiless && length < 0 && !req.isHttp10;
  if (!bodiless && length < 0 && !chunked) req.session.closeAfter = 'TX_EOF';
  setConnection(req);
  if (chunked) resp.add('Transfer-Encoding', 'chunked', 'transfer-encoding');
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
  req.headBytesOut = head;
  if (length > 0) {
    core.cache.copyBody(req.oc, from, out, start + head, length);
    req.bodyBytesOut = length;
  }
  session.writeOutput(out, start, start + head + length);
}

/** Connection tells the client what will happen; a program that set `close` gets its way. */
export function setConnection(req: Request): void {
  const { resp, body } = req;
  if (body !== null && !body.complete && !willDrain(req, body)) req.closeAfter('RX_BODY');
  const i = resp.find('connection');
  if (i >= 0) {
    if (resp.valueAt(i).toLowerCase() === 'close') {
      req.closeAfter('RESP_CLOSE');
      return;
    }
    resp.unset('connection');
  }
  if (req.session.closeAfter === null) resp.put('connection', KEEP_ALIVE, KEEP_ALIVE_RECORD);
  else resp.put('connection', 'Connection: close');
}

/** The Range field's value when it applies: If-Range must name this very representation. */
function wantedRange(req: Request): string | null {
  const { http, resp } = req;
  if (http.method !== 'GET') return null;
  const range = http.get('range');
  if (range === null) return null;
  const condition = http.get('if-range');
  if (condition === null) return range;
  if (condition.startsWith('W/')) return null;
  const validator = condition.startsWith('"') ? resp.get('etag') : resp.get('last-modified');
  return validator === condition ? range : null;
}
