// Where proxyd differs from the field's daemon, case by case. KNOWN_DIFFERENCES are meant: each has its
// reason and what proxyd does instead. OPEN_DIFFERENCES are not meant, only not yet gone: their tests are
// skipped with the note while they last, and pass once they are gone. Every other case must be the same.

/** What a part is to be: exactly these lines, what a function makes of the reference's lines, or unchecked. */
export type Expected = string[] | ((reference: string[]) => string[]) | 'any';

export interface Difference {
  reason: string;
  /** A part that is not named must be the same. */
  client?: Expected;
  origin?: Expected;
  log?: Expected;
}

const OWN_PAGE = [
  'Date: DATE',
  'Server: PROXY',
  'X-Proxy-Id: x1',
  'Content-Type: text/html; charset=utf-8',
  'Retry-After: 5',
  'Content-Length: PAGE',
];

/** A refusal says that the connection ends with it (RFC 9112 section 9.6); the field just closes. */
const CLOSING: Difference = {
  reason: 'a refusal carries Connection: close',
  client: (reference) =>
    reference.flatMap((line) => (line.startsWith('body ') ? ['Connection: close', line] : [line])),
};

/** Framing errors are told by the rule that was broken, not by the first word of the request. */
const FRAMING: Difference = {
  ...CLOSING,
  reason: 'a refusal carries Connection: close, and the log names the broken framing rule',
  log: 'any',
};

export const KNOWN_DIFFERENCES: Record<string, Difference> = {
  'the preface of http/2': {
    reason: 'PRI is answered with a 405 of our own instead of a bare close',
    client: [
      'connect',
      'HTTP/1.1 405 Method Not Allowed',
      ...OWN_PAGE,
      'Connection: close',
      'body length HTML page',
      'closed',
    ],
    log: 'any',
  },
  'interim response first': {
    reason:
      '1xx responses before the final one are skipped (RFC 9110 section 15.2); the field fails the fetch',
    client: 'any',
    origin: (reference) => reference.slice(0, 1),
    log: 'any',
  },
  'if-none-match list': {
    reason: 'every tag of a list is compared, weakly (RFC 9110 section 13.1.2)',
    client: 'any',
    log: 'any',
  },
  'range of odd units': {
    reason: 'a range in unknown units is ignored (RFC 9110 section 14.2); the field answers 416',
    client: 'any',
    log: 'any',
  },
  'post in chunks': {
    reason: 'a chunked upload is accounted by its body, since the chunks toward the origin are our own',
    log: 'any',
  },
  'kept object is asked for conditionally': {
    reason:
      'after a 304 the life comes from the merged fields (RFC 9111 section 4.3.4), not from the 304 alone',
    log: 'any',
  },
  'two hosts': FRAMING,
  'two lengths': FRAMING,
  'length is no number': FRAMING,
  'length and chunks': FRAMING,
  'no version': CLOSING,
  'odd version': CLOSING,
  'no target': CLOSING,
  'blank before the colon': CLOSING,
  'line without a colon': CLOSING,
  'control character in a field': CLOSING,
  'too many fields': CLOSING,
  'a field of 10 kB': CLOSING,
  'unknown expectation': CLOSING,
};

/** Case names and what is still wrong. */
export const OPEN_DIFFERENCES: Record<string, string> = {};
