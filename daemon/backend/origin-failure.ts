// Why an exchange with an origin failed: a value that carries one reason of the closed list, never a thrown error,
// because the behaviour of an origin is input. Made by backend.ts and connection.ts, read by the fetch.

import type { CloseReason, FetchFailure } from '../../protocol/tables/close-reasons.ts';
import { fetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { BodyFraming } from '../http1/framing.ts';

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
   */
  constructor(reason: FetchFailure, backend = '', text = '', bogus = '', detail = '') {
    const row = fetchFailure(reason);
    const body = text !== '' ? text : row.text;
    this.reason = reason;
    this.text = row.named && backend !== '' ? `backend ${backend}: ${body}` : body;
    this.detail = detail;
    this.bogus = bogus;
    this.close = row.close;
  }
}

/**
 * The failure of an incomplete body, with Varnish's FetchError text for its framing.
 * @param fault the error in the chunks, if it came in chunks
 */
export function bodyFailure(
  reason: FetchFailure,
  framing: BodyFraming['kind'],
  fault: string,
): OriginFailure {
  return new OriginFailure(reason, '', bodyText(reason, framing, fault), '', systemText(reason));
}

/** Varnish's FetchError text for an incomplete body, by its framing; '' for the reason's own text. */
function bodyText(reason: FetchFailure, framing: BodyFraming['kind'], fault: string): string {
  if (reason === 'bad-chunk') return fault;
  if (reason !== 'short-body' && reason !== 'reset' && reason !== 'between-bytes-timeout') return '';
  if (framing === 'chunked') return fault;
  return framing === 'length' ? 'straight insufficient bytes' : 'eof socket fail';
}

function systemText(reason: FetchFailure): string {
  if (reason === 'reset') return 'Connection reset by peer';
  return reason === 'between-bytes-timeout' ? 'Resource temporarily unavailable' : '';
}
