// The ways a head can be malformed, one row each: what the log says and whether the peer still gets an answer.
// Ids are positions and append only. This table never decides anything; the parser picks the row.

import { latin1Text } from './latin1.ts';

/** One way a head can break. */
export interface HeadErrorRow {
  /** Stable name, for tests and counters. */
  readonly slug: string;
  /** Log record that carries it: the offending field, or the raw head when the start line is unreadable. */
  readonly record: 'BogoHeader' | 'HttpGarbage';
  /** Text of a BogoHeader record; `%c` is the offending byte in hex, `%l` the first 20 bytes of the line. */
  readonly text: string;
  /** Status of the answer; 0 closes without one, since the rest of the head was never read. */
  readonly status: 400 | 0;
  /** Why the connection ends; a name of protocol/tables/close-reasons.ts. */
  readonly close: 'RX_JUNK' | 'RX_OVERFLOW';
}

const bogus = (slug: string, text: string): HeadErrorRow => ({
  slug,
  record: 'BogoHeader',
  text,
  status: 400,
  close: 'RX_JUNK',
});
const garbage = (slug: string): HeadErrorRow => ({
  slug,
  record: 'HttpGarbage',
  text: '',
  status: 400,
  close: 'RX_JUNK',
});

export const HEAD_ERRORS: readonly HeadErrorRow[] = [
  garbage('none'),
  garbage('start-line'),
  garbage('method'),
  garbage('target'),
  garbage('version'),
  garbage('status'),
  garbage('start-line-end'),
  bogus('name-empty', 'Missing header name: %l'),
  bogus('name-blank', 'Illegal char %c in header name'),
  bogus('name-token', 'Illegal char %c in header name'),
  bogus('colon-missing', "Header without ':' %l"),
  bogus('fold', 'Header line is a continuation: %l'),
  bogus('bare-lf', 'Header line ends without CR: %l'),
  bogus('bare-cr', 'Header has ctrl char 0x0d'),
  bogus('value-control', 'Header has ctrl char %c'),
  bogus('line-long', 'Header too long: %l'),
  bogus('fields-many', 'Too many headers: %l'),
  { slug: 'overflow', record: 'HttpGarbage', text: '', status: 0, close: 'RX_OVERFLOW' },
  bogus('fold-first', '1st header has white space: %l'),
];

export const E_NONE = 0;
export const E_START_LINE = 1;
export const E_METHOD = 2;
export const E_TARGET = 3;
export const E_VERSION = 4;
export const E_STATUS = 5;
export const E_START_END = 6;
export const E_NAME_EMPTY = 7;
export const E_NAME_BLANK = 8;
export const E_NAME_TOKEN = 9;
export const E_COLON = 10;
export const E_FOLD = 11;
export const E_BARE_LF = 12;
export const E_BARE_CR = 13;
export const E_VALUE = 14;
export const E_LINE_LONG = 15;
export const E_FIELDS = 16;
export const E_OVERFLOW = 17;
export const E_FOLD_FIRST = 18;

const QUOTED = 20;

/**
 * The BogoHeader text of a broken line; `end` is the end of the bytes received.
 * @param head where the parser stopped: row, start of the line, offset of the offending byte
 */
export function errorText(
  head: { readonly error: number; readonly errorLine: number; readonly errorAt: number },
  buf: Buffer,
  end: number,
): string {
  const row = HEAD_ERRORS[head.error] as HeadErrorRow;
  const line = head.errorLine;
  const byte = head.errorAt < end ? (buf[head.errorAt] as number) : 0;
  const most = Math.min(end, line + QUOTED);
  let stop = line;
  while (stop < most && buf[stop] !== 13 && buf[stop] !== 10) stop++;
  return row.text
    .replace('%c', `0x${byte.toString(16).padStart(2, '0')}`)
    .replace('%l', () => latin1Text(buf, line, stop));
}

/**
 * How many bytes of a broken head in [start, end) an HttpGarbage record shows, a NUL following: as in the field, its
 * first word, or all of it up to a NUL when a control character comes before the first blank.
 */
export function garbageLength(buf: Buffer, start: number, end: number): number {
  let p = start;
  while (p < end && (buf[p] as number) > 32 && buf[p] !== 127) p++;
  if (p < end && (buf[p] === 32 || buf[p] === 9)) return p - start;
  const nul = buf.indexOf(0, start);
  return (nul < 0 || nul > end ? end : nul) - start;
}
