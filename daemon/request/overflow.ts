// The end of a request whose program had more to say than the workspace holds, or a head that may have no more
// fields: the response would lack what was lost, so the client gets a status line and nothing of it (as Varnish).

import { Tag } from '../../protocol/tables/tags.ts';
import type { Request } from '../transaction/request.ts';

const TEXT = Buffer.from(
  'HTTP/1.1 500 Internal Server Error\r\nServer: proxyd\r\nConnection: close\r\n\r\n',
  'latin1',
);

/** Answers in place of the response that cannot be. */
export function answerOverflow(req: Request): void {
  const { core, log, session } = req;
  log.put(Tag.Error, 'workspace_client overflow');
  log.put(Tag.RespProtocol, 'HTTP/1.1');
  log.put(Tag.RespStatus, '500');
  log.put(Tag.RespReason, 'Internal Server Error');
  core.stats.client_resp_500++;
  session.closeAfter = 'TX_EOF';
  req.headBytesOut = TEXT.length;
  req.bodyBytesOut = 0;
  session.write(TEXT);
}
