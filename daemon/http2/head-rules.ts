// The rules that a head of HTTP/2 can break, one row each: the words of the log and where the rule stands. The first
// group is judged of a field alone, once; the others of a head.

export interface HeadRule {
  readonly name: string;
  /** Completes "the head is refused because …". */
  readonly words: string;
  /** Section that demands it. */
  readonly section: string;
  /** `reset`: the head is malformed, a PROTOCOL_ERROR of its stream. `refuse`: it has one reading but is too large, and
   * its client gets an answer. */
  readonly consequence: 'reset' | 'refuse';
}

function row<const Name extends string>(name: Name, words: string, section: string) {
  return { name, words, section, consequence: 'reset' } as const satisfies HeadRule;
}

function limit<const Name extends string>(name: Name, words: string) {
  return { name, words, section: 'RFC 9113 10.5.1', consequence: 'refuse' } as const satisfies HeadRule;
}

// biome-ignore format: a row is a line
const FIELD_RULES = [
  row('name_empty', 'a field has no name', 'RFC 9113 8.2.1'),
  row('name_case', 'the name of a field holds a capital letter', 'RFC 9113 8.2.1'),
  row('name_token', 'the name of a field holds a character that none may hold', 'RFC 9113 8.2.1'),
  row('value_control', 'the value of a field holds a control character', 'RFC 9113 8.2.1'),
  row('value_blank', 'the value of a field begins or ends with a blank', 'RFC 9113 8.2.1'),
  row('connection_field', 'a field is about a connection of HTTP/1', 'RFC 9113 8.2.2'),
  row('te', 'te is not trailers', 'RFC 9113 8.2.2'),
  row('pseudo_unknown', 'a pseudo-header is none of a request', 'RFC 9113 8.3'),
  row('method', ':method is not a token', 'RFC 9110 9.1'),
  row('scheme', ':scheme is neither http nor https', 'RFC 9113 8.3.1'),
  row('path_empty', ':path is empty', 'RFC 9113 8.3.1'),
  row('path', ':path does not begin with a slash, or holds a blank or a control character', 'RFC 9113 8.3.1'),
  row('authority', ':authority is empty, or holds a blank, a control character or user information', 'RFC 9113 8.3.1'),
] as const;

// biome-ignore format: a row is a line
const WHOLE_RULES = [
  row('pseudo_repeated', 'a pseudo-header stands there twice', 'RFC 9113 8.3'),
  row('pseudo_late', 'a pseudo-header follows another field', 'RFC 9113 8.3'),
  row('pseudo_trailer', 'a pseudo-header stands among trailers', 'RFC 9113 8.1'),
  row('method_missing', 'there is no :method', 'RFC 9113 8.3.1'),
  row('scheme_missing', 'there is no :scheme', 'RFC 9113 8.3.1'),
  row('path_missing', 'there is no :path', 'RFC 9113 8.3.1'),
  row('path_asterisk', ':path is * and the method is not OPTIONS', 'RFC 9113 8.3.1'),
  row('connect', 'CONNECT has :scheme or :path, or no :authority', 'RFC 9113 8.5'),
  row('host_differs', 'two hosts are named', 'RFC 9113 8.3.1'),
  row('length_invalid', 'content-length is no number of bytes', 'RFC 9113 8.1.1'),
  row('length_conflict', 'two lengths are named', 'RFC 9113 8.1.1'),
  limit('line_long', 'a field is longer than it may be'),
  limit('fields_many', 'there are more fields than there may be'),
  limit('overflow', 'the head is larger than it may be'),
] as const;

/** Rules that a field can break whatever stands around it. */
export type FieldRule = (typeof FIELD_RULES)[number]['name'];
export type HeadRuleName = FieldRule | (typeof WHOLE_RULES)[number]['name'];

/** The rules by their names. */
export const HEAD_RULES: ReadonlyMap<HeadRuleName, HeadRule> = new Map<HeadRuleName, HeadRule>(
  [...FIELD_RULES, ...WHOLE_RULES].map((rule) => [rule.name, rule]),
);
