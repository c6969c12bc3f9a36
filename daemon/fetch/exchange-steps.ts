// The steps of a fetch from the choice of a backend to the head of the answer.
// A kept connection that the origin had closed is replaced once, and only where sending the request twice can do no
// harm (RFC 9110 section 9.2.2): never after a body.

import { Tag } from '../../protocol/tables/tags.ts';
import { Backend } from '../backend/backend.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { OriginFailure, uploadFailure } from '../backend/origin-failure.ts';
import type { Piece } from '../flow/piece.ts';
import { type BodyFraming, CHUNKED, NO_BODY } from '../http1/framing.ts';
import { requestHeadLength, writeRequestHead } from '../http1/head-writer.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import type { HttpMessage } from '../http1/message.ts';
import { isRequestLine } from '../http1/start-line.ts';
import { reasonOf } from '../http1/status-reasons.ts';
import { NO_ERROR } from '../system-error.ts';
import type { Core } from '../transaction/core.ts';
import { PARKED, type Step, waitFor } from '../transaction/drive.ts';
import type { UploadSource } from '../transaction/request-body.ts';
import type { BusyObj } from './busyobj.ts';
import type { FetchAttempt } from './fetch-attempt.ts';
import { ACQUIRE, ANSWERED, CHOOSE, CONNECTED, RESPOND, SENT, UNANSWERED } from './fetch-steps.ts';
import { sendBody } from './upload.ts';
import { chooseUploadFilters, openUploadFilters, type UploadFilters } from './upload-filters.ts';

/** Directors in a row at most. */
const MAX_DIRECTORS = 100;
/** How often a fragment ahead of its turn looks for a connection that can be spared, and milliseconds in between. */
const WAITS = 100;
const WAIT = 20;
const SAFE_TO_REPEAT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** Text of the FetchError record of a head that did not come. */
function failureText({ ctx }: BusyObj, { reason, text }: OriginFailure, reused: boolean): string {
  if (reason === 'first-byte-timeout' && reused) return `${text} (reused connection)`;
  if (reason === 'closed-before-head' && ctx.vcl.changes.endOfInputWords)
    return 'HTC eof (Unexpected end of input)';
  return text;
}

/** Finds out where bereq goes, once its director knows, and begins to connect. */
export function connect(bo: BusyObj): Step<BusyObj> {
  const backend = chosen(bo);
  if (backend !== null) return connectTo(bo, backend);
  const pending = pendingChoice(bo);
  if (pending === null) {
    lacksBackend(bo);
    return UNANSWERED;
  }
  return waitFor(bo, (proceed) => void pending.then(() => proceed(CHOOSE)));
}

/** Begins to connect to the backend that the director names now. */
export function connectNow(bo: BusyObj): Step<BusyObj> {
  const backend = resolve(bo);
  return backend === null ? UNANSWERED : connectTo(bo, backend);
}

function connectTo(bo: BusyObj, backend: Backend): Step<BusyObj> {
  const { log, bereq } = bo;
  if (bo.body?.started === true) {
    // An earlier fetch of a restarted request took it: an empty one would look like all of it (SAFETY rule 3).
    log.put(Tag.FetchError, 'Request body was read before');
    return UNANSWERED;
  }
  if (!isRequestLine(bereq.method, bereq.url)) {
    log.put(Tag.FetchError, 'Illegal request line');
    return UNANSWERED;
  }
  const list = chooseUploadFilters(bo);
  if (list === false) return UNANSWERED;
  bo.respBackend = backend;
  addHost(bo, backend);
  bo.attempt.backend = backend;
  bo.attempt.uploadList = list;
  return acquire(bo, backend);
}

/** Goes on with a fetch that has waited for a connection. */
export function acquireLater(bo: BusyObj): Step<BusyObj> {
  return acquire(bo, bo.attempt.backend as Backend);
}

function acquire(bo: BusyObj, backend: Backend): Step<BusyObj> {
  const { attempt, core, log, place } = bo;
  // Ahead of its turn a fragment never takes the last connection: what is in turn would fail for want of one. It does
  // not wait forever, since others may wait for the object.
  if (place?.isInTurn === false && !backend.hasSpare && attempt.waits < WAITS) {
    attempt.waits++;
    setTimeout(() => bo.resume(ACQUIRE), WAIT);
    return PARKED;
  }
  const opened = backend.acquire({
    connectTimeout: bo.connectTimeout,
    now: attempt.tries > 0 ? core.clock.now() : log.tPrev,
    fresh: attempt.tries > 0,
    client: bo.session,
  });
  if (!(opened instanceof Promise)) {
    // A kept connection is there at once: nothing to wait for.
    attempt.opened = opened;
    return CONNECTED;
  }
  awaitConnection(bo, opened);
  return PARKED;
}

/** Apart from acquire(): what it closes over would be made for kept connections, too. */
function awaitConnection(bo: BusyObj, opened: Promise<OriginConnection | OriginFailure>): void {
  const { attempt } = bo;
  opened.then(
    (got) => {
      attempt.opened = got;
      bo.resume(CONNECTED);
    },
    (error: unknown) => {
      attempt.defect = error;
      bo.resume(CONNECTED);
    },
  );
}

/** Sends head and body, then waits for the answer's head. */
export function connected(bo: BusyObj): Step<BusyObj> {
  const { attempt, core, bereq, log, body } = bo;
  const backend = attempt.backend as Backend;
  throwDefect(attempt);
  const connection = announce(bo, backend, attempt.opened as OriginConnection | OriginFailure);
  attempt.opened = null;
  attempt.connection = connection;
  if (connection === null) return UNANSWERED;
  attempt.uploadFilters ??= openUploadFilters(bo, attempt.uploadList);
  attempt.uploadFraming ??= frameBody(bo, attempt.uploadFilters);
  const head = requestBytes(core, backend.requestLead(bo.session), bereq);
  connection.sendHead(head, attempt.uploadFraming);
  // The request announced it, and the origin may rely on it.
  if (connectionHas(bereq, 'close')) connection.closeBecause('REQ_CLOSE');
  bo.beresp.reset();
  if (body !== null) return upload(bo, connection, body);
  connection.endBody();
  core.stats.backend_req++;
  log.timestamp('Bereq', core.clock.now());
  return awaitHead(bo);
}

/** The client's body goes out while an early answer may already come in. */
function upload(bo: BusyObj, connection: OriginConnection, body: UploadSource): Step<BusyObj> {
  const { attempt } = bo;
  const filters = attempt.uploadFilters as UploadFilters;
  if (filters.isUnreadable) {
    attempt.bodyFailure = 'request-body';
    return SENT;
  }
  bo.bodySent = !body.replayable;
  sendBody(
    connection,
    body,
    firstByteTimeout(bo, attempt.backend as Backend),
    filters.chains,
    bo.core.stepChecks !== null,
  ).then(
    ({ failure, isWhole }) => {
      attempt.bodyFailure = failure;
      attempt.isBodyWhole = isWhole;
      filters.report();
      bo.resume(SENT);
    },
    (error: unknown) => {
      attempt.defect = error;
      bo.resume(SENT);
    },
  );
  return PARKED;
}

/** The client's body is gone, or has broken off. */
export function sent(bo: BusyObj): Step<BusyObj> {
  const { attempt, log, core, body } = bo;
  const connection = attempt.connection as OriginConnection;
  bo.bodyDone();
  throwDefect(attempt);
  if (attempt.bodyFailure !== null) {
    connection.destroy();
    const reason = attempt.bodyFailure;
    attempt.failure =
      reason === 'request-body' ? uploadFailure(reason, body?.error ?? NO_ERROR) : new OriginFailure(reason);
    return ANSWERED;
  }
  if (connection.failure?.reason === 'send-failed') {
    attempt.failure = connection.failure;
    return ANSWERED;
  }
  // A body that was given up is never ended: the origin must not take it for whole (SAFETY rule 3).
  const isCut = attempt.uploadFilters?.chains.length !== 0 && !attempt.isBodyWhole;
  if (body?.complete === true && !isCut) connection.endBody();
  core.stats.backend_req++;
  log.timestamp('Bereq', core.clock.now());
  return awaitHead(bo);
}

/** The head is in beresp, or what went wrong is logged and perhaps tried again. */
export function answered(bo: BusyObj): Step<BusyObj> {
  const { core, log, beresp, attempt } = bo;
  const { failure } = attempt;
  const connection = attempt.connection as OriginConnection;
  if (failure === null) {
    if (beresp.reason === '') {
      beresp.reason = reasonOf(beresp.status);
      log.put(Tag.BerespReason, beresp.reason);
    }
    return RESPOND;
  }
  if (failure.bogus !== '') log.put(Tag.BogoHeader, failure.bogus);
  if (failure.garbage !== null) {
    log.putBytes(Tag.HttpGarbage, failure.garbage, 0, failure.garbage.length);
    log.put(Tag.BerespStatus, '503');
    log.put(Tag.BerespReason, 'Service Unavailable');
  }
  if (failure.detail !== '') log.put(Tag.FetchError, failure.detail);
  log.put(Tag.FetchError, failureText(bo, failure, connection.reused));
  if (failure.reason === 'request-body' || failure.reason === 'send-failed')
    log.timestamp('Bereq', core.clock.now());
  const mayRepeat = SAFE_TO_REPEAT.has(bo.bereq.method) && (bo.body === null || bo.body.replayable);
  const again = connection.wasStale && mayRepeat && bo.retryConnect && attempt.tries === 0;
  attempt.end(failure.close);
  if (!again) return UNANSWERED;
  core.stats.backend_retry++;
  attempt.tries++;
  return acquire(bo, attempt.backend as Backend);
}

/** Waits for what may have come already. */
function awaitHead(bo: BusyObj): Step<BusyObj> {
  const firstByte = firstByteTimeout(bo, bo.attempt.backend as Backend);
  return bo.attempt.awaitHead(firstByte, () => bo.resume(ANSWERED)) ? ANSWERED : PARKED;
}

function throwDefect(attempt: FetchAttempt): void {
  const { defect } = attempt;
  attempt.defect = null;
  if (defect !== null) throw defect;
}

function firstByteTimeout(bo: BusyObj, backend: Backend): number {
  return bo.firstByteTimeout >= 0 ? bo.firstByteTimeout : backend.firstByteTimeout;
}

/** The backend that the director of this fetch names now; null when it names none. */
export function chosen(bo: BusyObj): Backend | null {
  let found = bo.backend;
  for (let depth = 0; found !== null && depth < MAX_DIRECTORS; depth++) {
    found = found.resolve(bo.ctx);
    if (found instanceof Backend) return found;
  }
  return null;
}

/** Settles when a director that has named nothing may name a backend; null where there is nothing to wait for. */
export function pendingChoice(bo: BusyObj): Promise<void> | null {
  return bo.backend?.pending?.(bo.ctx) ?? null;
}

/** The same; logs an error if there is none. */
export function resolve(bo: BusyObj): Backend | null {
  const found = chosen(bo);
  if (found === null) lacksBackend(bo);
  return found;
}

/** Logs that no backend was named. */
function lacksBackend(bo: BusyObj): void {
  const none = bo.backend === null || bo.backend instanceof Backend;
  bo.log.put(Tag.FetchError, none ? 'No backend' : `Director ${bo.backend?.vclName} returned no backend`);
}

/** A request without Host gets the backend's (RFC 9112 section 3.2). */
export function addHost(bo: BusyObj, backend: Backend): void {
  if (bo.bereq.has('host')) return;
  const host = backend.decl.hostHeader ?? backend.decl.host;
  bo.bereq.add('Host', host ?? '0.0.0.0', 'host');
}

/** Logs the connection, or why there is none; returns null then. */
function announce(
  bo: BusyObj,
  backend: Backend,
  got: OriginConnection | OriginFailure,
): OriginConnection | null {
  const { core, log } = bo;
  if (got instanceof OriginFailure) {
    if (got.reason === 'tls') log.put(Tag.BackendSSL, got.text.slice('backend '.length));
    log.put(Tag.FetchError, got.text);
    return null;
  }
  // A kept connection is there in the moment of the Fetch.
  log.timestamp('Connected', got.reused ? log.tPrev : core.clock.now());
  bo.attempt.respEnds = got.ends;
  bo.attempt.respTls = got.tls;
  if (got.reused && bo.ctx.vcl.changes.backendOpenAge)
    log.put(Tag.BackendOpen, `${got.ends.openText(backend.vclName, true)} ${got.ageText(core.clock.now())}`);
  else if (got.reused) log.putConstant(got.ends.recordsFor(backend.vclName).open);
  else log.put(Tag.BackendOpen, got.ends.openText(backend.vclName, false));
  if (got.tls !== null && !got.reused) log.put(Tag.BackendSSL, got.tls.recordText(backend.vclName));
  if (log.wants(Tag.BackendStart)) log.put(Tag.BackendStart, got.ends.startText);
  return got;
}

/** The framing of the request's body; sets the one header for it (SAFETY rule 1). */
function frameBody(bo: BusyObj, filters: UploadFilters): BodyFraming {
  const { bereq, body } = bo;
  if (body !== null && filters.length < 0) {
    bereq.unset('content-length');
    bereq.set('Transfer-Encoding', 'chunked');
    return CHUNKED;
  }
  // Whatever the program has set: one reading only (SAFETY rule 1).
  bereq.unset('transfer-encoding');
  const length = bereq.getAll('content-length');
  if (body === null) {
    if (length !== null && length !== '0') bereq.unset('content-length');
    return NO_BODY;
  }
  if (length !== String(filters.length)) bereq.set('Content-Length', String(filters.length));
  return { kind: 'length', length: filters.length };
}

/** The request's head, after a PROXY preamble where there is one, in the worker's shared output buffer. */
function requestBytes(core: Core, lead: Buffer | null, bereq: HttpMessage): Piece {
  const from = lead?.length ?? 0;
  const length = from + requestHeadLength(bereq);
  const out = core.output(length);
  lead?.copy(out);
  writeRequestHead(out, from, bereq);
  return core.outputPiece(out, 0, length);
}
