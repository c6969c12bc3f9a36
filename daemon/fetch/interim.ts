// Passes interim responses of the origin on to the client whose request made it send them (RFC 9110 section 15.2,
// RFC 8297), under http_profile=rfc9111. Never 100 Continue, which answers our request rather than the client's;
// never to a client of HTTP/1.0, nor to one that no longer waits for this very fetch.
//
// Caution: they are not held back for a slow client, so what it has not taken yet ends the passing on.

import { Tag } from '../../protocol/tables/tags.ts';
import { headSize, writeResponseHead } from '../http1/head-writer.ts';
import { copyOnward, HOP_RESPONSE, markNamed } from '../http1/hop-by-hop.ts';
import { HttpMessage } from '../http1/message.ts';
import type { Request } from '../transaction/request.ts';

/** More than this many in one exchange are nothing that a client waits for. */
const MOST = 32;

/** What the fetch of this request calls with each interim response. */
export function interimForwarder(req: Request): (head: HttpMessage) => void {
  const { attempt, session } = req;
  let left = MOST;
  return (head) => {
    if (head.status === 100 || left === 0 || req.isHttp10) return;
    if (req.attempt !== attempt || req.aborted || !session.isOpen || session.isSending) return;
    left--;
    const out = new HttpMessage(Tag.RespMethod);
    out.proto = 'HTTP/1.1';
    out.status = head.status;
    out.reason = head.reason;
    markNamed(head);
    copyOnward(head, out, HOP_RESPONSE);
    // It has no body that these could speak of (RFC 9110 section 8.6, RFC 9112 section 6.1).
    out.unset('content-length');
    out.unset('transfer-encoding');
    const bytes = Buffer.allocUnsafe(headSize(out));
    session.write(bytes.subarray(0, writeResponseHead(bytes, 0, out)));
    req.log.put(Tag.RespProtocol, 'HTTP/1.1');
    req.log.put(Tag.RespStatus, String(out.status));
    req.log.put(Tag.RespReason, out.reason);
    out.logFields(req.log);
  };
}
