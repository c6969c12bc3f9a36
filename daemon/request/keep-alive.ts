// Whether and how the connection goes on after a response: what Connection says, whether the rest of the request's body
// is read past, and the status line that answers in place of a response that cannot be made.

import { Tag } from '../../protocol/tables/tags.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import { constantRecord } from '../log/tx-log.ts';
import { KEEP_ALIVE } from '../transaction/hot-heads.ts';
import type { Request } from '../transaction/request.ts';
import type { RequestBody } from '../transaction/request-body.ts';

const KEEP_ALIVE_RECORD = constantRecord(Tag.RespHeader, KEEP_ALIVE);
const NOTHING = { data: () => undefined, end: () => undefined, error: () => undefined };

/** A declared length above this is not worth reading: the connection closes instead. */
export const DRAIN_MAX = 1024 * 1024;

/**
 * Whether what is left of the body will be read after the response. Not one that was begun and given up, nor one
 * that the client holds back until it hears 100 Continue: it may as well send its next request instead.
 */
export function willDrain(req: Request, body: RequestBody): boolean {
  return !body.started && !req.expectContinue && body.length <= DRAIN_MAX;
}

/** Asks for a body that waits for 100 Continue although nobody wants it: the connection goes on only after it. */
export function askForUnwanted(req: Request, body: RequestBody): void {
  if (req.expectContinue && body.length <= DRAIN_MAX && req.session.closeAfter === null) req.askForBody();
}

/** Reads past a body that nobody wanted and that has come with its head, before the response is made, as Varnish does.
 * One that is still on its way is left to finish(): a client may wait for its answer before it sends the rest. */
export function drainAtOnce(req: Request): void {
  const { body, session } = req;
  if (body === null || body.chunked || body.complete || body.failed !== null) return;
  if (session.closeAfter !== null || !willDrain(req, body) || session.inputLength < body.length) return;
  body.start(NOTHING);
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

/** Answers where the program had more to say than the workspace holds, or a head may have no more headers: the response
 * would lack what was lost, so the client gets a status line and nothing of it (as in Varnish). */
export function answerOverflow(req: Request): void {
  req.log.put(Tag.Error, 'workspace_client overflow');
  req.core.stats.client_resp_500++;
  answerBare(req, 500, 'Internal Server Error');
  req.session.closeAfter = 'TX_EOF';
}

/** A status line in the place of a response, and the end of the connection after it, for which the caller has a reason. */
export function answerBare(req: Request, status: number, reason: string): void {
  const { log, session, attempt } = req;
  log.put(Tag.RespProtocol, 'HTTP/1.1');
  log.put(Tag.RespStatus, String(status));
  log.put(Tag.RespReason, reason);
  const line = `HTTP/1.1 ${status} ${reason}`;
  const head = Buffer.from(
    `${line}\r\nServer: proxyd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    'latin1',
  );
  attempt.headBytesOut = head.length;
  attempt.bodyBytesOut = 0;
  session.write(head);
}
