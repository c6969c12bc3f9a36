// Why a session, a backend connection or an exchange ended: closed unions that travel to the log instead of
// booleans. SESS_CLOSE names are the ones SessClose and BackendClose records carry, as vsl(7) lists them; positions
// are ids and append only. FETCH_FAILURES are the reasons a fetch can fail before or while a body is read.

export interface CloseReasonRow {
  readonly name: string;
  /** Whether the end counts as an error (MAIN.sess_closed_err). */
  readonly error: boolean;
  readonly help: string;
}

export const CLOSE_REASONS = [
  { name: 'REM_CLOSE', error: false, help: 'The peer closed the connection' },
  { name: 'REQ_CLOSE', error: false, help: 'The request asked for the connection to be closed' },
  { name: 'REQ_HTTP10', error: true, help: 'An HTTP/1.0 request without keep-alive' },
  { name: 'RX_BAD', error: true, help: 'A request could not be accepted, or reading it failed' },
  { name: 'RX_BODY', error: true, help: 'Reading the request body failed' },
  { name: 'RX_JUNK', error: true, help: 'Received bytes that are no HTTP message' },
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
] as const satisfies readonly CloseReasonRow[];

export type CloseReason = (typeof CLOSE_REASONS)[number]['name'];

export interface FetchFailureRow {
  readonly name: string;
  /** Text of the FetchError record; the backend's name is put before it where `named` is set. */
  readonly text: string;
  readonly named: boolean;
  /** Close reason of the origin connection. */
  readonly close: CloseReason;
  readonly help: string;
}

const FETCH_FAILURES = [
  {
    name: 'refused',
    text: 'fail errno 111 (Connection refused)',
    named: true,
    close: 'RX_BAD',
    help: 'Nothing listens at the backend address',
  },
  {
    name: 'unreachable',
    text: 'fail errno 113 (No route to host)',
    named: true,
    close: 'RX_BAD',
    help: 'No route to the backend address',
  },
  {
    name: 'connect-timeout',
    text: 'fail errno 110 (Connection timed out)',
    named: true,
    close: 'RX_TIMEOUT',
    help: 'The backend did not accept the connection in time',
  },
  {
    name: 'connect-failed',
    text: 'fail',
    named: true,
    close: 'RX_BAD',
    help: 'The connection could not be made for another reason',
  },
  {
    name: 'unresolved',
    text: 'fail (no address)',
    named: true,
    close: 'RX_BAD',
    help: 'The host name of the backend has no address',
  },
  {
    name: 'busy',
    text: 'busy',
    named: true,
    close: 'OVERLOAD',
    help: 'max_connections of the backend are in use',
  },
  { name: 'unhealthy', text: 'unhealthy', named: true, close: 'RX_BAD', help: 'The backend is sick' },
  {
    name: 'no-backend',
    text: 'No backend',
    named: false,
    close: 'RX_BAD',
    help: 'The program chose no backend, or `none`',
  },
  {
    name: 'send-failed',
    text: 'backend write error',
    named: false,
    close: 'TX_ERROR',
    help: 'The request could not be sent',
  },
  {
    name: 'first-byte-timeout',
    text: 'first byte timeout',
    named: false,
    close: 'RX_TIMEOUT',
    help: 'No response head within first_byte_timeout',
  },
  {
    name: 'between-bytes-timeout',
    text: 'Resource temporarily unavailable',
    named: false,
    close: 'RX_TIMEOUT',
    help: 'The response stalled for between_bytes_timeout',
  },
  {
    name: 'closed-before-head',
    text: 'HTC eof (-1)',
    named: false,
    close: 'RX_BAD',
    help: 'The backend closed before its response head was complete',
  },
  {
    name: 'head-overflow',
    text: 'overflow',
    named: false,
    close: 'RX_OVERFLOW',
    help: 'The response head is larger than http_resp_size',
  },
  {
    name: 'bad-head',
    text: 'http format error',
    named: false,
    close: 'RX_JUNK',
    help: 'The response head breaks the grammar',
  },
  {
    name: 'interim-flood',
    text: 'too many interim responses',
    named: false,
    close: 'RX_OVERFLOW',
    help: 'Too many 1xx responses before the final one',
  },
  {
    name: 'switching',
    text: 'unasked 101 response',
    named: false,
    close: 'RX_JUNK',
    help: 'The backend switched protocols without being asked',
  },
  {
    name: 'bad-framing',
    text: 'Body cannot be fetched',
    named: false,
    close: 'RX_BODY',
    help: 'Content-Length or Transfer-Encoding of the response have no single reading',
  },
  {
    name: 'bad-chunk',
    text: 'chunked encoding error',
    named: false,
    close: 'RX_BODY',
    help: 'The chunked body breaks the grammar',
  },
  {
    name: 'short-body',
    text: 'straight insufficient bytes',
    named: false,
    close: 'RX_BODY',
    help: 'The backend closed before the body was complete',
  },
  {
    name: 'reset',
    text: 'eof socket fail',
    named: false,
    close: 'RX_BODY',
    help: 'The connection broke while the body was read',
  },
  {
    name: 'aborted',
    text: 'aborted',
    named: false,
    close: 'TX_ERROR',
    help: 'This side gave the exchange up',
  },
  {
    name: 'storage',
    text: 'Could not get storage',
    named: false,
    close: 'RX_OVERFLOW',
    help: 'The object does not fit into its storage',
  },
  {
    name: 'bad-gzip',
    text: 'Invalid gzip body',
    named: false,
    close: 'RX_BODY',
    help: 'A gzipped body is corrupt or cut short',
  },
  {
    name: 'request-body',
    text: 'req.body read error',
    named: false,
    close: 'TX_ERROR',
    help: 'The body of the client request could not be read to its end',
  },
  {
    name: 'no-reader',
    text: 'client went away',
    named: false,
    close: 'RX_BODY',
    help: 'The only client of an uncacheable response has left',
  },
] as const satisfies readonly FetchFailureRow[];

export type FetchFailure = (typeof FETCH_FAILURES)[number]['name'];

/** The row of a failure. */
export function fetchFailure(name: FetchFailure): FetchFailureRow {
  return FETCH_FAILURES.find((row) => row.name === name) as FetchFailureRow;
}
