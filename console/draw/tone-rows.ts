// Lines of the model as rows of the screen: tones are styles of the same name, bitmaps and bars get the glyphs of the
// theme.

import { printable } from '../model/log/transaction.ts';
import { TAB, type ToneLine, type ToneText } from '../model/ui/panel.ts';
import { widthOf } from './cells.ts';
import { bar, type Row, rowWidth, type Span, span, sparkline } from './spans.ts';
import type { Theme } from './theme.ts';

/** `width`: cells of the row, into which a sparkline at its end is fitted by its newest values. */
export function toneRow(line: ToneLine, theme: Theme, width = Number.POSITIVE_INFINITY): Row {
  const row: Span[] = [];
  for (const piece of line) {
    const room = Math.max(0, width - rowWidth(row) - widthOf(piece.text));
    const { spark } = piece;
    const fits = spark === undefined || spark.length <= room;
    row.push(...toneSpans(fits ? piece : { ...piece, spark: spark.slice(spark.length - room) }, theme));
  }
  return row;
}

function toneSpans(piece: ToneText, theme: Theme): Span[] {
  const out: Span[] = [];
  if (piece.text !== '') {
    const text = printable(piece.text.replaceAll('\t', TAB));
    out.push(span(text, piece.tone));
  }
  if (piece.bits !== undefined)
    out.push(...probeBits(piece.bits.value, piece.bits.count, theme, piece.bits.old));
  if (piece.bar !== undefined) out.push(span(theme.glyphs.bar.full.repeat(piece.bar), piece.tone));
  if (piece.spark !== undefined) out.push(span(sparkline(piece.spark, theme, 0), piece.tone));
  return out;
}

/** A cell of a list in `width` cells, not padded; `share` is drawn as a bar with the text after it. */
export function cellSpans(cell: ToneText & { share?: number }, width: number, theme: Theme): Span[] {
  if (cell.share === undefined) return toneSpans(cell, theme);
  const room = width - cell.text.length - 1;
  return room < 4
    ? toneSpans(cell, theme)
    : [...bar(cell.share, room, theme, cell.tone ?? 'accent'), span(` ${cell.text}`, cell.tone)];
}

/** The newest probes at the right: a tall mark for good, a low one for bad; in one colour where they are `old`. */
export function probeBits(happy: bigint, count: number, theme: Theme, old = false): Span[] {
  const out: Span[] = [];
  for (let i = Math.min(64, count) - 1; i >= 0; i--) {
    const good = ((happy >> BigInt(i)) & 1n) === 1n;
    const mark = theme.glyphs.braille ? (good ? '▮' : '▯') : good ? '|' : '.';
    const style = old ? 'muted' : good ? 'good' : 'bad';
    const last = out.at(-1);
    if (last !== undefined && last.style === style) last.text += mark;
    else out.push({ text: mark, style });
  }
  return out;
}
