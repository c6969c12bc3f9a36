// Reads past a request's body that nobody wanted and that has come with its head, before the response is made, as the
// field does. A body that is still on its way is left to finish(): a client that waits for its answer first, as it
// may, must get it.

import type { Request } from '../transaction/request.ts';
import type { RequestBody } from '../transaction/request-body.ts';
import { DRAIN_MAX, willDrain } from './finish.ts';

const NOTHING = { data: () => undefined, end: () => undefined, error: () => undefined };

/** Asks for a body that waits for 100 Continue although nobody wants it: the connection goes on only after it. */
export function askForUnwanted(req: Request, body: RequestBody): void {
  if (req.expectContinue && body.length <= DRAIN_MAX && req.session.closeAfter === null) req.askForBody();
}

export function drainAtOnce(req: Request): void {
  const { body, session } = req;
  if (body === null || body.chunked || body.complete || body.failed !== null) return;
  if (session.closeAfter !== null || !willDrain(req, body) || session.inputLength < body.length) return;
  body.start(NOTHING);
}
