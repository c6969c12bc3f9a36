// Rows of a list view: its title, its list, and the detail of a row.

import { ellipsis } from '../../draw/cells.ts';
import { fitRow, type Row, rowWidth, type Span, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import { cellSpans, toneRow } from '../../draw/tone-rows.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import type { Size } from '../../model/layout.ts';
import {
  columnWidths,
  type ListRow,
  type ListState,
  listBody,
  listTop,
  selectedIndex,
  shownRows,
} from './list-state.ts';
import type { ListDefinition } from './list-view.tsx';

/** What a list view shows of its rows. */
export interface ShownList {
  /** The rows in its window, from row `top` of those that pass the filter. */
  window: readonly ListRow[];
  /** Index in the window of the selected row; -1 without one. */
  selected: number;
  widths: readonly number[];
  all: number;
  passing: number;
}

export function shownList(
  session: DaemonSession,
  definition: ListDefinition,
  state: ListState,
  size: Size,
): ShownList {
  const { list } = listBody(size, state.detail);
  const all = definition.rows(session, state.option);
  const passing = shownRows(state, all);
  const at = selectedIndex(state, passing);
  const top = listTop(state, at, passing.length, list);
  return {
    window: passing.slice(top, top + list),
    selected: passing[at] === undefined ? -1 : at - top,
    widths: columnWidths(definition.columns, size.columns - 2),
    all: all.length,
    passing: passing.length,
  };
}

export function titleRow(
  session: DaemonSession,
  definition: ListDefinition,
  state: ListState,
  { all, passing }: ShownList,
  width: number,
): Row {
  const left: Span[] = [
    span(` ${definition.title}`, 'title'),
    span(`  ${definition.remark(session, state.option)}`, 'muted'),
  ];
  const column = definition.columns[state.sort];
  const right: Span[] = [];
  if (state.filter !== '') right.push(span(`/${state.filter}  `, 'warn'));
  if (column !== undefined)
    right.push(
      span(`by ${column.title.toLowerCase()}${state.descending ? ', highest first' : ''}  `, 'muted'),
    );
  right.push(span(`${passing === all ? all : `${passing} of ${all}`} `, 'muted'));
  return spread(left, right, width);
}

/** A column's title with the mark of the sorted one. */
export function columnTitle(definition: ListDefinition, state: ListState, i: number, theme: Theme): string {
  const mark = i !== state.sort ? '' : state.descending ? theme.glyphs.down : theme.glyphs.up;
  return `${definition.columns[i]?.title ?? ''}${mark}`;
}

export function listRow(
  row: ListRow,
  definition: ListDefinition,
  widths: readonly number[],
  theme: Theme,
): Row {
  const out: Span[] = [span(' ')];
  row.cells.forEach((content, i) => {
    const width = widths[i] ?? 0;
    if (width === 0) return;
    const text = ellipsis(content.text, width, theme.glyphs.ellipsis);
    const spans = cellSpans(content.share === undefined ? { ...content, text } : content, width, theme);
    const gap = width - rowWidth(spans);
    if (definition.columns[i]?.right === true && gap > 0) out.push(span(' '.repeat(gap)), ...spans);
    else out.push(...fitRow(spans, width));
    out.push(span(' '));
  });
  return out;
}

export interface ShownDetail {
  rows: Row[];
  /** Which lines of how many, where not all have room. */
  place: string;
}

/** What is to say about a row, in `height` rows of `width` cells. */
export function detailRows(
  row: ListRow | undefined,
  state: ListState,
  width: number,
  height: number,
  theme: Theme,
): ShownDetail {
  const lines = row?.detail() ?? [];
  const from = Math.max(0, Math.min(state.scroll, lines.length - height));
  const rows = lines.slice(from).flatMap((line) => folded(toneRow(line, theme), width));
  const last = Math.min(lines.length, from + height);
  return {
    rows: rows.slice(0, height),
    place: lines.length > height ? `${from + 1}-${last}/${lines.length}  J K scroll` : '',
  };
}

/** A row of one span that is too long becomes several, broken at blanks. */
function folded(row: Row, width: number): Row[] {
  if (rowWidth(row) <= width || row.length !== 1) return [row];
  const { text, style } = row[0] as Span;
  const indent = /^ */.exec(text)?.[0] ?? '';
  const out: Row[] = [];
  let line = indent;
  for (const word of text.trim().split(' ')) {
    if (line.trim() !== '' && line.length + word.length + 1 > width) {
      out.push([span(line, style)]);
      line = indent;
    }
    line = line.trim() === '' ? `${indent}${word}` : `${line} ${word}`;
  }
  out.push([span(line, style)]);
  return out;
}
