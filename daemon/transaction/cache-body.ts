// std.cache_req_body: reads the whole body of a request into storage while vcl_recv waits, so that it can be sent more than
// once and looked at. One that is longer than the program allows, or than there is room for, is given up, and with it the
// request: what came of it cannot be put back, and half a body must not be taken for a whole one (SAFETY rule 3).

import { Tag } from '../../protocol/tables/tags.ts';
import { Waiting } from '../contract/waiting.ts';
import { KeptBody } from './kept-body.ts';
import type { Request } from './request.ts';

const TOO_BIG = 'Request body too big to cache';
const NO_ROOM = 'Could not get storage';

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
    log.put(Tag.FetchError, TOO_BIG);
    body.failed = 'overflow';
    return false;
  }
  return new Waiting((done) => {
    // Before the client is asked to send it.
    const kept = KeptBody.begin(req.core.cache, req.bodyStorage, body.length);
    if (kept === null) {
      log.put(Tag.FetchError, NO_ROOM);
      body.failed = 'storage';
      done(false);
      return;
    }
    body.start({
      data: (buf, start, end) => {
        if (body.received > limit) {
          log.put(Tag.FetchError, TOO_BIG);
          body.fail('overflow');
        } else if (!kept.append(buf, start, end)) {
          log.put(Tag.FetchError, NO_ROOM);
          body.fail('storage');
        }
      },
      end: () => {
        kept.complete();
        req.cachedBody = kept;
        if (body.chunked) frameAnew(req, kept.length);
        done(true);
      },
      error: () => {
        kept.release();
        done(false);
      },
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
