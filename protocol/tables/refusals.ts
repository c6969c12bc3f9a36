// The reasons why an HTTP/1 message is refused: one row each, with the texts that the log, the counters, the manual and
// the console have for it. The daemon's Error record reads `request refused: TEXT, PLACE` (`response refused: …` for a
// response of an origin, `request body refused: …` for a malformed body, `connection refused: …` for one without its
// preamble), so that the console finds the row by its text.

export interface RefusalRow {
  /** The counter is MAIN.refused_<name>. */
  readonly name: string;
  /** Follows "refused: " in the log. */
  readonly text: string;
  /** What the sender of the message should do instead. */
  readonly advice: string;
  /** Only a response can be refused for it: no counter of requests. */
  readonly answersOnly?: true;
}

export const REFUSALS = [
  {
    name: 'preamble',
    text: 'it does not begin with a PROXY preamble that can be read',
    advice: 'This listener is for clients that send the PROXY protocol, version 1 or 2.',
  },
  {
    name: 'start_line',
    text: 'the first line is none of HTTP/1',
    advice: 'Send METHOD, one blank, TARGET, one blank and HTTP/1.1; is it TLS on a plain port?',
  },
  {
    name: 'method',
    text: 'the method holds a character that none may hold',
    advice: 'A method is a token, followed by exactly one blank.',
  },
  {
    name: 'target',
    text: 'the target holds a blank or a control character, or no version follows it',
    advice: 'Encode it with %XX, and end the line with HTTP/1.1.',
  },
  {
    name: 'version',
    text: 'the version is neither HTTP/1.0 nor HTTP/1.1',
    advice: 'Send HTTP/1.1, in capitals.',
  },
  {
    name: 'status',
    text: 'the status is not one blank and three digits from 100 on',
    advice: 'The origin must send a status line such as "HTTP/1.1 200 OK".',
    answersOnly: true,
  },
  {
    name: 'start_line_end',
    text: 'the first line does not end with CR LF behind the version',
    advice: 'End every line with CR LF; `feature +lenient_lf` takes LF alone.',
  },
  { name: 'name_empty', text: 'a header has no name', advice: 'Remove the line or name the header.' },
  {
    name: 'name_blank',
    text: 'a blank stands in the name of a header or before its colon',
    advice: 'The colon follows the name at once.',
  },
  {
    name: 'name_token',
    text: 'the name of a header holds a character that none may hold',
    advice: "Names are made of letters, digits and !#$%&'*+-.^_`|~.",
  },
  { name: 'colon_missing', text: 'a header line has no colon', advice: 'Send "Name: value".' },
  {
    name: 'fold',
    text: 'a header is continued on the next line',
    advice: 'Send the value on one line.',
  },
  {
    name: 'bare_lf',
    text: 'a line ends with LF alone',
    advice: 'End every line with CR LF; `feature +lenient_lf` takes LF alone.',
  },
  { name: 'bare_cr', text: 'a CR stands without LF', advice: 'End every line with CR LF.' },
  {
    name: 'value_control',
    text: 'the value of a header holds a control character',
    advice: 'Encode what is no text.',
  },
  {
    name: 'line_long',
    text: 'a header line is longer than it may be',
    advice: 'See http_req_hdr_len, and http_resp_hdr_len for answers; cookies are what grows most often.',
  },
  { name: 'fields_many', text: 'there are more headers than there may be', advice: 'See http_max_hdr.' },
  {
    name: 'overflow',
    text: 'the head is larger than it may be',
    advice: 'See http_req_size, and http_resp_size for answers.',
  },
  {
    name: 'fold_first',
    text: 'the first header line begins with a blank',
    advice: 'Nothing stands before it that it could continue.',
  },
  {
    name: 'length_conflict',
    text: 'Content-Length stands there more than once',
    advice: 'Send it once; of an origin, equal ones are read as one.',
  },
  {
    name: 'length_invalid',
    text: 'Content-Length is no number of bytes',
    advice: 'Send decimal digits and nothing else.',
  },
  {
    name: 'length_and_coding',
    text: 'both Content-Length and Transfer-Encoding say where the body ends',
    advice: 'Send one of them.',
  },
  {
    name: 'coding_unknown',
    text: 'Transfer-Encoding is not exactly one `chunked`',
    advice: 'Send `Transfer-Encoding: chunked` once; Content-Encoding is for compression.',
  },
  {
    name: 'coding_http10',
    text: 'Transfer-Encoding in a request of HTTP/1.0',
    advice: 'Send HTTP/1.1 or a Content-Length.',
  },
  {
    name: 'body_forbidden',
    text: 'a body is announced where none may be',
    advice: 'A 204 has neither Content-Length nor Transfer-Encoding (RFC 9110 section 8.6).',
    answersOnly: true,
  },
  {
    name: 'upload_unbounded',
    text: 'a body of HTTP/1.0 without Content-Length would end with the connection',
    advice: 'Send Content-Length; `Content-Length: 0` when there is no body.',
  },
  {
    name: 'expectation',
    text: 'an expectation other than 100-continue cannot be met',
    advice: 'Send `Expect: 100-continue` or nothing.',
  },
  { name: 'host_missing', text: 'there is no Host', advice: 'HTTP/1.1 demands one.' },
  { name: 'host_many', text: 'Host stands there more than once', advice: 'Send it once.' },
  {
    name: 'host_invalid',
    text: 'Host is not a name or an address with or without a port',
    advice: 'Send host[:port], without blanks, user names or paths.',
  },
  {
    name: 'target_invalid',
    text: 'the target is neither a path nor an http address with a valid host',
    advice: 'Send a target that begins with a slash.',
  },
  {
    name: 'connection_names',
    text: 'Connection names a header that is not about the connection',
    advice: 'Name none that is meant for the origin.',
  },
  {
    name: 'connect',
    text: 'CONNECT would make a tunnel to wherever the client likes',
    advice: 'This is no forward proxy.',
  },
  {
    name: 'http2',
    text: 'HTTP/2 is not spoken',
    advice: 'Send HTTP/1.1; whatever terminates TLS must not offer h2 for this daemon.',
  },
  {
    name: 'chunk_size',
    text: 'the size of a chunk is not hexadecimal digits and a line end',
    advice: 'Send the size in hexadecimal digits, then CR LF.',
  },
  {
    name: 'chunk_size_overflow',
    text: 'the size of a chunk is longer than any real one',
    advice: 'Send no more than 13 hexadecimal digits.',
  },
  {
    name: 'chunk_extension',
    text: "a chunk's extension holds a control character",
    advice: 'Send none: they mean nothing here.',
  },
  {
    name: 'chunk_line_end',
    text: "a CR stands without LF behind a chunk's size",
    advice: 'End the line with CR LF.',
  },
  {
    name: 'chunk_data_end',
    text: "no CR LF stands behind a chunk's data",
    advice: 'Is the size that of the data?',
  },
  {
    name: 'trailer',
    text: 'a trailer is malformed',
    advice: 'Send "Name: value" and CR LF, and an empty line behind the last one.',
  },
  {
    name: 'chunk_too_long',
    text: 'extensions or trailers are longer than they may be',
    advice: 'Send fewer: they are dropped in any case.',
  },
] as const satisfies readonly RefusalRow[];

type Row = (typeof REFUSALS)[number];
export type Refusal = Row['name'];
/** Those that a request can be refused for: each has a counter. */
export type RequestRefusal = Exclude<Row, { answersOnly: true }>['name'];
export type RefusalCounter = `refused_${RequestRefusal}`;

const BY_NAME: ReadonlyMap<string, RefusalRow> = new Map(REFUSALS.map((row) => [row.name, row]));

/** The refused thing, as the Error record names it. */
export type RefusedPart = 'connection' | 'request' | 'request body' | 'response';

/**
 * The text of the Error record.
 * @param place where it was found, and what was there; '' when there is nothing to add
 */
export function refusalText(part: RefusedPart, name: Refusal, place: string): string {
  const { text } = BY_NAME.get(name) as RefusalRow;
  return `${part} refused: ${text}${place === '' ? '' : `, ${place}`}`;
}

/** The row of such a text; null for another text. */
export function refusalOf(text: string): { part: RefusedPart; row: RefusalRow; place: string } | null {
  const [, part = '', said = ''] =
    /^(connection|request|request body|response) refused: (.*)$/s.exec(text) ?? [];
  for (const row of REFUSALS) {
    if (said !== row.text && !said.startsWith(`${row.text}, `)) continue;
    return { part: part as RefusedPart, row, place: said.slice(row.text.length + 2) };
  }
  return null;
}

/** The counter of a refused request; null for a reason for which only responses are refused. */
export function refusalCounter(name: Refusal): RefusalCounter | null {
  return BY_NAME.get(name)?.answersOnly === true ? null : (`refused_${name}` as RefusalCounter);
}
