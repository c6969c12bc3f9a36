// Why an exchange with an origin failed: a value that carries one reason of the closed list, never a thrown error,
// because what an origin does is input. Made by backend.ts and connection.ts, read by the fetch.

import type { CloseReason, FetchFailure } from '../../protocol/tables/close-reasons.ts';
import { fetchFailure } from '../../protocol/tables/close-reasons.ts';

export class OriginFailure {
  readonly reason: FetchFailure;
  /** Text of the FetchError record. */
  readonly text: string;
  /** Text of another FetchError record that goes before it: the system's word for what happened, or ''. */
  readonly detail: string;
  /** Text of a BogoHeader record that goes before both, or ''. */
  readonly bogus: string;
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
