// Headers of responses, encoded once: alike responses share them, so that a hit copies bytes, or an index, and never
// encodes. A header becomes a field of HTTP/2 by its lower-case name (RFC 9113 section 8.2).

import { flat } from '../http1/latin1.ts';
import { ENTRY_OVERHEAD } from './header-field.ts';
import {
  INTEGER_MOST,
  NEVER_INDEXED,
  putName,
  putString,
  WITH_INDEXING,
  WITHOUT_INDEXING,
} from './hpack-literals.ts';
import { STATIC_ENTRIES } from './hpack-static.ts';

/** Names whose values are secrets: no table may hold them, here or further on (RFC 7541 section 7.1.3). */
const SECRET: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authenticate',
  'proxy-authorization',
  'set-cookie',
  'www-authenticate',
]);

/** Names whose values differ from response to response: they would only push others out of the table. */
const CHANGING: ReadonlySet<string> = new Set([
  'age',
  'content-length',
  'content-location',
  'content-range',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'x-varnish',
]);

/** Longest value that a table gets (chosen): sixteen of them fill it. */
const LONGEST_KEPT = 256;

const STATIC_INDEX: ReadonlyMap<string, number> = new Map(
  STATIC_ENTRIES.map(([name, value], i): [string, number] => [`${name}:${value}`, i + 1]),
);

export class ResponseField {
  /** Lower case. */
  readonly name: string;
  readonly value: string;
  /** Octets as tables count them. */
  readonly size: number;
  /** The literal without indexing; never indexed when the value is a secret. */
  readonly plain: Uint8Array;
  /** The literal with incremental indexing. */
  readonly inserting: Uint8Array;
  /** Index of the static entry with this name and value, or 0. */
  readonly staticIndex: number;
  /** The name is one whose values are worth a place in a dynamic table. */
  readonly isKept: boolean;
  /** An encoder of the thread has written it before. A value that comes once is in no table. */
  isRepeated = false;

  /** @param value without blanks around it */
  constructor(name: string, value: string) {
    const isSecret = SECRET.has(name);
    this.name = name;
    this.value = value;
    this.size = name.length + value.length + ENTRY_OVERHEAD;
    this.plain = literal(isSecret ? NEVER_INDEXED : WITHOUT_INDEXING, name, value);
    this.inserting = literal(WITH_INDEXING, name, value);
    this.staticIndex = STATIC_INDEX.get(`${name}:${value}`) ?? 0;
    this.isKept = !isSecret && !CHANGING.has(name) && value.length <= LONGEST_KEPT;
  }
}

function literal(kind: number, name: string, value: string): Uint8Array {
  const out = new Uint8Array(octetsMost(name.length, value.length));
  const end = putString(out, putName(out, 0, kind, name), value);
  return out.slice(0, end);
}

/** Octets that a literal takes at the most: strings are coded only where that is shorter. */
function octetsMost(name: number, value: number): number {
  return 1 + INTEGER_MOST + name + INTEGER_MOST + value;
}

/** Upper bound of the octets of a header line as a field. @param key its lower-case name */
export function fieldBound(key: string, line: string): number {
  return octetsMost(key.length, line.length - key.length);
}

/** Longest header line that is kept encoded (chosen): most policies are shorter, and few lines longer. */
const LONGEST_SHARED = 4096;
/** Most characters of all lines of one kind (chosen): what is made of short ones takes about ten times as much. */
const MOST_SHARED = 1 << 18;

/** The fields of a thread by their header lines. */
export class ResponseFields {
  /** Apart, so that those of one response do not push out those of all. */
  private readonly kept = new SharedFields();
  private readonly changing = new SharedFields();

  /**
   * @param key lower-case name of the header
   * @param line the whole line, "Name: value"
   */
  of(key: string, line: string): ResponseField {
    return this.kept.get(line) ?? this.changing.get(line) ?? this.make(key, line);
  }

  private make(key: string, line: string): ResponseField {
    // Copies: the line may be part of a whole head, which would stay with it.
    const own = flat(line);
    const field = new ResponseField(flat(key), own.slice(key.length + 1).replaceAll(AROUND, ''));
    (field.isKept ? this.kept : this.changing).add(own, field);
    return field;
  }
}

/** Blanks around a value are not part of it, and a field may not have them (RFC 9113 section 8.2.1). */
const AROUND = /^[ \t]+|[ \t]+$/g;

/** A bounded map that is emptied when it is full. */
class SharedFields {
  private readonly byLine = new Map<string, ResponseField>();
  private characters = 0;

  get(line: string): ResponseField | undefined {
    return this.byLine.get(line);
  }

  add(line: string, field: ResponseField): void {
    if (line.length > LONGEST_SHARED) return;
    this.characters += line.length + ENTRY_OVERHEAD;
    if (this.characters > MOST_SHARED) {
      this.byLine.clear();
      this.characters = line.length + ENTRY_OVERHEAD;
    }
    this.byLine.set(line, field);
  }
}
