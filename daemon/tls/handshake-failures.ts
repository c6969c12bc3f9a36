// Causes of failed handshakes: a text and a counter for each of OpenSSL's names.

import type { TlsCounterName } from '../../protocol/tables/counters.ts';

export type FailureCounter = Extract<TlsCounterName, `failed_${string}`>;

interface FailureRow {
  /** OpenSSL's reason, or the beginning of some. */
  readonly reason: RegExp;
  readonly counter: FailureCounter;
  /** Null: the reason itself in plain letters. */
  readonly words: string | null;
}

// biome-ignore format: a row is a line
const ROWS: readonly FailureRow[] = [
  { reason: /ALERT_UNKNOWN_CA/, counter: 'failed_alert', words: 'the client does not know the authority of the certificate' },
  { reason: /ALERT_CERTIFICATE_EXPIRED/, counter: 'failed_alert', words: 'the client finds the certificate expired' },
  { reason: /ALERT_(BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE)/, counter: 'failed_alert', words: 'the client does not accept the certificate' },
  { reason: /ALERT_PROTOCOL_VERSION/, counter: 'failed_alert', words: 'the client speaks none of our versions of TLS' },
  { reason: /ALERT/, counter: 'failed_alert', words: null },
  { reason: /PEER_DID_NOT_RETURN_A_CERTIFICATE/, counter: 'failed_client_cert', words: 'the client has shown no certificate' },
  { reason: /CERTIFICATE_VERIFY_FAILED/, counter: 'failed_client_cert', words: 'the certificate of the client is not valid' },
  { reason: /UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|WRONG_VERSION_NUMBER|UNKNOWN_PROTOCOL/, counter: 'failed_protocol', words: 'the client speaks none of our versions of TLS' },
  { reason: /NO_SHARED_CIPHER|NO_SUITABLE|NO_CIPHERS|INAPPROPRIATE_FALLBACK/, counter: 'failed_protocol', words: 'no cipher, group or signature in common' },
  { reason: /NO_APPLICATION_PROTOCOL/, counter: 'failed_protocol', words: 'no protocol of ALPN in common' },
  { reason: /HTTP_REQUEST/, counter: 'failed_plain', words: 'a plain HTTP request' },
];

export interface HandshakeFailure {
  readonly counter: FailureCounter;
  readonly words: string;
}

/** Why OpenSSL ended a handshake. */
export function failureOf(error: Error & { code?: string; reason?: string }): HandshakeFailure {
  const reason = (error.code ?? '').replace(/^ERR_SSL_/, '') || 'OTHER';
  const plain = (error.reason ?? reason.replaceAll('_', ' ')).toLowerCase();
  const row = ROWS.find((each) => each.reason.test(reason));
  if (row === undefined) return { counter: 'failed_other', words: plain };
  return { counter: row.counter, words: row.words === null ? plain : `${row.words} (${plain})` };
}
