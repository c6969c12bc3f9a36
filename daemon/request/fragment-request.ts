// The request for a fragment: what the client asked for the page, with another URL, as a GET for the whole of it; and the
// connection as that request sees it: the page's, but nothing that happens to the fragment closes it, and only the page
// writes to it.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { PlanInclude } from '../esi/page-plan.ts';
import type { Room } from '../flow/flow.ts';
import type { ClientSession } from '../transaction/client-session.ts';
import { DerivedSession } from '../transaction/derived-session.ts';
import type { FragmentPlace } from '../transaction/fragment-place.ts';
import type { Request } from '../transaction/request.ts';
import type { RequestBody } from '../transaction/request-body.ts';
import { keepBuffers, takeBuffers } from '../transaction/request-buffers.ts';
import { addOwnFields, logRequest } from './receive.ts';
import { RECV } from './request-steps.ts';

/** Called at the end of the request. */
interface FragmentCalls {
  /** Its body cannot be whole. */
  cut(): void;
  /** It is over. */
  done(): void;
}

class FragmentSession extends DerivedSession implements ClientSession {
  readonly tHead: number;
  closeAfter: CloseReason | null = null;
  body: RequestBody | null = null;
  readonly hasInput = false;
  readonly inputLength = 0;
  readonly stream = null;
  private readonly place: FragmentCalls;

  /** @param client that of the page. @param now epoch seconds */
  constructor(client: ClientSession, place: FragmentCalls, now: number) {
    super(client);
    this.place = place;
    this.tHead = now;
  }

  // A fragment's request has no body, and its answer no head: there is nothing to write, read or wait for.

  write(): Room {
    return 'more';
  }

  onRoom(): void {}

  bodyBegins(): void {}

  bodyWanted(): void {}

  bodySettled(): void {}

  startPipe(): void {}

  interruptPipe(): void {}

  pipeEnded(): void {}

  close(): void {}

  cut(): void {
    this.place.cut();
  }

  reset(): void {
    this.cut();
  }

  requestDone(): void {
    this.place.done();
  }
}

/** Headers that ask for less than the whole fragment, or describe a body that does not come with it; those that Varnish
 * takes away, and what frames a body in pieces. */
const NOT_OF_A_FRAGMENT = ['if-modified-since', 'if-none-match', 'range'];
const OF_A_BODY = ['content-length', 'transfer-encoding'];

interface Place extends FragmentPlace {
  req: Request | null;
}

/** Begins it, and comes as far as it can at once. @param gzip whether the page is packed, so that its parts should be */
export function beginFragment(place: Place, page: Request, part: PlanInclude, gzip: boolean): void {
  const { core } = page;
  const now = core.clock.now();
  const buffers = takeBuffers(core);
  const calls = {
    cut: () => place.failed('its transaction broke off'),
    done: () => {
      place.ended();
      // Only now: the page, which continues, may begin the next one.
      keepBuffers(core, buffers);
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
  const kind = page.ctx.vcl.changes.esiLevelInLog ? ` esi ${req.esiLevel}` : ' esi';
  page.log.open().text('req ').int(attempt.vxid).text(kind).close(Tag.Link);
  log.begin(attempt.vxid, 'c');
  log.open().text('req ').int(page.attempt.vxid).text(kind).close(Tag.Begin);
  log.timestamp('Start', now);
  http.copyFrom(page.http0 ?? page.http);
  http.log = log;
  req.resp.log = log;
  makeFragment(req, part, gzip);
  // Fragments of the fragment, and a rollback, begin with this.
  req.keepOriginal();
  req.takeProgram(page.firstProgram as NonNullable<typeof page.firstProgram>);
  logRequest(req);
  addOwnFields(req);
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
