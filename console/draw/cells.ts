// Width of texts in terminal cells, and cutting to a width. Text is printable already (no control bytes). Widths are
// those of single characters, as terminals and tmux count them, not of grapheme clusters: some terminals draw a cluster
// as one picture, others as its parts.

import { eastAsianWidth } from 'get-east-asian-width';

const ASCII = /^[\x20-\x7e]*$/;
/** Texts with a cell per code unit: ASCII, and what screens are drawn with (dots, dashes, quotes, arrows, boxes, blocks,
 * braille, placeholders of panes). */
const CELLS =
  /^[\x20-\x7e\u00b5\u00b7\u00d7\u2013\u2014\u2019\u2026\u2190-\u2193\u2500-\u25c6\u25cb\u25cf\u2800-\u28ff\ue000-\uf8ff]*$/;

export function widthOf(text: string): number {
  if (CELLS.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += charWidth(char.codePointAt(0) as number);
  return width;
}

/** Combining and invisible characters. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

function charWidth(code: number): 0 | 1 | 2 {
  if (code < 0x300) return 1;
  return ZERO.test(String.fromCodePoint(code)) ? 0 : eastAsianWidth(code);
}

/** The longest beginning of `text` that fits in `width` cells. */
export function clip(text: string, width: number): string {
  if (CELLS.test(text)) return text.length <= width ? text : text.slice(0, Math.max(0, width));
  let used = 0;
  let end = 0;
  for (const char of text) {
    used += charWidth(char.codePointAt(0) as number);
    if (used > width) return text.slice(0, end);
    end += char.length;
  }
  return text;
}

/** As `clip`, with a mark in the last cell when something was cut. */
export function ellipsis(text: string, width: number, mark = '…'): string {
  if (widthOf(text) <= width) return text;
  return width <= 0 ? '' : clip(text, width - 1) + mark;
}

/** As many whole words as fit, and a mark if some do not. A word is cut if a third of the width would stay empty. */
export function wordsFit(text: string, width: number, mark = '…'): string {
  const cut = ellipsis(text, width, mark);
  if (cut === text) return text;
  const kept = cut.slice(0, -mark.length);
  const end = text[kept.length] === ' ' ? kept.length : kept.lastIndexOf(' ');
  return end < (width * 2) / 3 ? cut : `${kept.slice(0, end).replace(/[\s,;:]+$/, '')}${mark}`;
}

/** As many whole clauses of a remark as fit, at least the first, and a mark if some do not. */
export function clausesFit(text: string, width: number, mark = '…'): string {
  if (widthOf(text) <= width) return text;
  const [first = '', ...more] = text.split(/(?<=[,;]) /);
  let kept = first;
  for (const clause of more) {
    if (widthOf(`${kept} ${clause}`) > width) break;
    kept = `${kept} ${clause}`;
  }
  return wordsFit(`${kept.replace(/[,;]$/, '')}${mark}`, width, mark);
}

export function padEnd(text: string, width: number): string {
  const w = widthOf(text);
  return w >= width ? text : text + ' '.repeat(width - w);
}

export function padStart(text: string, width: number): string {
  const w = widthOf(text);
  return w >= width ? text : ' '.repeat(width - w) + text;
}

const LOOKALIKES: Readonly<Record<string, string>> = {
  µ: 'u',
  '–': '-',
  '…': '~',
  '●': '*',
  '·': '.',
  '’': "'",
  '→': '>',
  '└': '`',
  '↑': '^',
  '↓': 'v',
};

/** The text in ASCII of the same width: similar characters, or a question mark per cell. */
export function toAscii(text: string): string {
  if (ASCII.test(text)) return text;
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    out += code < 0x7f ? char : (LOOKALIKES[char] ?? '?'.repeat(charWidth(code)));
  }
  return out;
}
