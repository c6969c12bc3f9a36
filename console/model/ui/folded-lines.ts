// Lines of toned text folded to a width: at blanks, with the indentation of their beginning, so that no word is cut. A
// line with a fixed piece is one of columns or of source code, whose marks are aligned, and stays one line. A word that
// is too long, such as a URL, continues after a mark, which a fold at a blank does not have.

import type { HelpSection } from './keymap.ts';
import { TAB, type TextPanel, type ToneLine, type ToneText } from './panel.ts';

/** The indentation of a fold is at most this share of the width. */
const MOST_INDENT = 1 / 3;

/** The lines of a panel in `cells` cells: folded, or each as one line, scrolled to the left. */
export function panelLines({ lines, left = 0 }: TextPanel, cells: number): ToneLine[] {
  return left === 0 ? folded(lines, cells) : lines.map((line) => moved(line, left));
}

/** Characters by which the lines of a panel can be scrolled to the left. */
export function mostLeft({ lines }: TextPanel, cells: number): number {
  return Math.max(0, ...lines.map(lengthOf)) - cells;
}

/** Fixed pieces, such as line numbers, stay. */
function moved(line: ToneLine, left: number): ToneLine {
  let over = left;
  return line.map((piece) => {
    if (piece.fixed === true || over === 0) return piece;
    const characters = drawn(piece);
    const rest = characters.slice(over).join('');
    over -= Math.min(over, characters.length);
    return { ...piece, text: rest };
  });
}

function lengthOf(line: ToneLine): number {
  return line.reduce((sum, piece) => sum + drawn(piece).length, 0);
}

function drawn({ text }: ToneText): string[] {
  return [...text.replaceAll('\t', TAB)];
}

export function folded(lines: readonly ToneLine[], width: number): ToneLine[] {
  return lines.flatMap((line) => fold(line, width));
}

/** A line of the help: a title, or keys and their help, which may continue without keys. */
export type HelpLine = { title: string } | { keys: string; help: string };

/** Sections with a blank line between, their texts folded to `width`. */
export function helpLines(sections: readonly HelpSection[], width: number): HelpLine[] {
  if (sections.length === 0) return [{ title: 'No key matches.' }];
  return sections.flatMap(({ title, rows }, i): HelpLine[] => [
    ...(i > 0 ? [{ title: ' ' }] : []),
    { title },
    ...rows.flatMap(({ keys, help }) =>
      fold([{ text: help }], width).map((line, n) => ({
        keys: n === 0 ? keys : '',
        help: line
          .map((piece) => piece.text)
          .join('')
          .trimEnd(),
      })),
    ),
  ]);
}

function fold(line: ToneLine, width: number): ToneLine[] {
  const text = line.map((piece) => piece.text).join('');
  if (text.length <= width || width < 1 || line.some(isFixed)) return [line];
  const begins = /^\s*/.exec(text)?.[0].length ?? 0;
  const indent = Math.min(begins, Math.floor(width * MOST_INDENT));
  const out: ToneText[][] = [];
  let row: ToneText[] = [];
  let used = 0;
  let words = 0;
  const put = (piece: ToneText): void => {
    row.push(piece);
    used += piece.text.length;
  };
  const begin = (): void => {
    row = indent > 0 ? [{ text: ' '.repeat(indent) }] : [];
    used = indent;
    words = 0;
  };
  const next = (): void => {
    // Trailing blanks are dropped at a fold.
    while (row.at(-1)?.text.trim() === '') row.pop();
    out.push(row);
    begin();
  };
  for (const piece of line) {
    for (const token of piece.text.match(/\s+|\S+/g) ?? []) {
      if (token.trim() === '') {
        if (words > 0 || out.length === 0) put({ ...piece, text: token });
        continue;
      }
      if (used + token.length > width && words > 0) next();
      // The indentation leaves no room for the first word.
      else if (used + token.length > width && used > indent) begin();
      for (const [i, part] of inParts(token, width - indent, width - used).entries()) {
        if (i > 0) next();
        put({ ...piece, text: part });
        words++;
      }
    }
  }
  if (words > 0) out.push(row);
  return out;
}

const CONTINUED = '…';

/** A word in parts of at most `width` characters, the first of at most `first`; all but the last end with a mark. */
export function inParts(word: string, width: number, first = width): string[] {
  const out: string[] = [];
  let rest = word;
  for (let room = first; rest.length > room && room > 0; room = width) {
    const cut = Math.max(1, room - CONTINUED.length);
    // Never between surrogate halves.
    const whole = (rest.charCodeAt(cut) & 0xfc00) === 0xdc00 ? cut + (cut > 1 ? -1 : 1) : cut;
    out.push(rest.slice(0, whole) + (room > CONTINUED.length ? CONTINUED : ''));
    rest = rest.slice(whole);
  }
  return [...out, rest];
}

function isFixed({ fixed, bits, bar }: ToneText): boolean {
  return fixed === true || bits !== undefined || bar !== undefined;
}
