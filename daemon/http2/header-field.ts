// One field of a request as HPACK has it. An entry of a table is one object that many heads refer to, so whatever is
// made of name and value is made here, once: the line, the verdict on the field alone, and its role in a head.

import { TARGET, TOKEN_FOLD } from '../http1/byte-classes.ts';
import { nameBit } from '../http1/message.ts';
import type { FieldRule } from './head-rules.ts';

/** Octets that an entry counts beyond its name and value (RFC 7541 section 4.1). */
export const ENTRY_OVERHEAD = 32;

/** The role of a field in a request's head. */
export const PLAIN = 0;
export const METHOD = 1;
export const SCHEME = 2;
export const AUTHORITY = 3;
export const PATH = 4;
export const HOST = 5;
export const COOKIE = 6;
export const LENGTH = 7;
export type FieldRole =
  | typeof PLAIN
  | typeof METHOD
  | typeof SCHEME
  | typeof AUTHORITY
  | typeof PATH
  | typeof HOST
  | typeof COOKIE
  | typeof LENGTH;

const ROLES: ReadonlyMap<string, FieldRole> = new Map<string, FieldRole>([
  [':method', METHOD],
  [':scheme', SCHEME],
  [':authority', AUTHORITY],
  [':path', PATH],
  ['host', HOST],
  ['cookie', COOKIE],
  ['content-length', LENGTH],
]);

/** Fields that HTTP/2 has no use for (RFC 9113 section 8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

const SP = 32;
const HTAB = 9;
const COLON = 58;
const SLASH = 47;

export class HeaderField {
  /** As received, Latin-1; without a fault it is lower case. */
  readonly name: string;
  readonly value: string;
  /** Octets as tables and limits count them: name, value and 32. */
  readonly size: number;
  /** "name: value", as an HttpMessage keeps lines; of :authority the line of the host, of :scheme a line of that name, of other
   * pseudo-headers ''. */
  readonly line: string;
  readonly role: FieldRole;
  /** The rule that the field breaks, whatever stands around it (RFC 9113 sections 8.2.1, 8.2.2 and 8.3.1). */
  readonly fault: FieldRule | 0;
  /** nameBit() of the name. */
  readonly bit: number;

  /** @param line the same as "name: value" in one piece, where the caller has it */
  constructor(name: string, value: string, line = `${name}: ${value}`) {
    this.name = name;
    this.value = value;
    this.size = name.length + value.length + ENTRY_OVERHEAD;
    const role = ROLES.get(name) ?? PLAIN;
    this.line = lineOf(role, name, value, line);
    this.role = role;
    this.fault = faultOf(name, value, role);
    this.bit = nameBit(name);
  }
}

function lineOf(role: FieldRole, name: string, value: string, line: string): string {
  if (role === AUTHORITY) return `host: ${value}`;
  if (role === SCHEME) return `scheme: ${value}`;
  return isPseudo(name) ? '' : line;
}

export function isPseudo(name: string): boolean {
  return name.charCodeAt(0) === COLON;
}

function faultOf(name: string, value: string, role: FieldRole): FieldRule | 0 {
  if (role === PLAIN) {
    const fault = nameFault(name);
    if (fault !== 0) return fault;
  }
  return valueFault(value) || roleFault(value, role) || (name === 'te' ? teFault(value) : 0);
}

function nameFault(name: string): FieldRule | 0 {
  if (name === '') return 'name_empty';
  if (isPseudo(name)) return 'pseudo_unknown';
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    const folded = TOKEN_FOLD[c] as number;
    if (folded === 0) return 'name_token';
    if (folded !== c) return 'name_case';
  }
  return CONNECTION_FIELDS.has(name) ? 'connection_field' : 0;
}

/** The octets that TEXT does not allow: an expression is twice as fast here, because values are parts of their lines. */
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Stricter than RFC 9113, which names NUL, CR and LF: the same control characters are refused as in HTTP/1. */
function valueFault(value: string): FieldRule | 0 {
  const n = value.length;
  if (n === 0) return 0;
  if (CONTROL.test(value)) return 'value_control';
  return isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(n - 1)) ? 'value_blank' : 0;
}

function isBlank(c: number): boolean {
  return c === SP || c === HTAB;
}

function roleFault(value: string, role: FieldRole): FieldRule | 0 {
  switch (role) {
    case METHOD:
      return isAll(TOKEN_FOLD, value) ? 0 : 'method';
    case SCHEME:
      // As the HTTP/1 parser refuses absolute targets of other schemes: this proxy serves none.
      return value === 'https' || value === 'http' ? 0 : 'scheme';
    case PATH:
      if (value === '') return 'path_empty';
      // A fragment is no part of it, and whoever reads it from HTTP/1 might cut it off or not.
      return isAll(TARGET, value) && isPath(value) ? 0 : 'path';
    case AUTHORITY:
      return isAll(TARGET, value) && !value.includes('@') ? 0 : 'authority';
    default:
      return 0;
  }
}

function isPath(value: string): boolean {
  return (value.charCodeAt(0) === SLASH && !value.includes('#')) || value === '*';
}

function isAll(table: Uint8Array, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (table[text.charCodeAt(i)] === 0) return false;
  return text !== '';
}

function teFault(value: string): FieldRule | 0 {
  return value.toLowerCase() === 'trailers' ? 0 : 'te';
}
