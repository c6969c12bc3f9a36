// Directives of Cache-Control and similar headers: a list on one or several lines, names in any case, values bare or
// quoted (RFC 9111 section 5.2). Reads the text in place; the common result, an absent directive, allocates nothing.

import type { HttpMessage } from './message.ts';

/** Largest delta-seconds; larger values are cut to it (RFC 9111 section 1.2.2). */
export const MAX_DELTA = 2147483648;

/**
 * The value of directive `name` (lower case) in the headers named `key`: '' for a bare directive, null when it is
 * absent. The first occurrence counts.
 */
export function directive(msg: HttpMessage, key: string, name: string): string | null {
  const value = find(msg, key, name);
  if (value === undefined) return '';
  return value?.startsWith('"') ? unquoted(value) : value;
}

/** The value as written, quotes included; undefined for a bare directive, null when it is absent. */
function find(msg: HttpMessage, key: string, name: string): string | undefined | null {
  for (let i = 0; i < msg.n; i++) {
    if (msg.keys[i] !== key) continue;
    const value = inList(msg.lines[i] as string, key.length + 1, name);
    if (value !== null) return value;
  }
  return null;
}

function unquoted(text: string): string {
  const end = text.length > 1 && text.endsWith('"') ? text.length - 1 : text.length;
  return text.slice(1, end).replace(/\\(.)/g, '$1');
}

/** Whether directive `name` is present, with or without a value. */
export function hasDirective(msg: HttpMessage, key: string, name: string): boolean {
  return directive(msg, key, name) !== null;
}

/**
 * Seconds of a directive such as max-age: -1 when it is absent; 0 when its value is not a number, because freshness
 * that cannot be read means stale.
 */
export function deltaSeconds(msg: HttpMessage, key: string, name: string): number {
  const value = directive(msg, key, name);
  return value === null ? -1 : parseDelta(value);
}

/** Non-negative integer seconds, cut to MAX_DELTA; 0 for anything else. */
export function parseDelta(value: string): number {
  let n = 0;
  for (let i = 0; i < value.length; i++) {
    const d = value.charCodeAt(i) - 48;
    if (d < 0 || d > 9) return 0;
    n = Math.min(n * 10 + d, MAX_DELTA);
  }
  return n;
}

/** Longest time that Varnish accepts. */
const CLASSIC_MAX = 4294967295;
const CLASSIC = /^[ \t]*\+?(\d+)(?:[.,].*|[ \t]*)$/;

/**
 * Seconds as Varnish reads them: a fraction and the text after a comma are cut off, anything else that is not a number is 0.
 */
export function classicSeconds(text: string): number {
  const digits = CLASSIC.exec(text)?.[1];
  return digits === undefined ? 0 : Math.min(Number(digits), CLASSIC_MAX);
}

/** deltaSeconds() as Varnish reads it: a directive without a value counts as absent, a quoted one as 0. */
export function classicDelta(msg: HttpMessage, key: string, name: string): number {
  const value = find(msg, key, name);
  return value === null || value === undefined ? -1 : classicSeconds(value);
}

function isBlank(c: number): boolean {
  return c === 32 || c === 9;
}

/** Like find(), in one line. */
function inList(line: string, from: number, name: string): string | undefined | null {
  const end = line.length;
  let p = from;
  while (p < end) {
    let c = line.charCodeAt(p);
    if (isBlank(c) || c === 44) {
      p++;
      continue;
    }
    const start = p;
    while (p < end) {
      c = line.charCodeAt(p);
      if (c === 44 || c === 61 || isBlank(c)) break;
      p++;
    }
    const found = p - start === name.length && sameFolded(line, start, name);
    // Blanks around "=" are not in the grammar; the result must be safe for readers that skip them and for those that
    // do not.
    while (p < end && isBlank(line.charCodeAt(p))) p++;
    if (p >= end || line.charCodeAt(p) !== 61) {
      if (found) return undefined;
      if (p < end && line.charCodeAt(p) !== 44 && p === start) p++;
      continue;
    }
    p++;
    while (p < end && isBlank(line.charCodeAt(p))) p++;
    const valueStart = p;
    if (line.charCodeAt(p) === 34) {
      p++;
      while (p < end && line.charCodeAt(p) !== 34) p += line.charCodeAt(p) === 92 ? 2 : 1;
      if (found) return line.slice(valueStart, Math.min(p + 1, end));
      p++;
    } else {
      while (p < end && line.charCodeAt(p) !== 44) p++;
      if (found) return line.slice(valueStart, p).trimEnd();
    }
  }
  return null;
}

function sameFolded(line: string, at: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    let c = line.charCodeAt(at + i);
    if (c >= 65 && c <= 90) c += 32;
    if (c !== name.charCodeAt(i)) return false;
  }
  return true;
}
