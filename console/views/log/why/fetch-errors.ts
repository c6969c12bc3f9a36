// What went wrong with a fetch, in plain words: the daemon's text on the left, an operator's sentence on the right.

export interface FetchErrorRow {
  pattern: RegExp;
  sentence: string;
  hint: string;
}

const FETCH_ERRORS: readonly FetchErrorRow[] = [
  {
    pattern: /unhealthy/i,
    sentence: 'the backend is sick',
    hint: 'The Backends view (4) shows its probes.',
  },
  {
    pattern: /busy/i,
    sentence: 'the backend has as many connections as it may',
    hint: 'See .max_connections.',
  },
  {
    pattern: /helddown/i,
    sentence: 'a connection was refused a moment ago and another is not tried yet',
    hint: 'See backend_remote_error_holddown.',
  },
  {
    pattern: /ECONNREFUSED|errno 111|refused/i,
    sentence: 'the backend refused the connection',
    hint: 'Is it running, on this address and port?',
  },
  {
    pattern: /ETIMEDOUT|errno 110|connect.*timeout/i,
    sentence: 'the connection could not be made in time',
    hint: 'See connect_timeout; a firewall may drop what it should refuse.',
  },
  {
    pattern: /ENETUNREACH|EHOSTUNREACH/i,
    sentence: 'the network of the backend cannot be reached',
    hint: '',
  },
  {
    pattern: /first byte timeout/i,
    sentence: 'the backend did not begin to answer in time',
    hint: 'See first_byte_timeout.',
  },
  {
    pattern: /between bytes timeout/i,
    sentence: 'the backend stopped in the middle of its answer',
    hint: 'See between_bytes_timeout.',
  },
  {
    pattern: /HTC eof/i,
    sentence: 'the backend closed the connection instead of answering',
    hint: 'Look into its own log: it may have crashed.',
  },
  {
    pattern: /HTC overflow/i,
    sentence: 'the head of the answer is larger than it may be',
    hint: 'See http_resp_size.',
  },
  {
    pattern: /Fetch filter esi\w* failed to open/,
    sentence: 'the program wants ESI on a part of a page (206), which cannot be read without the rest',
    hint: 'Unset bereq.http.Range in vcl_backend_fetch, or leave do_esi off where beresp.status is 206.',
  },
  { pattern: /gunzip|gzip/i, sentence: 'the compressed body is damaged', hint: '' },
  {
    pattern: /http (format|read) error|bad chunk|malformed|Invalid/i,
    sentence: 'the answer is not valid HTTP',
    hint: '',
  },
  { pattern: /No backend|no director|backend_hint/i, sentence: 'no backend was chosen or left', hint: '' },
  {
    pattern: /storage|space/i,
    sentence: 'there is no room to store the body',
    hint: 'The Storage view (8) shows what is full.',
  },
  { pattern: /straight insufficient|eof|truncated/i, sentence: 'the answer ended too early', hint: '' },
  { pattern: /resource|Resource temporarily/i, sentence: 'the connection broke while it was read', hint: '' },
];

export function explainFetchError(text: string): FetchErrorRow {
  return (
    FETCH_ERRORS.find((row) => row.pattern.test(text)) ?? {
      pattern: /./,
      sentence: `the fetch failed: ${text}`,
      hint: '',
    }
  );
}
