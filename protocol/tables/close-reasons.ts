// Why a session, a backend connection or an exchange ended: closed unions that are carried to the log instead of
// booleans. SESS_CLOSE names are those in SessClose and BackendClose records, as listed in vsl(7); positions are ids
// and append only. FETCH_FAILURES are the reasons why a fetch can fail before or while a body is read.

export interface CloseReasonRow {
  readonly name: string;
  /** Does the end count as an error (MAIN.sess_closed_err)? */
  readonly error: boolean;
  readonly help: string;
}

export const CLOSE_REASONS = [
  { name: 'REM_CLOSE', error: false, help: 'The peer closed the connection' },
  { name: 'REQ_CLOSE', error: false, help: 'The request asked for the connection to be closed' },
  { name: 'REQ_HTTP10', error: true, help: 'An HTTP/1.0 request without keep-alive' },
  { name: 'RX_BAD', error: true, help: 'A request could not be accepted, or reading it failed' },
  { name: 'RX_BODY', error: true, help: 'Reading the request body failed' },
  { name: 'RX_JUNK', error: true, help: 'Received bytes that are not an HTTP message' },
  { name: 'RX_OVERFLOW', error: true, help: 'Received more than the buffers may hold' },
  { name: 'RX_TIMEOUT', error: true, help: 'The peer did not send in time' },
  { name: 'RX_CLOSE_IDLE', error: false, help: 'Closed after waiting idle for the next request' },
  { name: 'TX_PIPE', error: false, help: 'A piped connection has ended' },
  { name: 'TX_ERROR', error: true, help: 'Sending to the peer failed' },
  { name: 'TX_EOF', error: false, help: 'The end of the connection marks the end of the body' },
  { name: 'RESP_CLOSE', error: false, help: 'The response asked for the connection to be closed' },
  { name: 'OVERLOAD', error: true, help: 'Too little of a resource was left' },
  { name: 'PIPE_OVERFLOW', error: true, help: 'The limit on piped connections was reached' },
  { name: 'RANGE_SHORT', error: true, help: 'Too few bytes for the range that was promised' },
  { name: 'REQ_HTTP20', error: true, help: 'HTTP/2 was asked for and is not accepted' },
  { name: 'VCL_FAILURE', error: true, help: 'The config program failed' },
  { name: 'RAPID_RESET', error: true, help: 'Requests of HTTP/2 were taken back too often' },
  { name: 'BANKRUPT', error: true, help: 'A client of HTTP/2 left no window for its responses' },
] as const satisfies readonly CloseReasonRow[];

export type CloseReason = (typeof CLOSE_REASONS)[number]['name'];

export interface FetchFailureRow {
  readonly name: string;
  /** Text of the FetchError record; preceded by the backend's name if `named` is set. */
  readonly text: string;
  readonly named: boolean;
  /** Close reason of the origin connection. */
  readonly close: CloseReason;
  readonly help: string;
}

function failure<const N extends string>(
  name: N,
  text: string,
  named: boolean,
  close: CloseReason,
  help: string,
): FetchFailureRow & { readonly name: N } {
  return { name, text, named, close, help };
}

// biome-ignore format: a row is a line
const FETCH_FAILURES = [
  failure('refused', 'fail errno 111 (Connection refused)', true, 'RX_BAD', 'Nothing listens at the backend address'),
  failure('unreachable', 'fail errno 113 (No route to host)', true, 'RX_BAD', 'No route to the backend address'),
  failure('connect-timeout', 'fail errno 110 (Connection timed out)', true, 'RX_TIMEOUT', 'The backend did not accept the connection in time'),
  failure('connect-failed', 'fail', true, 'RX_BAD', 'The connection could not be made for another reason'),
  failure('tls', 'TLS failed', true, 'RX_BAD', 'The TLS handshake with the backend failed, or its certificate was not accepted'),
  failure('unresolved', 'fail (no address)', true, 'RX_BAD', 'The host name of the backend has no address'),
  failure('busy', 'busy', true, 'OVERLOAD', 'max_connections of the backend are in use'),
  failure('unhealthy', 'unhealthy', true, 'RX_BAD', 'The backend is sick'),
  failure('no-backend', 'No backend', false, 'RX_BAD', 'The program chose no backend, or `none`'),
  failure('send-failed', 'backend write error', false, 'TX_ERROR', 'The request could not be sent'),
  failure('first-byte-timeout', 'first byte timeout', false, 'RX_TIMEOUT', 'No response head within first_byte_timeout'),
  failure('between-bytes-timeout', 'Resource temporarily unavailable', false, 'RX_TIMEOUT', 'The response stalled for between_bytes_timeout'),
  failure('closed-before-head', 'HTC eof (-1)', false, 'RX_BAD', 'The backend closed before its response head was complete'),
  failure('head-overflow', 'overflow', false, 'RX_OVERFLOW', 'The response head is larger than http_resp_size'),
  failure('bad-head', 'http format error', false, 'RX_JUNK', 'The response head breaks the grammar'),
  failure('interim-flood', 'too many interim responses', false, 'RX_OVERFLOW', 'Too many 1xx responses before the final one'),
  failure('switching', 'unasked 101 response', false, 'RX_JUNK', 'The backend switched protocols without being asked'),
  failure('bad-framing', 'Body cannot be fetched', false, 'RX_BODY', 'Content-Length or Transfer-Encoding of the response have no single reading'),
  failure('bad-chunk', 'chunked encoding error', false, 'RX_BODY', 'The chunked body breaks the grammar'),
  failure('short-body', 'straight insufficient bytes', false, 'RX_BODY', 'The backend closed before the body was complete'),
  failure('reset', 'eof socket fail', false, 'RX_BODY', 'The connection broke while the body was read'),
  failure('aborted', 'aborted', false, 'TX_ERROR', 'This side gave the exchange up'),
  failure('storage', 'Could not get storage', false, 'RX_OVERFLOW', 'The object does not fit into its storage'),
  failure('bad-gzip', 'Invalid gzip body', false, 'RX_BODY', 'A gzipped body is corrupt or cut short'),
  failure('request-body', 'req.body read error', false, 'TX_ERROR', 'The body of the client request could not be read to its end'),
  failure('no-reader', 'client went away', false, 'RX_BODY', 'The only client of an uncacheable response has left'),
] as const satisfies readonly FetchFailureRow[];

export type FetchFailure = (typeof FETCH_FAILURES)[number]['name'];

/** The row of a failure. */
export function fetchFailure(name: FetchFailure): FetchFailureRow {
  return FETCH_FAILURES.find((row) => row.name === name) as FetchFailureRow;
}
