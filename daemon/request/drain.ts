// Reads past a request's body that nobody wanted and that has come with its head, before the response is made, as the
// field does. A body that is still on its way is left to finish(): a client that waits for its answer first, as it
// may, must get it.

import { willDrain } from './finish.ts';
import type { Request } from './request.ts';

const NOTHING = { data: () => undefined, end: () => undefined, error: () => undefined };

export function drainAtOnce(req: Request): void {
  const { body, session } = req;
  if (body === null || body.chunked || body.complete || body.failed !== null) return;
  if (session.closeAfter !== null || !willDrain(req, body) || session.inputLength < body.length) return;
  body.start(NOTHING);
}
