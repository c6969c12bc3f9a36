// Reasons for refusing a message of HTTP/1 or HTTP/2: one row each, with the texts for the log, the counters, the manual and the
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
  /** Applies to requests over HTTP/2 only. */
  readonly http2Only?: true;
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

/** A rule for requests over HTTP/2 (RFC 9113 section 8). */
function http2<const N extends string>(
  name: N,
  text: string,
  advice: string,
): RefusalRow & { readonly name: N } {
  return { name, text, advice, http2Only: true };
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
  row('http2', 'it is HTTP/2, which is off on this listener', 'Send HTTP/1.1, or take HTTP/2 with `feature +http2`; while it is off, whatever terminates TLS must not offer h2.'),
  row('chunk_size', 'the size of a chunk is not hexadecimal digits and a line end', 'Send the size in hexadecimal digits, then CR LF.'),
  row('chunk_size_overflow', 'the size of a chunk is longer than any real one', 'Send no more than 13 hexadecimal digits.'),
  row('chunk_extension', "a chunk's extension holds a control character", 'Send none: they mean nothing here.'),
  row('chunk_line_end', "a CR stands without LF behind a chunk's size", 'End the line with CR LF.'),
  row('chunk_data_end', "no CR LF stands behind a chunk's data", 'Is the size that of the data?'),
  row('trailer', 'a trailer is malformed', 'Send "Name: value" and CR LF, and an empty line behind the last one.'),
  row('chunk_too_long', 'extensions or trailers are longer than they may be', 'Send fewer: they are dropped in any case.'),
  http2('name_case', 'the name of a field holds a capital letter', 'Over HTTP/2, names are in lower case.'),
  http2('value_blank', 'the value of a field begins or ends with a blank', 'Send the value alone.'),
  http2('connection_field', 'a field is about a connection of HTTP/1', 'Send no Connection, Keep-Alive, Proxy-Connection, Transfer-Encoding or Upgrade over HTTP/2.'),
  http2('te', 'te is not trailers', 'Send `te: trailers`, or nothing.'),
  http2('pseudo_unknown', 'a pseudo-header is none of a request', 'There are :method, :scheme, :authority and :path.'),
  http2('scheme', ':scheme is neither http nor https', 'Send that of the address.'),
  http2('path_empty', ':path is empty', 'Send `/`.'),
  http2('path', ':path does not begin with a slash, or holds a blank, a control character or a fragment', 'Send path and query, with %XX for what may not stand there.'),
  http2('authority', ':authority is empty, or holds a blank, a control character or user information', 'Send host[:port].'),
  http2('pseudo_repeated', 'a pseudo-header stands there twice', 'Send it once.'),
  http2('pseudo_late', 'a pseudo-header follows another field', 'Send pseudo-headers first.'),
  http2('pseudo_trailer', 'a pseudo-header stands among trailers', 'Send none there.'),
  http2('method_missing', 'there is no :method', 'HTTP/2 demands one.'),
  http2('scheme_missing', 'there is no :scheme', 'HTTP/2 demands one.'),
  http2('path_missing', 'there is no :path', 'HTTP/2 demands one.'),
  http2('path_asterisk', ':path is * and the method is not OPTIONS', 'Only OPTIONS may ask for all there is.'),
  http2('length_short', 'there is no body, and content-length names one', 'Send the body, or no content-length.'),
  http2('length_zero', 'a body follows, or may, where content-length is 0', 'End the stream with its head or with an empty frame.'),
  http2('host_differs', 'two hosts are named', 'Send :authority alone, or a Host that is the same.'),
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
  const [, part = '', description = ''] =
    /^(connection|request|request body|response) refused: (.*)$/s.exec(text) ?? [];
  for (const row of REFUSALS) {
    if (description !== row.text && !description.startsWith(`${row.text}, `)) continue;
    return { part: part as RefusedPart, row, place: description.slice(row.text.length + 2) };
  }
  return null;
}

/** The counter of a refused request; null for reasons that apply to responses only. */
export function refusalCounter(name: Refusal): RefusalCounter | null {
  return BY_NAME.get(name)?.answersOnly === true ? null : (`refused_${name}` as RefusalCounter);
}
