// Reasons for refusing an HTTP/1 message: one row each, with the texts for the log, the counters, the manual and the
// console. The daemon's Error record reads `request refused: TEXT, PLACE` (`response refused: …` for an origin's
// response, `request body refused: …` for a malformed body, `connection refused: …` for a missing preamble); the
// console finds the row by its text.

export interface RefusalRow {
  /** The counter is MAIN.refused_<name>. */
  readonly name: string;
  /** Follows "refused: " in the log. */
  readonly text: string;
  /** Advice to the sender of the message. */
  readonly advice: string;
  /** Applies to responses only: no request counter. */
  readonly answersOnly?: true;
}

function row<const N extends string>(
  name: N,
  text: string,
  advice: string,
): RefusalRow & { readonly name: N };
function row<const N extends string>(
  name: N,
  text: string,
  advice: string,
  answersOnly: true,
): RefusalRow & { readonly name: N; readonly answersOnly: true };
function row(name: string, text: string, advice: string, answersOnly?: true): RefusalRow {
  return { name, text, advice, ...(answersOnly && { answersOnly }) };
}

// biome-ignore format: a row is a line
export const REFUSALS = [
  row('preamble', 'it does not begin with a PROXY preamble that can be read', 'This listener is for clients that send the PROXY protocol, version 1 or 2.'),
  row('tls', 'it is TLS, and this listener speaks plain HTTP', 'Use http://, or the port of a listener with HTTPS (-a).'),
  row('start_line', 'the first line is none of HTTP/1', 'Send METHOD, one blank, TARGET, one blank and HTTP/1.1.'),
  row('method', 'the method holds a character that none may hold', 'A method is a token, followed by exactly one blank.'),
  row('target', 'the target holds a blank or a control character, or no version follows it', 'Encode it with %XX, and end the line with HTTP/1.1.'),
  row('version', 'the version is neither HTTP/1.0 nor HTTP/1.1', 'Send HTTP/1.1, in capitals.'),
  row('status', 'the status is not one blank and three digits from 100 on', 'The origin must send a status line such as "HTTP/1.1 200 OK".', true),
  row('start_line_end', 'the first line does not end with CR LF behind the version', 'End every line with CR LF; `feature +lenient_lf` takes LF alone.'),
  row('name_empty', 'a header has no name', 'Remove the line or name the header.'),
  row('name_blank', 'a blank stands in the name of a header or before its colon', 'The colon follows the name at once.'),
  row('name_token', 'the name of a header holds a character that none may hold', "Names are made of letters, digits and !#$%&'*+-.^_`|~."),
  row('colon_missing', 'a header line has no colon', 'Send "Name: value".'),
  row('fold', 'a header is continued on the next line', 'Send the value on one line.'),
  row('bare_lf', 'a line ends with LF alone', 'End every line with CR LF; `feature +lenient_lf` takes LF alone.'),
  row('bare_cr', 'a CR stands without LF', 'End every line with CR LF.'),
  row('value_control', 'the value of a header holds a control character', 'Encode what is no text.'),
  row('line_long', 'a header line is longer than it may be', 'See http_req_hdr_len, and http_resp_hdr_len for answers; cookies are what grows most often.'),
  row('fields_many', 'there are more headers than there may be', 'See http_max_hdr.'),
  row('overflow', 'the head is larger than it may be', 'See http_req_size, and http_resp_size for answers.'),
  row('fold_first', 'the first header line begins with a blank', 'Nothing stands before it that it could continue.'),
  row('length_conflict', 'Content-Length stands there more than once', 'Send it once; of an origin, equal ones are read as one.'),
  row('length_invalid', 'Content-Length is no number of bytes', 'Send decimal digits and nothing else.'),
  row('length_and_coding', 'both Content-Length and Transfer-Encoding say where the body ends', 'Send one of them.'),
  row('coding_unknown', 'Transfer-Encoding is not exactly one `chunked`', 'Send `Transfer-Encoding: chunked` once; Content-Encoding is for compression.'),
  row('coding_http10', 'Transfer-Encoding in a request of HTTP/1.0', 'Send HTTP/1.1 or a Content-Length.'),
  row('body_forbidden', 'a body is announced where none may be', 'A 204 has neither Content-Length nor Transfer-Encoding (RFC 9110 section 8.6).', true),
  row('upload_unbounded', 'a body of HTTP/1.0 without Content-Length would end with the connection', 'Send Content-Length; `Content-Length: 0` when there is no body.'),
  row('expectation', 'an expectation other than 100-continue cannot be met', 'Send `Expect: 100-continue` or nothing.'),
  row('host_missing', 'there is no Host', 'HTTP/1.1 demands one.'),
  row('host_many', 'Host stands there more than once', 'Send it once.'),
  row('host_invalid', 'Host is not a name or an address with or without a port', 'Send host[:port], without blanks, user names or paths.'),
  row('target_invalid', 'the target is neither a path nor an http address with a valid host', 'Send a target that begins with a slash.'),
  row('connection_names', 'Connection names a header that is not about the connection', 'Name none that is meant for the origin.'),
  row('connect', 'CONNECT would make a tunnel to wherever the client likes', 'This is no forward proxy.'),
  row('http2', 'HTTP/2 is not spoken', 'Send HTTP/1.1; whatever terminates TLS must not offer h2 for this daemon.'),
  row('chunk_size', 'the size of a chunk is not hexadecimal digits and a line end', 'Send the size in hexadecimal digits, then CR LF.'),
  row('chunk_size_overflow', 'the size of a chunk is longer than any real one', 'Send no more than 13 hexadecimal digits.'),
  row('chunk_extension', "a chunk's extension holds a control character", 'Send none: they mean nothing here.'),
  row('chunk_line_end', "a CR stands without LF behind a chunk's size", 'End the line with CR LF.'),
  row('chunk_data_end', "no CR LF stands behind a chunk's data", 'Is the size that of the data?'),
  row('trailer', 'a trailer is malformed', 'Send "Name: value" and CR LF, and an empty line behind the last one.'),
  row('chunk_too_long', 'extensions or trailers are longer than they may be', 'Send fewer: they are dropped in any case.'),
] as const satisfies readonly RefusalRow[];

type Row = (typeof REFUSALS)[number];
export type Refusal = Row['name'];
/** Reasons that apply to requests, each with a counter. */
export type RequestRefusal = Exclude<Row, { answersOnly: true }>['name'];
export type RefusalCounter = `refused_${RequestRefusal}`;

const BY_NAME: ReadonlyMap<string, RefusalRow> = new Map(REFUSALS.map((row) => [row.name, row]));

/** The refused part, as named in the Error record. */
export type RefusedPart = 'connection' | 'request' | 'request body' | 'response';

/**
 * The text of the Error record.
 * @param place where it was found, and what was there; '' to omit it
 */
export function refusalText(part: RefusedPart, name: Refusal, place: string): string {
  const { text } = BY_NAME.get(name) as RefusalRow;
  return `${part} refused: ${text}${place === '' ? '' : `, ${place}`}`;
}

/** The row of such a text; null for other texts. */
export function refusalOf(text: string): { part: RefusedPart; row: RefusalRow; place: string } | null {
  const [, part = '', said = ''] =
    /^(connection|request|request body|response) refused: (.*)$/s.exec(text) ?? [];
  for (const row of REFUSALS) {
    if (said !== row.text && !said.startsWith(`${row.text}, `)) continue;
    return { part: part as RefusedPart, row, place: said.slice(row.text.length + 2) };
  }
  return null;
}

/** The counter of a refused request; null for reasons that apply to responses only. */
export function refusalCounter(name: Refusal): RefusalCounter | null {
  return BY_NAME.get(name)?.answersOnly === true ? null : (`refused_${name}` as RefusalCounter);
}
