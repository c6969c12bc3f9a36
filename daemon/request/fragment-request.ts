// The request for a fragment: what the client asked for the page, with another URL, as a GET for the whole of it.

import { Tag } from '../../protocol/tables/tags.ts';
import type { PlanInclude } from '../esi/page-plan.ts';
import type { FragmentPlace } from '../transaction/fragment-place.ts';
import type { Request } from '../transaction/request.ts';
import { RequestBuffers } from '../transaction/request-buffers.ts';
import { FragmentSession } from './fragment-session.ts';
import { RECV } from './request-steps.ts';
import { forwardedFor, logRequest } from './transport.ts';

/** Headers that ask for less than the whole fragment, or tell of a body that does not come with it; those that Varnish
 * takes away, and what frames a body in pieces. */
const NOT_OF_A_FRAGMENT = ['if-modified-since', 'if-none-match', 'range'];
const OF_A_BODY = ['content-length', 'transfer-encoding'];
/** Buffers of ended requests that are kept. */
const SPARE = 64;

interface Place extends FragmentPlace {
  req: Request | null;
}

/** Begins it, and comes as far as it can at once. @param gzip whether the page is packed, so that its parts should be */
export function beginFragment(place: Place, page: Request, part: PlanInclude, gzip: boolean): void {
  const { core } = page;
  const now = core.clock.now();
  const buffers = core.esi.spareBuffers.pop() ?? new RequestBuffers(core);
  const calls = {
    cut: () => place.failed('its transaction broke off'),
    done: () => {
      place.ended();
      // Only now: what goes on in the page may begin the next one.
      if (core.esi.spareBuffers.length < SPARE) core.esi.spareBuffers.push(buffers);
    },
  };
  const session = new FragmentSession(page.session, calls, now);
  const req = page.derive(session, buffers);
  place.req = req;
  req.fragment = place;
  req.esiLevel = page.esiLevel + 1;
  req.tReq = page.tReq;
  req.hostless = page.hostless;
  const { attempt, http, log } = req;
  attempt.vxid = core.newVxid();
  attempt.tStart = now;
  core.stats.esi_req++;
  page.log.open().text('req ').int(attempt.vxid).text(' esi').close(Tag.Link);
  log.begin(attempt.vxid, 'c');
  log.open().text('req ').int(page.attempt.vxid).text(' esi').close(Tag.Begin);
  log.timestamp('Start', now);
  http.copyFrom(page.http0 ?? page.http);
  http.log = log;
  req.resp.log = log;
  makeFragment(req, part, gzip);
  // Fragments of the fragment, and a rollback, begin with this.
  req.keepOriginal();
  req.takeProgram(page.firstProgram as NonNullable<typeof page.firstProgram>);
  logRequest(req);
  forwardedFor(req);
  req.resume(RECV);
}

function makeFragment({ http }: Request, { host, url }: PlanInclude, gzip: boolean): void {
  http.setUrl(url);
  if (host !== null) http.set('Host', host);
  if (http.method !== 'GET') http.setMethod('GET');
  if (http.proto !== 'HTTP/1.1') http.setProto('HTTP/1.1');
  for (const key of NOT_OF_A_FRAGMENT) http.unset(key);
  if (!gzip) http.unset('accept-encoding');
  else if (http.getAll('accept-encoding') !== 'gzip') http.set('Accept-Encoding', 'gzip');
  for (const key of OF_A_BODY) http.unset(key);
}
