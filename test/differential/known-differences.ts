// Where proxyd differs from Varnish's daemon, case by case. KNOWN_DIFFERENCES are meant: each has its
// reason and what proxyd does instead. OPEN_DIFFERENCES are not meant, only not yet gone: their tests are
// skipped with the note while they last, and pass once they are gone. Every other case must be the same.

import { STRICT_DIFFERENCES } from './strict-cases.ts';

/** Expectation for a part: exactly these lines, a function of the reference's lines, or unchecked. */
export type Expected = string[] | ((reference: string[]) => string[]) | 'any';

export interface Difference {
  reason: string;
  /** A part that is not named must be the same. */
  client?: Expected;
  origin?: Expected;
  log?: Expected;
  /** The first response's status and reason, where `client` is free. */
  status?: string;
  /** The first response's status and reason that the reference gives instead. */
  instead?: string;
  /** A record of proxyd's log, and what else its line has. */
  says?: string;
  words?: string;
}

const OWN_PAGE = [
  'Date: DATE',
  'Server: PROXY',
  'X-Proxy-Id: x1',
  'Content-Type: text/html; charset=utf-8',
  'Retry-After: 5',
  'Content-Length: PAGE',
];

/** A refusal says that the connection ends with it (RFC 9112 section 9.6); Varnish just closes. */
const withClose = (reference: string[]): string[] =>
  reference.flatMap((line) => (line.startsWith('body ') ? ['Connection: close', line] : [line]));

/** A refusal that Varnish makes, too; the reason is a record of its own after those of Varnish. */
function closing(words: string, behind = '-- HttpGarbage'): Difference {
  return {
    reason: 'a refusal carries Connection: close, and the log says why',
    client: withClose,
    log: (reference) =>
      reference.flatMap((line) =>
        line.startsWith(behind) ? [line, `-- Error request refused: ${words}`] : [line],
      ),
  };
}

/** Framing errors are logged with the broken rule, not with the first word of the request. */
function framing(words: string): Difference {
  return {
    reason: 'a refusal carries Connection: close, and the log names the broken framing rule',
    client: withClose,
    log: 'any',
    says: 'Error request refused: ',
    words,
  };
}

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
    reason: '1xx responses before the final one are skipped (RFC 9110 section 15.2); Varnish fails the fetch',
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
    reason: 'a range in unknown units is ignored (RFC 9110 section 14.2); Varnish answers 416',
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
  'two hosts': framing('Host stands there more than once'),
  'two lengths': framing('Content-Length stands there more than once'),
  'length is no number': framing('Content-Length is no number of bytes'),
  'length and chunks': framing('both Content-Length and Transfer-Encoding'),
  'no version': closing(
    'the target holds a blank or a control character, or no version follows it, byte 0x0d in line 1',
  ),
  'odd version': closing('the version is neither HTTP/1.0 nor HTTP/1.1, byte 0x48 in line 1'),
  'no target': closing(
    'the target holds a blank or a control character, or no version follows it, byte 0x0d in line 1',
  ),
  'blank before the colon': closing(
    'a blank stands in the name of a header or before its colon, byte 0x20 in line 3 (header X-A)',
  ),
  'line without a colon': closing('a header line has no colon, byte 0x0d in line 3 (header nonsense)'),
  'control character in a field': closing(
    'the value of a header holds a control character, byte 0x01 in line 3 (header X-A)',
  ),
  'too many fields': closing('there are more headers than there may be, line 61 (header X-A)'),
  'a field of 10 kB': closing('a header line is longer than it may be, line 3 (header X-A)'),
  'unknown expectation': closing(
    'an expectation other than 100-continue cannot be met, "Expect: tea"',
    '-- VCL_use',
  ),
  'a head of 40 kB': {
    reason: 'the log says why',
    log: (reference) =>
      reference.flatMap((line) =>
        line.startsWith('- SessClose')
          ? ['- Error request refused: the head is larger than it may be, more than 32768 bytes', line]
          : [line],
      ),
  },
  'origin sends no http': {
    reason: 'the log says which rule the answer breaks',
    log: (reference) =>
      reference.flatMap((line) =>
        line === '--- FetchError http format error'
          ? [
              line,
              '--- Error response refused: the version is neither HTTP/1.0 nor HTTP/1.1, byte 0x53 in line 1',
            ]
          : [line],
      ),
  },
  ...STRICT_DIFFERENCES,
};

/** Case names and what is still wrong. */
export const OPEN_DIFFERENCES: Record<string, string> = {};
