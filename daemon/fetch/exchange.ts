// One request to an origin and the head of its answer. A kept connection that the origin had closed is replaced
// once, and only where sending the request twice can do no harm (RFC 9110 section 9.2.2): never after a body.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { Backend } from '../backend/backend.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { OriginFailure } from '../backend/origin-failure.ts';
import { type BodyFraming, CHUNKED, NO_BODY } from '../http1/framing.ts';
import { headSize, writeRequestHead } from '../http1/head-writer.ts';
import type { HttpMessage } from '../http1/message.ts';
import { reasonOf } from '../http1/status-reasons.ts';
import type { BodySource } from '../net/request-body.ts';
import type { BusyObj } from './busyobj.ts';
import { sendBody } from './send-body.ts';

/** Directors that may stand one behind the other. */
const MAX_DIRECTORS = 100;
const SAFE_TO_REPEAT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** An answered request: its connection waits for the body to be read. */
export class Exchanged {
  readonly connection: OriginConnection;
  readonly backend: Backend;
  private ended = false;

  constructor(connection: OriginConnection, backend: Backend) {
    this.connection = connection;
    this.backend = backend;
  }

  /** Gives the connection back or closes it, and logs which; `reason` forces a close. */
  end(bo: BusyObj, reason: CloseReason | null): void {
    const { connection, backend } = this;
    if (this.ended) return;
    this.ended = true;
    bo.headBytesOut += connection.bytes.headOut;
    bo.bodyBytesOut += connection.bytes.bodyOut;
    bo.headBytesIn += connection.bytes.headIn;
    bo.bodyBytesIn += connection.bytes.bodyIn;
    let how = 'recycle';
    if (reason !== null) {
      connection.destroy();
      how = `close ${closeText(reason)}`;
    } else if (!connection.release()) how = `close ${closeText(connection.closeReason)}`;
    bo.log.put(Tag.BackendClose, `${connection.ends.fd} ${backend.vclName} ${how}`);
  }
}

/** The words BackendClose uses for a reason; null is none of the peers'. */
export function closeText(reason: CloseReason | null): string {
  switch (reason) {
    case null:
      return 'Not Closing';
    case 'RX_BODY':
      return 'Failure receiving req.body';
    case 'RX_TIMEOUT':
      return 'Receive timeout';
    case 'RX_OVERFLOW':
      return 'Received buffer overflow';
    case 'TX_ERROR':
      return 'Error transaction';
    case 'OVERLOAD':
      return 'Out of some resource';
    case 'TX_PIPE':
      return 'Piped transaction';
    case 'RESP_CLOSE':
      return 'Backend/VCL requested close';
    case 'REQ_CLOSE':
      return 'Client requested close';
    case 'REQ_HTTP10':
      return 'Proto < HTTP/1.1';
    case 'RX_JUNK':
      return 'Received junk data';
    default:
      return 'Received bad req/resp';
  }
}

/** Sends bereq and reads the answer's head into beresp; null after a failure, which is logged. */
export async function exchange(bo: BusyObj): Promise<Exchanged | null> {
  const { core, log, bereq } = bo;
  bo.respBackend = null;
  bo.respEnds = null;
  const backend = resolve(bo);
  if (backend === null) return null;
  if (bo.body?.started === true) {
    // An earlier fetch of a restarted request took it: an empty one would look like all of it (SAFETY rule 3).
    log.put(Tag.FetchError, 'Request body was read before');
    return null;
  }
  bo.respBackend = backend;
  addHost(bo, backend);
  let framing: BodyFraming | null = null;
  const mayRepeat = SAFE_TO_REPEAT.has(bereq.method) && bo.body === null;
  for (let tries = 0; ; tries++) {
    const opts = { connectTimeout: bo.connectTimeout, now: core.clock.now(), fresh: tries > 0 };
    const opened = backend.acquire(opts);
    // A kept connection is there at once: nothing to wait for.
    const connection = announce(bo, backend, opened instanceof Promise ? await opened : opened);
    if (connection === null) return null;
    const got = new Exchanged(connection, backend);
    framing ??= frameBody(bo);
    const failure = await talk(bo, backend, connection, framing);
    if (failure === null) {
      if (bo.beresp.reason === '') {
        bo.beresp.reason = reasonOf(bo.beresp.status);
        log.put(Tag.BerespReason, bo.beresp.reason);
      }
      return got;
    }
    const again = connection.wasStale && mayRepeat && tries === 0;
    if (failure.bogus !== '') log.put(Tag.BogoHeader, failure.bogus);
    if (failure.garbage !== null) {
      log.putBytes(Tag.HttpGarbage, failure.garbage, 0, failure.garbage.length);
      log.put(Tag.BerespStatus, '503');
      log.put(Tag.BerespReason, 'Service Unavailable');
    }
    const waited = connection.reused && failure.reason === 'first-byte-timeout';
    log.put(Tag.FetchError, waited ? `${failure.text} (reused connection)` : failure.text);
    if (failure.reason === 'request-body') log.timestamp('Bereq', core.clock.now());
    got.end(bo, failure.close);
    if (!again) return null;
    core.stats.backend_retry++;
  }
}

/** The backend that the director of this fetch names now; null when it names none, which is logged. */
export function resolve(bo: BusyObj): Backend | null {
  let found = bo.backend;
  for (let depth = 0; found !== null && depth < MAX_DIRECTORS; depth++) {
    found = found.resolve(bo.ctx);
    if (found instanceof Backend) return found;
  }
  const none = bo.backend === null || bo.backend instanceof Backend;
  bo.log.put(Tag.FetchError, none ? 'No backend' : `Director ${bo.backend?.vclName} returned no backend`);
  return null;
}

/** A request without Host gets the backend's (RFC 9112 section 3.2). */
export function addHost(bo: BusyObj, backend: Backend): void {
  if (bo.bereq.has('host')) return;
  const host = backend.decl.hostHeader ?? backend.decl.host;
  bo.bereq.add('Host', host ?? '0.0.0.0', 'host');
}

/** Announces a connection in the log; null when there is none, which is logged too. */
function announce(
  bo: BusyObj,
  backend: Backend,
  got: OriginConnection | OriginFailure,
): OriginConnection | null {
  const { core, log } = bo;
  if (got instanceof OriginFailure) {
    log.put(Tag.FetchError, got.text);
    return null;
  }
  log.timestamp('Connected', core.clock.now());
  bo.respEnds = got.ends;
  log.put(Tag.BackendOpen, got.ends.openText(backend.vclName, got.reused));
  return got;
}

/** How the request's body will be framed, with the one field that says so (SAFETY rule 1). */
function frameBody(bo: BusyObj): BodyFraming {
  const { bereq, body } = bo;
  if (body === null) {
    const length = bereq.get('content-length');
    if (length !== null && length !== '0') bereq.unset('content-length');
    return NO_BODY;
  }
  if (body.chunked) {
    bereq.unset('content-length');
    bereq.set('Transfer-Encoding', 'chunked');
    return CHUNKED;
  }
  if (bereq.get('content-length') !== String(body.length)) bereq.set('Content-Length', String(body.length));
  return { kind: 'length', length: body.length };
}

/** The request's head, behind what goes ahead of it. */
function requestBytes(lead: Buffer | null, bereq: HttpMessage): Buffer {
  const from = lead?.length ?? 0;
  const bytes = Buffer.allocUnsafe(from + headSize(bereq));
  lead?.copy(bytes);
  return bytes.subarray(0, from + writeRequestHead(bytes, from, bereq));
}

/** Sends head and body, then waits for the answer's head. */
function talk(
  bo: BusyObj,
  backend: Backend,
  connection: OriginConnection,
  framing: BodyFraming,
): Promise<OriginFailure | null> {
  const { core, bereq, log, body } = bo;
  connection.sendHead(requestBytes(backend.requestLead(bo.session), bereq), framing);
  const timeout = bo.firstByteTimeout >= 0 ? bo.firstByteTimeout : backend.firstByteTimeout;
  bo.beresp.reset();
  if (body === null) {
    connection.endBody();
    core.stats.backend_req++;
    log.timestamp('Bereq', core.clock.now());
    return connection.readHead(bo.beresp, timeout, bo.onInterim);
  }
  return upload(bo, connection, body, timeout);
}

/** The client's body goes out while an early answer may already come in. */
async function upload(
  bo: BusyObj,
  connection: OriginConnection,
  body: BodySource,
  timeout: number,
): Promise<OriginFailure | null> {
  bo.bodySent = !body.replayable;
  const failure = await sendBody(connection, body, timeout);
  if (failure !== null) {
    connection.destroy();
    if (failure !== 'request-body') return new OriginFailure(failure);
    // Two records where one would do, and the second lacks a parenthesis: scripts look for them as they are.
    bo.log.put(Tag.FetchError, 'req.body read error: 0 (Success)');
    return new OriginFailure(failure, '', 'backend write error: 0 (Success) (Error transaction');
  }
  // A body that was given up is never ended: the origin must not take it for whole (SAFETY rule 3).
  if (body.complete) connection.endBody();
  bo.core.stats.backend_req++;
  bo.log.timestamp('Bereq', bo.core.clock.now());
  return connection.readHead(bo.beresp, timeout, bo.onInterim);
}
