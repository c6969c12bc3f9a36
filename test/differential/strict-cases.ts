// Messages that one side rejects and the other serves, and obsolete forms that both accept: requests and responses by
// their bytes, with proxyd's log. Every rule by which proxyd rejects what the reference serves has a case here.
import type { Case } from './cases.ts';
import type { Difference } from './known-differences.ts';

const HOST = 'Host: example.test\r\n';
const UPLOAD = `POST @ HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
const FINE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine';

/** Name, bytes with @ for the URL, words in proxyd's log, and why it is refused although the reference serves it. */
type Refused = readonly [name: string, bytes: string, words: string, reason: string];

const SMUGGLING = 'another reader may end the head, or the request, elsewhere: the way requests are smuggled';
const TOKEN =
  'a request line of other parts than RFC 9112 section 3 has is read in different ways down the line';
const ONE_HOST = 'a Host that is no host is no key, and origins disagree about what it names';
const TARGET = 'a target that is no path has no place in the cache, and origins disagree about what it names';
const BODY = 'chunks that are read in two ways are the way requests are smuggled (RFC 9112 section 7.1)';

const TWICE: Refused = [
  'an expectation on two lines',
  `GET @ HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n`,
  'an expectation other than 100-continue cannot be met, "Expect: 100-continue"',
  'a list of two expectations is none that is known (RFC 9110 section 10.1.1)',
];

const REQUESTS: readonly Refused[] = [
  [
    'LF for all line ends',
    `GET @ HTTP/1.1\n${HOST.replace('\r', '')}\n`,
    'does not end with CR LF',
    SMUGGLING,
  ],
  [
    'LF behind a header',
    `GET @ HTTP/1.1\r\n${HOST}X: y\nZ: z\r\n\r\n`,
    'a line ends with LF alone, byte 0x0a in line 3 (header X)',
    SMUGGLING,
  ],
  ['LF for the empty line', `GET @ HTTP/1.1\r\n${HOST}\n`, 'a line ends with LF alone', SMUGGLING],
  ['an empty line of LF before', `\nGET @ HTTP/1.1\r\n${HOST}\r\n`, 'the first line is none', SMUGGLING],
  ['a blank before the method', ` GET @ HTTP/1.1\r\n${HOST}\r\n`, 'the first line is none', TOKEN],
  ['a bracket in the method', `G(T @ HTTP/1.1\r\n${HOST}\r\n`, 'the method holds a character', TOKEN],
  ['a colon in the method', `G:T @ HTTP/1.1\r\n${HOST}\r\n`, 'the method holds a character', TOKEN],
  [
    'a byte above ASCII in the method',
    `G\xe9T @ HTTP/1.1\r\n${HOST}\r\n`,
    'the method holds a character',
    TOKEN,
  ],
  ['two blanks behind the method', `GET  @ HTTP/1.1\r\n${HOST}\r\n`, 'the target holds a blank', TOKEN],
  ['two blanks before the version', `GET @  HTTP/1.1\r\n${HOST}\r\n`, 'the version is neither', TOKEN],
  ['a tab behind the method', `GET\t@ HTTP/1.1\r\n${HOST}\r\n`, 'the method holds a character', TOKEN],
  ['a version in lower case', `GET @ http/1.1\r\n${HOST}\r\n`, 'the version is neither', TOKEN],
  [
    'a header on two lines',
    `GET @ HTTP/1.1\r\n${HOST}X: y\r\n z\r\n\r\n`,
    'a header is continued on the next line, byte 0x20 in line 4',
    SMUGGLING,
  ],
  ['a header on two lines by tab', `GET @ HTTP/1.1\r\n${HOST}X: y\r\n\tz\r\n\r\n`, 'is continued', SMUGGLING],
  [
    'chunked on two lines',
    `POST @ HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'Transfer-Encoding is not exactly one `chunked`, "Transfer-Encoding: chunked" and "Transfer-Encoding: chunked"',
    'two codings are two layers of chunks to one reader and one to another',
  ],
  [
    'chunked in a request of HTTP/1.0',
    `POST @ HTTP/1.0\r\n${HOST}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'Transfer-Encoding in a request of HTTP/1.0',
    'a reader of HTTP/1.0 sees no chunks (RFC 9112 section 6.1)',
  ],
  ...(
    [
      ['no name', ''],
      ['a blank', 'a b'],
      ['a list', 'a, b'],
      ['a path', 'a/b'],
      ['a query', 'a?b'],
      ['a fragment', 'a#b'],
      ['a user', 'u@a'],
      ['a quote', 'a"b'],
      ['a bracket', 'a<b'],
      ['a backslash', 'a\\b'],
      ['half an escape', 'a%2'],
      ['a byte above ASCII', '\xe4'],
      ['a port that is none', 'a:x'],
      ['a port above all', 'a:99999'],
      ['an open bracket', '[::1'],
    ] as const
  ).map(
    ([name, value]): Refused => [
      `host with ${name}`,
      `GET @ HTTP/1.1\r\nHost: ${value}\r\n\r\n`,
      `Host is not a name or an address with or without a port, "${`Host: ${value}`.trim()}"`,
      ONE_HOST,
    ],
  ),
  ...(
    [
      ['without a slash', 'x'],
      ['an asterisk for GET', '*'],
      ['only a query', '?x'],
      ['another scheme', 'ftp://a/x'],
      ['a user', 'http://u@a/x'],
      ['no host', 'http:///x'],
      ['nothing behind the scheme', 'http://'],
    ] as const
  ).map(
    ([name, target]): Refused => [
      `target: ${name}`,
      `GET ${target} HTTP/1.1\r\n${HOST}\r\n`,
      'the target is neither a path nor an http address with a valid host, "',
      TARGET,
    ],
  ),
];

/** Uploads: what is wrong is found when the origin has the head already. */
const UPLOADS: readonly Refused[] = [
  ['a blank behind a size', '3 \r\nabc\r\n0\r\n\r\n', 'byte 0x20 after 0 bytes of data', BODY],
  ['a blank before a size', ' 3\r\nabc\r\n0\r\n\r\n', 'byte 0x20 after 0 bytes of data', BODY],
  ['LF behind a size', '3\nabc\r\n0\r\n\r\n', 'the size of a chunk is not', BODY],
  ['LF behind the data', '3\r\nabc\n0\r\n\r\n', "no CR LF stands behind a chunk's data", BODY],
  ['LF behind the last size', '3\r\nabc\r\n0\n\r\n', 'the size of a chunk is not', BODY],
  ['LF at the end of the chunks', '3\r\nabc\r\n0\r\n\n', 'a trailer is malformed', BODY],
  [
    'a size of sixteen digits',
    '0000000000000003\r\nabc\r\n0\r\n\r\n',
    'is longer than any real one',
    'readers that keep less of a number than others see another size',
  ],
];

const SPLIT = 'nothing says where such an answer ends, or the next one begins';
const FORM =
  'an answer of this form is that of no known origin; what is left of another answer looks like it';

/** Answers that the reference serves. */
const ANSWERS: readonly Refused[] = [
  [
    'two lengths of an answer',
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfine',
    'Content-Length stands there more than once, "Content-Length: 4" and "Content-Length: 5"',
    SPLIT,
  ],
  [
    'chunked on two lines of an answer',
    'HTTP/1.1 200 OK\r\nX-Bedo: nostream\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n',
    'Transfer-Encoding is not exactly one `chunked`',
    'two codings are two layers of chunks (RFC 9112 section 7)',
  ],
  ['two blanks before the status', FINE.replace(' 200', '  200'), 'the status is not', FORM],
  ['a tab before the status', FINE.replace(' 200', '\t200'), 'the status is not', FORM],
  ['an empty line before the status line', `\r\n${FINE}`, 'the version is neither', FORM],
  ['LF before the status line', `\n${FINE}`, 'the version is neither', FORM],
  ['a blank before the status line', ` ${FINE}`, 'the version is neither', FORM],
  ['an answer in lower case', FINE.replace('HTTP', 'http'), 'the version is neither', FORM],
  ['an answer of HTTP/1.2', FINE.replace('/1.1', '/1.2'), 'the version is neither', FORM],
  ['an answer of HTTP/2.0', FINE.replace('/1.1', '/2.0'), 'the version is neither', FORM],
];

/** Chunks that the reference reads. */
const CHUNKED_ANSWERS: readonly Refused[] = [
  ['a blank before a size of an answer', ' 4\r\nfine\r\n0\r\n\r\n', 'byte 0x20 after 0 bytes of data', BODY],
  [
    'LF behind data that ends with CR',
    '4\r\nfin\r\n0\r\n\r\n',
    "no CR LF stands behind a chunk's data, byte 0x0a after 4 bytes of data",
    'a size one too large would count the CR of the line end as data',
  ],
];

/** Name, head and body, remarks; the reference's result and proxyd's. */
type Lenient = readonly [
  name: string,
  bytes: string,
  noted: string,
  other?: readonly (readonly [RegExp, string])[],
];

const OK = 'HTTP/1.1 200 OK\r\n';
const CL = 'Content-Length: 4\r\n';
/** Not streamed, so that it is no matter of time how it is framed here. */
const TE = 'X-Bedo: nostream\r\nTransfer-Encoding: chunked\r\n';
const LENIENT: readonly Lenient[] = [
  [
    'an answer with LF',
    `${OK}X-A: b\r\n${CL}\r\nfine`.replaceAll('\r', ''),
    'LF without CR ends line 1 (and 3 more)',
  ],
  ['an answer with one LF', `${OK}X-A: b\n${CL}\r\nfine`, 'LF without CR ends line 2 (header X-A)'],
  ['an answer with LF for the empty line', `${OK}${CL}\nfine`, 'LF without CR ends line 3 (the empty one)'],
  ['an answer with LF and no reason', `HTTP/1.1 200\n${CL}\r\nfine`, 'LF without CR ends line 1'],
  [
    'an answer with a fold',
    `${OK}X-A: b\r\n  c\r\n${CL}\r\nfine`,
    'continuation line joined to line 2 (header X-A)',
    [[/X-A: b {4}c/, 'X-A: b c']],
  ],
  [
    'a length on the next line',
    `${OK}Content-Length:\r\n 4\r\n\r\nfine`,
    'continuation line joined to line 2 (header Content-Length)',
    [[/Content-Length: {3}4/, 'Content-Length: 4']],
  ],
  [
    'chunks of HTTP/1.0',
    `HTTP/1.0 200 OK\r\n${TE}\r\n4\r\nfine\r\n0\r\n\r\n`,
    'chunks from HTTP/1.0 as those of HTTP/1.1',
  ],
  [
    'a blank behind the sizes',
    `${OK}${TE}\r\n4 \r\nfine\r\n0 \r\n\r\n`,
    'blank after the size of a chunk (and 1 more)',
  ],
  [
    'chunks with LF',
    `${OK}${TE}\r\n4\nfine\n0\n\n`,
    "LF without CR ends a chunk's size (and 2 more), LF without CR ends the trailers",
  ],
];

/** Answers with lengths that agree: what becomes of the lines differs, too. */
const LENGTHS: readonly (readonly [name: string, bytes: string, instead: string])[] = [
  ['equal lengths of an answer', `${OK}${CL}X-A: b\r\n${CL}\r\nfine`, '200 OK'],
  ['equal lengths in a list', `${OK}Content-Length: 4, 4\r\n\r\nfine`, '503 Backend fetch failed'],
];

const url = (name: string): string => `/strict/${name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`;

function refusedRequest([name, bytes]: Refused): Case {
  const at = url(name);
  return {
    name,
    script: (o) => o.on('*', [{ send: FINE }]),
    play: (p) => p.bad(bytes.replace(/^(\s*\S+\s+)@/, `$1${at}`)),
  };
}

function refusedUpload([name, chunks]: Refused): Case {
  const at = url(name);
  return {
    name,
    script: (o) => o.on(at, [{ send: FINE }]),
    play: (p) => p.bad(UPLOAD.replace('@', at) + chunks),
  };
}

function answered([name, bytes]: readonly [string, string, ...unknown[]]): Case {
  const at = url(name);
  return {
    name,
    script: (o) => o.on(at, [{ send: bytes }, { close: true }]),
    play: (p) => p.get(at, { 'X-Do': 'pass' }),
  };
}

const chunkedAnswers = CHUNKED_ANSWERS.map(
  ([name, chunks, words, reason]): Refused => [name, `${OK}${TE}\r\n${chunks}`, words, reason],
);

export const STRICT_CASES: readonly Case[] = [
  ...[...REQUESTS, TWICE].map(refusedRequest),
  ...UPLOADS.map(refusedUpload),
  ...[...ANSWERS, ...chunkedAnswers, ...LENIENT, ...LENGTHS].map(answered),
];

const refused =
  (part: string, status: string) =>
  ([name, , words, reason]: Refused): [string, Difference] => [
    name,
    {
      reason,
      client: 'any',
      origin: 'any',
      log: 'any',
      status,
      instead: '200 OK',
      says: `Error ${part} refused: `,
      words,
    },
  ];

/** The record goes ahead of the one about the connection. */
function noted(text: string, log: readonly string[]): string[] {
  const at = log.findIndex((line) => line.startsWith('--- BackendClose'));
  return [...log.slice(0, at), `--- Notice Backend response read leniently: ${text}`, ...log.slice(at)];
}

function replaced(lines: readonly string[], other: Lenient[3] = []): string[] {
  return lines.map((line) => other.reduce((text, [from, to]) => text.replace(from, to), line));
}

export const STRICT_DIFFERENCES: Readonly<Record<string, Difference>> = Object.fromEntries([
  ...REQUESTS.map(refused('request', '400 Bad Request')),
  refused('request', '417 Expectation Failed')(TWICE),
  ...UPLOADS.map(refused('request body', '503 Backend fetch failed')),
  ...ANSWERS.map(refused('response', '503 Backend fetch failed')),
  ...chunkedAnswers.map(refused('response', '503 Backend fetch failed')),
  ...LENGTHS.map(([name, , instead]): [string, Difference] => [
    name,
    {
      reason: 'lengths that agree are one length (RFC 9110 section 8.6), and one line of it goes on',
      client: 'any',
      log: 'any',
      status: '200 OK',
      instead,
      says: 'Notice Backend response read leniently: ',
      words: 'Content-Length repeated as 4',
    },
  ]),
  ...LENIENT.map(([name, , text, other]): [string, Difference] => [
    name,
    {
      reason: 'an old form that was read is noted, and written anew',
      client: (reference) => replaced(reference, other),
      log: (reference) => noted(text, replaced(reference, other)),
    },
  ]),
]);
