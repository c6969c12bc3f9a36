// std.cache_req_body: reads the whole body of a request while vcl_recv waits, so that it can be sent more than
// once and looked at. One that is longer than the program allows is given up, and with it the request: what came
// of it cannot be put back, and half a body must not be taken for a whole one (SAFETY rule 3).

import { Tag } from '../../protocol/tables/tags.ts';
import { Waiting } from '../contract/waiting.ts';
import { keep } from '../http1/lent-bytes.ts';
import type { Request } from './request.ts';

/** @param limit largest body in bytes; false when there is no whole body within it */
export function cacheBody(req: Request, limit: number): boolean | Waiting {
  const { body, log } = req;
  if (body === null || req.cachedBody !== null) return true;
  if (body.failed !== null) return false;
  if (body.started) {
    log.put(Tag.VCL_Error, 'Had failed reading req.body before.');
    return false;
  }
  if (body.length > limit) {
    log.put(Tag.FetchError, 'Request body too big to cache');
    body.failed = 'overflow';
    return false;
  }
  return new Waiting((done) => {
    const parts: Buffer[] = [];
    body.start({
      data: (buf, start, end) => {
        if (body.received > limit) {
          log.put(Tag.FetchError, 'Request body too big to cache');
          body.fail('overflow');
        } else parts.push(keep(buf, start, end));
      },
      end: () => {
        req.cachedBody = Buffer.concat(parts);
        if (body.chunked) frameAnew(req, req.cachedBody.length);
        done(true);
      },
      error: () => done(false),
    });
  });
}

/** The length is known now. */
function frameAnew(req: Request, length: number): void {
  for (const http of [req.http, req.http0]) {
    http?.unset('transfer-encoding');
    http?.set('Content-Length', String(length));
  }
}
