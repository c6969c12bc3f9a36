// Rows of a list view: its title, its list, and the detail of a row.

import { clausesFit, widthOf, wordsFit } from '../../draw/cells.ts';
import { fitRow, moreRows, type Row, rowWidth, type Span, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import { cellSpans, toneRow } from '../../draw/tone-rows.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { folded } from '../../model/ui/folded-lines.ts';
import type { Size } from '../../model/ui/layout.ts';
import type { ListDefinition } from './list-definition.ts';
import {
  columnWidths,
  type ListRow,
  type ListState,
  listBody,
  listTop,
  markedRows,
  selectedIndex,
  shownRows,
} from './list-state.ts';

/** The visible part of a list. */
export interface ShownList {
  /** The rows on screen, starting at row `top` of those that match the filter. */
  window: readonly ListRow[];
  /** Index of the selected row in `window`; -1 without one. */
  selected: number;
  widths: readonly number[];
  all: number;
  passing: number;
  marked: number;
  /** Number of rows above and below the window, as text. */
  more: string;
}

export function shownList(
  session: DaemonSession,
  definition: ListDefinition,
  state: ListState,
  size: Size,
): ShownList {
  const { list, beside } = listBody(size, state.detail);
  const all = definition.rows(session, state.option);
  const passing = shownRows(state, all);
  const at = selectedIndex(state, passing);
  const top = listTop(state, at, passing.length, list);
  const window = passing.slice(top, top + list);
  return {
    window,
    more: moreRows(top, passing.length - top - window.length),
    selected: passing[at] === undefined ? -1 : at - top,
    widths: columnWidths(definition.columns, size.columns - beside - 2),
    all: all.length,
    passing: passing.length,
    marked: markedRows(state, passing).length,
  };
}

export function titleRow(
  session: DaemonSession,
  definition: ListDefinition,
  state: ListState,
  { all, passing, more, marked }: ShownList,
  width: number,
  theme: Theme,
): Row {
  const column = definition.columns[state.sort];
  const isReady = answered(session, definition) && missing(session, definition) === '';
  const remark = isReady ? definition.remark(session, state.option) : '';
  const right: Span[] = [];
  if (marked > 0) right.push(span(`${marked} marked  `, 'warn'));
  if (state.filter !== '') right.push(span(`/${state.filter}  `, 'warn'));
  if (more !== '') right.push(span(`${more}  `, 'accent'));
  right.push(span(`${passing === all ? all : `${passing} of ${all}`} `, 'muted'));
  const beside = width - rowWidth(right) - 4;
  // The header shows the full title as well.
  const whole = definition.title.length + widthOf(remark) <= beside;
  const title = ` ${whole ? definition.title : definition.short}`;
  const room = beside - title.length + 1;
  const order =
    column === undefined
      ? ''
      : `by ${column.title.toLowerCase()}${state.descending ? ', highest first' : ''}`;
  // The column heading marks the sort order as well.
  if (order !== '' && remark.length + order.length + 2 <= room) right.unshift(span(`${order}  `, 'muted'));
  return spread(
    [span(title, 'title'), span(`  ${clausesFit(remark, room, theme.glyphs.ellipsis)}`, 'muted')],
    right,
    width,
  );
}

/** Have all commands of the list been answered? Before that the row count is meaningless. */
function answered({ admin }: DaemonSession, { asks }: ListDefinition): boolean {
  return asks.every(({ line }) => (admin.answer(line)?.status ?? 0) !== 0);
}

/** CLI status: unknown command. */
const UNKNOWN = 101;

/** Why the rows will never be available: the recording does not have them. Views of other products explain themselves
 * what is missing. */
function missing({ admin, source }: DaemonSession, { asks }: ListDefinition): string {
  if (source.product !== undefined) return '';
  const unknown = asks.find(
    ({ line, optional }) => optional === undefined && admin.answer(line)?.status === UNKNOWN,
  );
  return unknown === undefined ? '' : admin.unanswered(unknown.line);
}

/** Text in place of rows. */
export function emptyText(
  session: DaemonSession,
  definition: ListDefinition,
  state: ListState,
  all: number,
): string {
  if (all > 0) return `nothing matches /${state.filter}`;
  const { connection, admin } = session;
  if (connection.state === 'waiting') return `no connection: ${connection.reason}`;
  if (connection.state === 'up' && !answered(session, definition)) {
    const refused = definition.asks
      .map(({ line }) => admin.answer(line)?.body ?? '')
      .find((why) => why !== '');
    return refused ?? 'not answered yet';
  }
  const unknown = connection.state === 'up' ? missing(session, definition) : '';
  if (unknown !== '') return unknown;
  return definition.empty(session, state.option);
}

/** The column's title, with an arrow on the sorted one. */
export function columnTitle(definition: ListDefinition, state: ListState, i: number, theme: Theme): string {
  const mark = i !== state.sort ? '' : state.descending ? theme.glyphs.down : theme.glyphs.up;
  return `${definition.columns[i]?.title ?? ''}${mark}`;
}

export function listRow(
  row: ListRow,
  definition: ListDefinition,
  widths: readonly number[],
  theme: Theme,
  isMarked: boolean,
): Row {
  const out: Span[] = [isMarked ? span('*', 'warn') : span(' ')];
  row.cells.forEach((content, i) => {
    const width = widths[i] ?? 0;
    if (width === 0) return;
    const whole = widthOf(content.text) <= width ? content.text : (content.brief ?? content.text);
    const text = wordsFit(whole, width, theme.glyphs.ellipsis);
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
  /** Range of visible lines and their total, unless all fit. */
  place: string;
}

/** Detail lines of a row, in `height` rows of `width` cells. */
export function detailRows(
  row: ListRow | undefined,
  state: ListState,
  width: number,
  height: number,
  theme: Theme,
): ShownDetail {
  const lines = folded(row?.detail() ?? [], width);
  const from = Math.max(0, Math.min(state.scroll, lines.length - height));
  const last = Math.min(lines.length, from + height);
  return {
    rows: lines.slice(from, last).map((line) => toneRow(line, theme, width)),
    place: lines.length > height ? `${from + 1}-${last}/${lines.length}  J K scroll` : '',
  };
}
