// A titled frame around rows, drawn here and not by Ink: its borders carry a title and a remark, and a
// frame without colour still reads as one.

import { ellipsis, widthOf } from './cells.ts';
import { fitRow, type Row, rowWidth, type Span, span } from './spans.ts';
import type { StyleName, Theme } from './theme.ts';

export interface FrameOptions {
  title: string;
  /** Shown at the right end of the top border. */
  remark?: Row;
  width: number;
  height: number;
  style?: StyleName;
}

/** `height` rows of `width` cells; `rows` are cut or filled up to the inside, one blank cell at each side. */
export function framed(rows: readonly Row[], options: FrameOptions, theme: Theme): Row[] {
  const { width, height } = options;
  const style = options.style ?? 'frame';
  const { horizontal: h, vertical: v, corners } = theme.glyphs;
  const [topLeft, topRight, bottomLeft, bottomRight] = corners;
  const inside = Math.max(0, width - 4);
  const title = ellipsis(options.title, inside, theme.glyphs.ellipsis);
  const room = width - 5 - widthOf(title);
  const fitting = options.remark !== undefined && rowWidth(options.remark) + 3 <= room ? options.remark : [];
  const remark = rowWidth(fitting) === 0 ? [] : fitting;
  const remarkWidth = remark.length === 0 ? 0 : rowWidth(remark) + 2;
  const top: Span[] = [
    span(`${topLeft}${h} `, style),
    span(title, 'title'),
    span(
      ` ${h.repeat(Math.max(0, width - 5 - widthOf(title) - remarkWidth - (remarkWidth > 0 ? 1 : 0)))}`,
      style,
    ),
    ...(remark.length === 0 ? [] : [span(' '), ...remark, span(' '), span(h, style)]),
    span(topRight, style),
  ];
  const out: Row[] = [top];
  for (let i = 0; i < height - 2; i++) {
    out.push([span(`${v} `, style), ...fitRow(rows[i] ?? [], inside), span(` ${v}`, style)]);
  }
  out.push([span(bottomLeft + h.repeat(Math.max(0, width - 2)) + bottomRight, style)]);
  return out;
}
