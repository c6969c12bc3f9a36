// The ways a head can be malformed, one row each: the log's text and whether the peer still gets a response. Ids are
// positions and append only. The parser chooses the row.

import type { Refusal } from '../../protocol/tables/refusals.ts';
import { TOKEN_FOLD } from './byte-classes.ts';
import { latin1Text } from './latin1.ts';
import type { LentBytes } from './lent-bytes.ts';

/** One way a head can break. */
export interface HeadErrorRow {
  /** The reason in the log, the counters and the console. */
  readonly refusal: Refusal;
  /** Log record that carries it: the offending header, or the raw head when the start line is unreadable. */
  readonly record: 'BogoHeader' | 'HttpGarbage';
  /** Text of a BogoHeader record; `%c` is the offending byte in hex, `%l` the first 20 bytes of the line. */
  readonly text: string;
  /** Status of the response; 0 closes without one, since the rest of the head was never read. */
  readonly status: 400 | 0;
  /** Why the connection ends; a name of protocol/tables/close-reasons.ts. */
  readonly close: 'RX_JUNK' | 'RX_OVERFLOW';
}

const bogus = (refusal: Refusal, text: string): HeadErrorRow => ({
  refusal,
  record: 'BogoHeader',
  text,
  status: 400,
  close: 'RX_JUNK',
});
const garbage = (refusal: Refusal): HeadErrorRow => ({
  refusal,
  record: 'HttpGarbage',
  text: '',
  status: 400,
  close: 'RX_JUNK',
});

export const HEAD_ERRORS: readonly HeadErrorRow[] = [
  // No error.
  garbage('start_line'),
  garbage('start_line'),
  garbage('method'),
  garbage('target'),
  garbage('version'),
  garbage('status'),
  garbage('start_line_end'),
  bogus('name_empty', 'Missing header name: %l'),
  bogus('name_blank', 'Illegal char %c in header name'),
  bogus('name_token', 'Illegal char %c in header name'),
  bogus('colon_missing', "Header without ':' %l"),
  bogus('fold', 'Header line is a continuation: %l'),
  bogus('bare_lf', 'Header line ends without CR: %l'),
  bogus('bare_cr', 'Header has ctrl char 0x0d'),
  bogus('value_control', 'Header has ctrl char %c'),
  bogus('line_long', 'Header too long: %l'),
  bogus('fields_many', 'Too many headers: %l'),
  { refusal: 'overflow', record: 'HttpGarbage', text: '', status: 0, close: 'RX_OVERFLOW' },
  bogus('fold_first', '1st header has white space: %l'),
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
/** Bytes of a header's name quoted in the place of an error (chosen). */
const NAMED = 40;

/** Where the parser stopped: row, start of the line, offset of the offending byte. */
export interface HeadFault {
  readonly error: number;
  readonly errorLine: number;
  readonly errorAt: number;
}

/** The BogoHeader text of a broken line; `end` is the end of the bytes received. */
export function errorText(head: HeadFault, buf: LentBytes, end: number): string {
  const row = HEAD_ERRORS[head.error] as HeadErrorRow;
  const line = head.errorLine;
  const most = Math.min(end, line + QUOTED);
  let stop = line;
  while (stop < most && buf[stop] !== 13 && buf[stop] !== 10) stop++;
  return row.text.replace('%c', hexByte(head, buf, end)).replace('%l', () => latin1Text(buf, line, stop));
}

function hexByte(head: HeadFault, buf: LentBytes, end: number): string {
  const byte = head.errorAt < end ? (buf[head.errorAt] as number) : 0;
  return `0x${byte.toString(16).padStart(2, '0')}`;
}

/** The place where a head in [start, end) broke, as text: `byte 0x20 in line 3 (header Host)`. */
export function errorPlace(head: HeadFault, buf: LentBytes, start: number, end: number): string {
  const line = head.errorLine;
  let number = 1;
  for (let lf = buf.indexOf(10, start); lf >= 0 && lf < line; lf = buf.indexOf(10, lf + 1)) number++;
  let stop = line;
  while (stop < end && stop - line < NAMED && isNameByte(buf[stop] as number)) stop++;
  const name = number > 1 && stop > line ? ` (header ${latin1Text(buf, line, stop)})` : '';
  // An exceeded limit has no offending byte.
  const ofByte = head.errorAt < end && head.error !== E_LINE_LONG && head.error !== E_FIELDS;
  const byte = ofByte ? `byte ${hexByte(head, buf, end)} in ` : '';
  return `${byte}line ${number}${name}`;
}

function isNameByte(c: number): boolean {
  return TOKEN_FOLD[c] !== 0;
}

/**
 * Bytes of a broken head in [start, end) in an HttpGarbage record, without the final NUL. As in Varnish: its first
 * word, or all of it up to a NUL when a control character comes before the first blank.
 */
export function garbageLength(buf: LentBytes, start: number, end: number): number {
  let p = start;
  while (p < end && (buf[p] as number) > 32 && buf[p] !== 127) p++;
  if (p < end && (buf[p] === 32 || buf[p] === 9)) return p - start;
  const nul = buf.indexOf(0, start);
  return (nul < 0 || nul > end ? end : nul) - start;
}
