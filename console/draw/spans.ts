// Rows of styled text before they become escape sequences: a row is a list of spans, and each painted row has exactly
// the requested width.

import { clip, ellipsis, padEnd, padStart, widthOf } from './cells.ts';
import type { FillName, StyleName, Theme } from './theme.ts';

export interface Span {
  text: string;
  style?: StyleName;
}

export type Row = readonly Span[];

export function span(text: string, style?: StyleName): Span {
  return style === undefined ? { text } : { text, style };
}

export function rowWidth(row: Row): number {
  let width = 0;
  for (const s of row) width += widthOf(s.text);
  return width;
}

/** Cut or padded to `width` cells. */
export function fitRow(row: Row, width: number): Span[] {
  const out: Span[] = [];
  let left = width;
  for (const s of row) {
    if (left <= 0) break;
    const text = clip(s.text, left);
    left -= widthOf(text);
    out.push(text === s.text ? s : { ...s, text });
    if (text.length < s.text.length) break;
  }
  if (left > 0) out.push({ text: ' '.repeat(left) });
  return out;
}

/** The row, or as much of it as fits, with a mark at the cut. */
export function markCut(row: Row, width: number): Row {
  if (rowWidth(row) <= width || widthOf(plain(row).trimEnd()) <= width) return row;
  const kept = fitRow(row, Math.max(0, width - 1));
  return [...kept, { ...kept.at(-1), text: '…' }];
}

/** The row without its first `from` cells; half of a wide character becomes a blank. */
export function sliceRow(row: Row, from: number): Span[] {
  const out: Span[] = [];
  let skip = from;
  for (const s of row) {
    const width = widthOf(s.text);
    if (skip >= width) {
      skip -= width;
      continue;
    }
    const head = clip(s.text, skip);
    const missing = skip - widthOf(head);
    const rest =
      missing === 0 ? s.text.slice(head.length) : ` ${s.text.slice(head.length).replace(/^./u, '')}`;
    out.push(skip === 0 ? s : { ...s, text: rest });
    skip = 0;
  }
  return out;
}

/** Left and right part on one row; the left one is cut, with a mark. */
export function spread(left: Row, right: Row, width: number): Span[] {
  const r = rowWidth(right);
  if (r >= width) return fitRow(right, width);
  const room = width - r;
  if (rowWidth(left) <= room) return [...fitRow(left, room), ...right];
  const gap = r === 0 || right[0]?.text.startsWith(' ') === true ? 0 : 1;
  const cells = Math.max(1, room - gap);
  return [...fitRow(markCut(left, cells), cells), span(' '.repeat(gap)), ...right];
}

/** Numbers of rows of a list outside of its window; '' for none. */
export function moreRows(above: number, below: number): string {
  const parts = [above > 0 ? `${above} above` : '', below > 0 ? `${below} below` : ''];
  return parts.filter(Boolean).join(', ');
}

/** Rows of data that is no longer current: nothing in them calls for attention. */
export function dimmed(rows: readonly Row[]): Row[] {
  return rows.map((row) => row.map(({ text }) => span(text, 'faint')));
}

export function cell(text: string, width: number, style?: StyleName): Span {
  return span(padEnd(ellipsis(text, width), width), style);
}

export function cellRight(text: string, width: number, style?: StyleName): Span {
  return span(padStart(ellipsis(text, width), width), style);
}

/** The row as text with escape sequences, `width` cells wide. */
export function paint(row: Row, width: number, theme: Theme, fill?: FillName): string {
  let out = '';
  for (const s of fitRow(row, width)) {
    const open = theme.open(s.style, fill);
    const text = theme.text(s.text);
    out += open === '' ? text : `${open}${text}\x1b[0m`;
  }
  return out;
}

/** The row's text alone. */
export function plain(row: Row): string {
  return row.map((s) => s.text).join('');
}

/** One cell per value, between `low` and the greatest of them; a constant line is flat, NaN is a blank. */
export function sparkline(
  values: readonly number[],
  theme: Theme,
  low = Math.min(...values.filter((v) => !Number.isNaN(v))),
): string {
  const marks = theme.glyphs.braille ? '▁▂▃▄▅▆▇█' : '_.-=^';
  const range = Math.max(...values.filter((v) => !Number.isNaN(v))) - low;
  return values
    .map((v) =>
      Number.isNaN(v) ? ' ' : marks[range <= 0 ? 0 : Math.round(((v - low) / range) * (marks.length - 1))],
    )
    .join('');
}

/** A bar of `width` cells filled to `share` (0..1), with eighths where the glyphs have them. */
export function bar(share: number, width: number, theme: Theme, style: StyleName): Span[] {
  const { full, empty, parts } = theme.glyphs.bar;
  const eighths = Math.round(Math.max(0, Math.min(1, share)) * width * parts.length);
  const whole = Math.floor(eighths / parts.length);
  const part = parts[eighths % parts.length] as string;
  const rest = Math.max(0, width - whole - (part === '' ? 0 : 1));
  return [span(full.repeat(whole) + part, style), span(empty.repeat(rest), 'frame')];
}
