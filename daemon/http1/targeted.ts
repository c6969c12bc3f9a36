// Targeted cache control (RFC 9213): headers such as CDN-Cache-Control, which hold the directives of Cache-Control as a
// dictionary structured field (RFC 8941). A malformed header counts as absent.

import type { HttpMessage } from './message.ts';

/** A member's value: true for a bare directive, a number for a number, else its text. */
export type Directives = ReadonlyMap<string, number | boolean | string>;

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const NUMBER = /-?\d{1,15}(?:\.\d{1,3})?/y;
const STRING = /"(?:[ !#-[\]-~]|\\["\\])*"/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const BYTES = /:[A-Za-z0-9+/]*={0,2}:/y;

class Reader {
  private readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** The text that `re` matches here, or null. */
  take(re: RegExp): string | null {
    re.lastIndex = this.at;
    const found = re.exec(this.text)?.[0];
    if (found === undefined) return null;
    this.at += found.length;
    return found;
  }

  /** Skips this character; false when the next one differs. */
  skip(c: string): boolean {
    if (this.text[this.at] !== c) return false;
    this.at++;
    return true;
  }

  /** Skips blanks, and tabs if they count as blanks. */
  blanks(tabs: boolean): void {
    while (this.text[this.at] === ' ' || (tabs && this.text[this.at] === '\t')) this.at++;
  }
}

/** The members of a targeted header; null if it is absent, malformed or empty. */
export function targetedDirectives(msg: HttpMessage, key: string): Directives | null {
  const text = msg.getAll(key);
  if (text === null) return null;
  const out = new Map<string, number | boolean | string>();
  const r = new Reader(text);
  r.blanks(false);
  while (!r.done) {
    const name = r.take(KEY);
    if (name === null) return null;
    const value = r.skip('=') ? item(r) : true;
    if (value === null || !parameters(r)) return null;
    out.delete(name);
    out.set(name, value);
    r.blanks(true);
    if (r.done) break;
    if (!r.skip(',')) return null;
    r.blanks(true);
    if (r.done) return null;
  }
  return out.size === 0 ? null : out;
}

/** Parses a bare item or an inner list; no directive has an inner list. */
function item(r: Reader): number | boolean | string | null {
  if (!r.skip('(')) return bareItem(r);
  for (;;) {
    r.blanks(false);
    if (r.skip(')')) return '';
    if (r.done || bareItem(r) === null || !parameters(r)) return null;
  }
}

function bareItem(r: Reader): number | boolean | string | null {
  const number = r.take(NUMBER);
  // A decimal is not an integer, whatever its digits: no directive takes one.
  if (number !== null) return number.includes('.') ? number : Number(number);
  const text = r.take(STRING);
  if (text !== null) return text.slice(1, -1).replace(/\\(.)/g, '$1');
  if (r.skip('?')) return r.skip('1') ? true : r.skip('0') ? false : null;
  return r.take(TOKEN) ?? r.take(BYTES);
}

function parameters(r: Reader): boolean {
  while (r.skip(';')) {
    r.blanks(false);
    if (r.take(KEY) === null) return false;
    if (r.skip('=') && bareItem(r) === null) return false;
  }
  return true;
}
