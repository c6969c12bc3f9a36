// Rows of a list view: title, heading, list, and the frame of the detail pane.

import { listBody, type Size } from '../../model/layout.ts';
import {
  columnWidths,
  type ListRow,
  type ListState,
  listTop,
  selectedIndex,
  shownRows,
} from '../../model/list-view.ts';
import type { ListDefinition } from '../../model/lists/list-definition.ts';
import type { Session } from '../../model/session.ts';
import { viewRow } from '../../model/views.ts';
import { ellipsis } from '../cells.ts';
import { framed } from '../frame.ts';
import { cell, fitRow, type Row, rowWidth, type Span, span, spread } from '../spans.ts';
import type { FillName, Theme } from '../theme.ts';
import { cellSpans, toneRow } from '../tone-rows.ts';

export interface ListPicture {
  rows: Row[];
  fills: Map<number, FillName>;
  detail: Row[];
}

export function listPicture(
  session: Session,
  definition: ListDefinition,
  state: ListState,
  option: string,
  size: Size,
  banner: boolean,
  theme: Theme,
): ListPicture {
  const width = size.columns;
  const body = listBody(size, banner, state.detail);
  const all = definition.rows(session, option);
  const shown = shownRows(state, all);
  const at = selectedIndex(state, shown);
  const top = listTop(state, at, shown.length, body.list);
  const widths = columnWidths(definition.columns, width - 2);
  const fills = new Map<number, FillName>([[1, 'bar']]);
  const rows: Row[] = [
    titleRow(session, definition, state, option, all.length, shown.length, width),
    headingRow(definition, state, widths, theme),
  ];
  for (let i = top; i < Math.min(shown.length, top + body.list); i++) {
    if (i === at) fills.set(rows.length, 'selected');
    rows.push(listRow(shown[i] as ListRow, definition, widths, theme));
  }
  if (shown.length === 0) {
    const words = all.length > 0 ? `nothing matches /${state.filter}` : definition.empty(session, option);
    rows.push([span(`  ${words}`, 'muted')]);
  }
  const selected = shown[at];
  return {
    rows,
    fills,
    detail: body.detail === 0 ? [] : detailRows(selected, state, body.detail, width, theme),
  };
}

function titleRow(
  session: Session,
  definition: ListDefinition,
  state: ListState,
  option: string,
  all: number,
  shown: number,
  width: number,
): Row {
  const left: Span[] = [
    span(` ${viewRow(definition.view).title}`, 'title'),
    span(`  ${definition.remark(session, option)}`, 'muted'),
  ];
  const column = definition.columns[state.sort];
  const right: Span[] = [];
  if (state.filter !== '') right.push(span(`/${state.filter}  `, 'warn'));
  if (column !== undefined)
    right.push(
      span(`by ${column.title.toLowerCase()}${state.descending ? ', highest first' : ''}  `, 'muted'),
    );
  right.push(span(`${shown === all ? all : `${shown} of ${all}`} `, 'muted'));
  return spread(left, right, width);
}

function headingRow(
  definition: ListDefinition,
  state: ListState,
  widths: readonly number[],
  theme: Theme,
): Row {
  const out: Span[] = [span(' ')];
  definition.columns.forEach((column, i) => {
    const width = widths[i] as number;
    if (width === 0) return;
    const mark = i !== state.sort ? '' : state.descending ? theme.glyphs.down : theme.glyphs.up;
    const title = `${column.title}${mark}`;
    out.push(
      column.right === true ? cell(title.padStart(width), width, 'strong') : cell(title, width, 'strong'),
      span(' '),
    );
  });
  return out;
}

function listRow(row: ListRow, definition: ListDefinition, widths: readonly number[], theme: Theme): Row {
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

function detailRows(
  row: ListRow | undefined,
  state: ListState,
  height: number,
  width: number,
  theme: Theme,
): Row[] {
  const lines = row?.detail() ?? [];
  const room = height - 2;
  const from = Math.max(0, Math.min(state.scroll, lines.length - room));
  const wrapped = lines.slice(from).flatMap((line) => folded(toneRow(line, theme), width - 4));
  const more =
    lines.length > room
      ? `${from + 1}-${Math.min(lines.length, from + room)}/${lines.length}  J K scroll`
      : '';
  return framed(
    wrapped.slice(0, room),
    { title: row?.key ?? 'nothing selected', remark: [span(more, 'faint')], width, height },
    theme,
  );
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
