// Why an exchange with an origin failed: a value with one reason of the closed list, never a thrown error, because the
// behaviour of an origin is input. Made by backend.ts and connection.ts, read by the fetch.

import { type CloseReason, type FetchFailure, fetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { BodyFraming } from '../http1/framing.ts';
import { errorMessage, errorText, NOTHING_CAME, type SystemError } from '../system-error.ts';

export class OriginFailure {
  readonly reason: FetchFailure;
  /** Text of the FetchError record. */
  readonly text: string;
  /** Text of a FetchError record before it: the system's error text, or ''. */
  readonly detail: string;
  /** Text of a BogoHeader record before both, or ''. */
  readonly bogus: string;
  /** Bytes that are not HTTP, for a HttpGarbage record; null for other failures. */
  garbage: Buffer | null = null;
  /** Text of the Error record that names the rule that the response broke, or ''. */
  refusal = '';
  /** Reason of the BackendClose record. */
  readonly close: CloseReason;

  /**
   * @param backend name for texts that name the backend, or ''
   * @param text replaces the reason's own text
   * @param close replaces the reason's own close reason
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
 * The failure of a request body that could not be read from the client, or not be sent.
 * @param error the system's error for the connection that broke
 */
export function uploadFailure(reason: 'request-body' | 'send-failed', error: SystemError): OriginFailure {
  const text = errorText(error);
  const left = error.code === 'EPIPE';
  // Varnish writes two records, the second without a closing parenthesis; scripts match them as they are.
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
 * @param fault the error in the chunked coding
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
