// Rewrites a head in an old form (lines that end in LF alone, values continued on the next line) for the strict parser,
// so that there is one parser and one set of rules: any other error in the head remains one. Used only after the strict
// parser refused a byte, so that a clean head pays nothing. Limits apply to the bytes received, not to the rewritten
// ones.

import { E_BARE_LF, E_FOLD, E_START_END, E_START_LINE, E_STATUS } from './head-errors.ts';
import type { HeadResult } from './head-result.ts';
import { latin1Text } from './latin1.ts';
import type { Leniencies } from './leniency.ts';
import type { LentBytes } from './lent-bytes.ts';

const CR = 13;
const LF = 10;
const SP = 32;
const HTAB = 9;

/** Errors that a line end without CR leads to, with that LF as the offending byte. */
const BY_LF: ReadonlySet<number> = new Set([E_BARE_LF, E_START_LINE, E_START_END, E_STATUS]);

/** Whether a line end without CR may be the only reason for the error. */
export function failedAtLf(head: HeadResult, buf: LentBytes, end: number): boolean {
  return BY_LF.has(head.error) && head.errorAt < end && buf[head.errorAt] === LF;
}

/** Whether an old form may be the only reason for the error. */
export function failedAtOldForm(head: HeadResult, buf: LentBytes, end: number): boolean {
  return head.error === E_FOLD || failedAtLf(head, buf, end);
}

/** Offset past the first empty line of buf[start, end), however its lines end; -1 when there is none yet. */
export function endOfHead(buf: LentBytes, start: number, end: number): number {
  for (let lf = buf.indexOf(LF, start); lf >= 0 && lf + 1 < end; lf = buf.indexOf(LF, lf + 1)) {
    if (buf[lf + 1] === LF) return lf + 2;
    if (buf[lf + 1] === CR && lf + 2 < end && buf[lf + 2] === LF) return lf + 3;
  }
  return -1;
}

/** Offset of the first header in buf[start, end) with more than `most` bytes, including its continuations and without
 * its last line end; -1 when there is none. */
export function longHeader(buf: LentBytes, start: number, end: number, most: number): number {
  let from = -1;
  for (let line = start; line < end; ) {
    const lf = buf.indexOf(LF, line);
    if (lf < 0 || lf >= end) break;
    // The start line has no limit of its own.
    if (line > start && (from < 0 || !isBlankByte(buf[line] as number))) from = line;
    if (from >= 0 && lf - (buf[lf - 1] === CR ? 1 : 0) - from > most) return from;
    line = lf + 1;
  }
  return -1;
}

/**
 * The head in buf[start, end), which ends with its empty line, with CRLF after every line and every continuation
 * joined to its line by one blank. The first header line has nothing to continue: such a head stays malformed.
 * @param folds whether continuations are joined
 */
export function modernHead(
  buf: LentBytes,
  start: number,
  end: number,
  folds: boolean,
  leniencies: Leniencies,
): Buffer {
  const lines: string[] = [];
  for (const [i, ended] of latin1Text(buf, start, end - 1)
    .split('\n')
    .entries()) {
    const whole = ended.endsWith('\r');
    const line = whole ? ended.slice(0, -1) : ended;
    if (!whole) leniencies.note('bare-lf', place(i, line));
    const last = lines.length - 1;
    if (!folds || i < 2 || !isBlank(line, 0)) {
      lines.push(line);
      continue;
    }
    leniencies.note('fold', place(last, lines[last] as string));
    const more = trim(line);
    if (more !== '') lines[last] = `${trimEnd(lines[last] as string)} ${more}`;
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1');
}

/**
 * The request head at the start of buf[start, end) with CRLF after every line, without the empty lines before it.
 * @returns the head and the offset past it in `buf`; null while it is incomplete
 */
export function modernRequest(
  buf: LentBytes,
  start: number,
  end: number,
  leniencies: Leniencies,
): { readonly bytes: Buffer; readonly past: number } | null {
  let from = start;
  for (;;) {
    if (from < end && buf[from] === LF) from++;
    else if (from + 1 < end && buf[from] === CR && buf[from + 1] === LF) from += 2;
    else break;
  }
  const past = endOfHead(buf, from, end);
  return past < 0 ? null : { bytes: modernHead(buf, from, past, false, leniencies), past };
}

/** The place of a line for the log: its number, from 1, and its header. */
function place(index: number, line: string): string {
  if (index === 0) return 'line 1';
  if (line === '') return `line ${index + 1} (the empty one)`;
  const colon = line.indexOf(':');
  return `line ${index + 1}${colon > 0 && colon <= 40 ? ` (header ${line.slice(0, colon)})` : ''}`;
}

function isBlank(text: string, at: number): boolean {
  return isBlankByte(text.charCodeAt(at));
}

function isBlankByte(c: number): boolean {
  return c === SP || c === HTAB;
}

/** Blanks only, unlike String.trim(), so that control characters stay visible. */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isBlank(text, end - 1)) end--;
  return text.slice(0, end);
}

function trim(text: string): string {
  let from = 0;
  while (from < text.length && isBlank(text, from)) from++;
  return trimEnd(text.slice(from));
}
