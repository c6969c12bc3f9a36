// The rules that a head of HTTP/2 can break, one row each: the words of the log, the section that demands it, and the
// consequence. Rules of the first group are judged of a field alone, once; the others of a head.

interface HeadRule {
  /** Completes "the head is refused because …". */
  readonly words: string;
  readonly section: string;
  /** `reset`: the head is malformed, a PROTOCOL_ERROR of its stream. `refuse`: it has one reading but exceeds a limit,
   * and its client gets an answer. */
  readonly consequence: 'reset' | 'refuse';
}

const row = (words: string, section: string): HeadRule => ({ words, section, consequence: 'reset' });
const limit = (words: string): HeadRule => ({ words, section: 'RFC 9113 10.5.1', consequence: 'refuse' });

// biome-ignore format: a row is a line
const FIELD_RULES = {
  name_empty: row('a field has no name', 'RFC 9113 8.2.1'),
  name_case: row('the name of a field holds a capital letter', 'RFC 9113 8.2.1'),
  name_token: row('the name of a field holds a character that none may hold', 'RFC 9113 8.2.1'),
  value_control: row('the value of a field holds a control character', 'RFC 9113 8.2.1'),
  value_blank: row('the value of a field begins or ends with a blank', 'RFC 9113 8.2.1'),
  connection_field: row('a field is about a connection of HTTP/1', 'RFC 9113 8.2.2'),
  te: row('te is not trailers', 'RFC 9113 8.2.2'),
  pseudo_unknown: row('a pseudo-header is none of a request', 'RFC 9113 8.3'),
  method: row(':method is not a token', 'RFC 9110 9.1'),
  scheme: row(':scheme is neither http nor https', 'RFC 9113 8.3.1'),
  path_empty: row(':path is empty', 'RFC 9113 8.3.1'),
  path: row(':path does not begin with a slash, or holds a blank, a control character or a fragment', 'RFC 9113 8.3.1'),
  authority: row(':authority is empty, or holds a blank, a control character or user information', 'RFC 9113 8.3.1'),
};

// biome-ignore format: a row is a line
const WHOLE_RULES = {
  pseudo_repeated: row('a pseudo-header stands there twice', 'RFC 9113 8.3'),
  pseudo_late: row('a pseudo-header follows another field', 'RFC 9113 8.3'),
  pseudo_trailer: row('a pseudo-header stands among trailers', 'RFC 9113 8.1'),
  method_missing: row('there is no :method', 'RFC 9113 8.3.1'),
  scheme_missing: row('there is no :scheme', 'RFC 9113 8.3.1'),
  path_missing: row('there is no :path', 'RFC 9113 8.3.1'),
  path_asterisk: row(':path is * and the method is not OPTIONS', 'RFC 9113 8.3.1'),
  connect: row('CONNECT has :scheme or :path, or no :authority', 'RFC 9113 8.5'),
  host_differs: row('two hosts are named', 'RFC 9113 8.3.1'),
  length_invalid: row('content-length is no number of bytes', 'RFC 9113 8.1.1'),
  length_conflict: row('two lengths are named', 'RFC 9113 8.1.1'),
  line_long: limit('a field is longer than it may be'),
  fields_many: limit('there are more fields than there may be'),
  overflow: limit('the head is larger than it may be'),
};

export const HEAD_RULES = { ...FIELD_RULES, ...WHOLE_RULES };

/** Rules that a field can break whatever stands around it. */
export type FieldRule = keyof typeof FIELD_RULES;
export type HeadRuleName = keyof typeof HEAD_RULES;
