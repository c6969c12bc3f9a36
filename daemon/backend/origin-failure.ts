// Why an exchange with an origin failed: a value that carries one reason of the closed list, never a thrown error,
// because the behaviour of an origin is input. Made by backend.ts and connection.ts, read by the fetch.

import { type CloseReason, type FetchFailure, fetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { BodyFraming } from '../http1/framing.ts';
import { errorMessage, errorText, NOTHING_CAME, type SystemError } from '../system-error.ts';

export class OriginFailure {
  readonly reason: FetchFailure;
  /** Text of the FetchError record. */
  readonly text: string;
  /** Text of another FetchError record that goes before it: the system's error text, or ''. */
  readonly detail: string;
  /** Text of a BogoHeader record that goes before both, or ''. */
  readonly bogus: string;
  /** The bytes that are no HTTP, for a HttpGarbage record; null when the failure is another. */
  garbage: Buffer | null = null;
  /** Text of the Error record that says which rule the response broke, or ''. */
  refusal = '';
  /** Reason of the BackendClose record. */
  readonly close: CloseReason;

  /**
   * @param backend name put before texts that speak of the backend, or ''
   * @param text replaces the reason's own text
   * @param close replaces the reason's own
   */
  constructor(
    reason: FetchFailure,
    backend = '',
    text = '',
    bogus = '',
    detail = '',
    close: CloseReason | null = null,
  ) {
    const row = fetchFailure(reason);
    const body = text !== '' ? text : row.text;
    this.reason = reason;
    this.text = row.named && backend !== '' ? `backend ${backend}: ${body}` : body;
    this.detail = detail;
    this.bogus = bogus;
    this.close = close ?? row.close;
  }
}

/**
 * The failure of a request whose body could not be read from the client, or not be sent.
 * @param error what the system said of the connection that broke
 */
export function uploadFailure(reason: 'request-body' | 'send-failed', error: SystemError): OriginFailure {
  const text = errorText(error);
  const left = error.code === 'EPIPE';
  // Two records where one would do, and the second lacks a parenthesis: scripts look for them as they are.
  return new OriginFailure(
    reason,
    '',
    `backend write error: ${text} (${left ? 'Client Closed' : 'Error transaction'}`,
    '',
    `req.body read error: ${text}`,
    left ? 'REM_CLOSE' : 'TX_ERROR',
  );
}

/**
 * The failure of an incomplete body, with Varnish's FetchError text for its framing.
 * @param fault the error in the chunks, if it came in chunks
 * @param error how the connection broke, for the reason `reset`
 */
export function bodyFailure(
  reason: FetchFailure,
  framing: BodyFraming['kind'],
  fault: string,
  error: SystemError,
): OriginFailure {
  const detail =
    reason === 'reset'
      ? errorMessage(error)
      : reason === 'between-bytes-timeout'
        ? errorMessage(NOTHING_CAME)
        : '';
  return new OriginFailure(reason, '', bodyText(reason, framing, fault), '', detail);
}

/** Varnish's FetchError text for an incomplete body, by its framing; '' for the reason's own text. */
function bodyText(reason: FetchFailure, framing: BodyFraming['kind'], fault: string): string {
  if (reason === 'bad-chunk') return fault;
  if (reason !== 'short-body' && reason !== 'reset' && reason !== 'between-bytes-timeout') return '';
  if (framing === 'chunked') return fault;
  return framing === 'length' ? 'straight insufficient bytes' : 'eof socket fail';
}
