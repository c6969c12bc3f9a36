// Numbered source lines with remarks at their positions, file by file. If the text of a file is unknown or differs
// from the one compiled, only the quoted line is shown, with a note.

import type { ToneLine, ToneText } from '../../model/ui/panel.ts';
import { colouredLine, type Within } from './source-colours.ts';

export interface SourceRemark {
  message: string;
  file: string;
  /** From 1. */
  line: number;
  /** In cells from 1, with tabs to the next multiple of 8. */
  column: number;
  /** Width of the marked part, in cells. */
  length: number;
  tone: 'bad' | 'warn';
  /** The line as quoted by the remark, in cells; a long one may be cut, and then starts at this column. */
  quote: string;
  quoteFrom: number;
  /** "main.vcl line 3"; '' in the main file. */
  includedFrom: string;
}

export interface RemarkedFile {
  name: string;
  /** Null if unknown. */
  text: string | null;
  remarks: readonly SourceRemark[];
}

const TAB = 8;
/** Cells before the text: the line number and a blank. */
const MARGIN = 6;
const MOST_MARKS = 40;

export function inCells(line: string): string {
  let out = '';
  for (const [i, part] of line.replace(/\r$/, '').split('\t').entries())
    out += i === 0 ? part : ' '.repeat(TAB - (out.length % TAB)) + part;
  return out;
}

/** Files that have remarks, in lines of `width` cells, and the line of the first remark. */
export function remarkedFiles(
  files: readonly RemarkedFile[],
  width: number,
): { lines: ToneLine[]; first: number } {
  const lines: ToneLine[] = [];
  let first = -1;
  for (const { name, text, remarks } of files) {
    const [one] = remarks;
    if (one === undefined) continue;
    if (lines.length > 0) lines.push([]);
    const from = one.includedFrom === '' ? '' : `  included from ${one.includedFrom}`;
    lines.push([
      { text: name, tone: 'title' },
      { text: from, tone: 'muted' },
    ]);
    const known = text !== null && remarks.every((r) => isQuoted(text, r));
    if (first < 0) first = lines.length + (known ? one.line - 1 : 1);
    lines.push(...(known ? annotatedSource(text, remarks, width) : quotedLines(remarks, width)));
  }
  return { lines, first: Math.max(0, first) };
}

/** Numbered source with each remark below its line. */
export function annotatedSource(source: string, remarks: readonly SourceRemark[], width: number): ToneLine[] {
  let within: Within = '';
  return linesOf(source).flatMap((text, i) => {
    const here = remarks.filter((r) => r.line === i + 1);
    const coloured = colouredLine(text, within);
    within = coloured.within;
    if (here.length === 0) return [numbered(i + 1, text, false, coloured.pieces)];
    let shown = -1;
    // The line is repeated if the next remark is about another part of it.
    return here.flatMap((r) => {
      const shift = shiftOf(r, r.column, width);
      const again = shift !== shown;
      shown = shift;
      return [...(again ? [numbered(i + 1, moved(text, shift), true)] : []), marked(r, r.column - shift)];
    });
  });
}

function quotedLines(remarks: readonly SourceRemark[], width: number): ToneLine[] {
  return [
    [{ text: 'The source is not available here; only the lines concerned:', tone: 'muted' }],
    ...remarks.flatMap((r) => {
      const column = r.column - r.quoteFrom + 1;
      const shift = shiftOf(r, column, width);
      return [numbered(r.line, moved(r.quote, shift), true), marked(r, column - shift)];
    }),
  ];
}

/** Horizontal scroll offset that makes the marked part visible. */
function shiftOf(remark: SourceRemark, column: number, width: number): number {
  const room = width - MARGIN;
  return column + marksOf(remark) <= room ? 0 : Math.max(0, column - Math.floor(room / 2));
}

function moved(text: string, shift: number): string {
  return shift === 0 ? text : `…${text.slice(shift + 1)}`;
}

function linesOf(source: string): string[] {
  return source.replace(/\n$/, '').split('\n').map(inCells);
}

/** Is this the text that the remark refers to? */
function isQuoted(text: string, { line, quote, quoteFrom }: SourceRemark): boolean {
  const whole = linesOf(text)[line - 1];
  return whole !== undefined && whole.slice(quoteFrom - 1, quoteFrom - 1 + quote.length) === quote;
}

function numbered(
  line: number,
  text: string,
  remarked: boolean,
  pieces: readonly ToneText[] = [{ text, tone: remarked ? 'strong' : 'text' }],
): ToneLine {
  return [
    { text: `${String(line).padStart(MARGIN - 1)} `, tone: remarked ? 'warn' : 'faint', fixed: true },
    ...pieces,
  ];
}

function marksOf({ length }: SourceRemark): number {
  return Math.max(1, Math.min(length, MOST_MARKS));
}

function marked(remark: SourceRemark, column: number): ToneLine {
  const { message, tone } = remark;
  const mark = '^'.repeat(marksOf(remark));
  return [{ text: `${' '.repeat(MARGIN + Math.max(0, column - 1))}${mark} ${message}`, tone }];
}
