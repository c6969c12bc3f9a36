// A list view made from its definition: filter, sort, mouse, copying, export and drawing are the same for all of them.

import { copyText } from '../../model/ui/copy-export.ts';
import { folded } from '../../model/ui/folded-lines.ts';
import { PANEL_EDGES, PANEL_RULES, type Place, stepAction } from '../../model/ui/layout.ts';
import { type StateSlot, stateOf } from '../../model/ui/ui-state.ts';
import { type KeyRow, PLAIN_VIEW, type View, type ViewContext } from '../../model/ui/view.ts';
import type { ListDefinition, RowKey } from './list-definition.ts';
import { type ListCommands, listKeys } from './list-keys.ts';
import { emptyText } from './list-rows.ts';
import { ListScreen } from './list-screen.tsx';
import {
  columnWidths,
  INITIAL_LIST,
  type ListColumn,
  type ListRow,
  type ListState,
  listBody,
  listTop,
  markedRows,
  reduceList,
  selectedIndex,
  selectedRow,
  shownRows,
} from './list-state.ts';

export interface ListView extends View, ListCommands {
  readonly state: StateSlot<ListState>;
  rows(c: ViewContext): ListRow[];
  /** The marked rows that the filter shows. */
  marked(c: ViewContext): ListRow[];
  /** The row under the cursor. */
  selected(c: ViewContext): ListRow | undefined;
}

export function listView(definition: ListDefinition): ListView {
  const { name, key, title, short, brief, asks } = definition;
  const initial = { ...INITIAL_LIST, ...definition.initial };
  const state: StateSlot<ListState> = { initial, carry: ({ option }) => ({ ...initial, option }) };

  const height = (c: ViewContext): number => listBody(c.ui.size, c.ui.stateOf(state).detail).list;
  const shown = (c: ViewContext): ListRow[] => shownRows(c.ui.stateOf(state), view.rows(c));
  const withRow = (c: ViewContext, act: (c: ViewContext, row: ListRow) => void): void => {
    const row = view.selected(c);
    // Without a row the screen explains why, for example that the daemon has not answered yet; so does this.
    if (row === undefined)
      c.ui.notify('warn', emptyText(c.session, definition, c.ui.stateOf(state), view.rows(c).length));
    else act(c, row);
  };

  const actOn = (c: ViewContext, { act, line, help }: RowKey): void => {
    const marked = view.marked(c);
    const lines = marked.map((row) => line?.(row) ?? null).filter((one) => one !== null);
    if (marked.length === 0) withRow(c, act);
    else if (line === undefined)
      c.ui.notify(
        'warn',
        `"${help}" needs a single row, but ${marked.length} are marked: Esc clears the marks`,
      );
    else if (lines.length === 0) c.ui.notify('warn', `"${help}" applies to none of the marked rows`);
    else void c.operator.submitAll(lines);
  };

  const view: ListView = {
    ...PLAIN_VIEW,
    name,
    key,
    title,
    short,
    brief,
    asks,
    state,
    definition,
    applies: (session) => definition.applies?.(session) ?? true,
    open: (c) => definition.open?.(c),
    keys: definition.keys.map(
      (row): KeyRow => ('act' in row ? { ...row, ofRow: true, run: (c) => actOn(c, row) } : row),
    ),
    get shared() {
      return listKeys(view);
    },

    rows: (c) => definition.rows(c.session, c.ui.stateOf(state).option),
    selected: (c) => selectedRow(c.ui.stateOf(state), view.rows(c)),
    marked: (c) => markedRows(c.ui.stateOf(state), view.rows(c)),
    enter: (c) => withRow(c, definition.enter),
    act: (c, action) => {
      const before = c.ui.stateOf(state);
      const option = action.type === 'option' ? action.option : before.option;
      const rows = definition.rows(c.session, option);
      c.ui.setState(state, reduceList(before, action, rows, height(c)));
    },

    scroll: (c, rows) => {
      const { detail, beside } = listBody(c.ui.size, true);
      const width = (beside > 0 ? beside : c.ui.size.columns) - PANEL_EDGES;
      const lines = folded(view.selected(c)?.detail() ?? [], width).length;
      view.act(c, { type: 'scroll', rows, last: lines - (detail - PANEL_RULES) });
    },
    move: (c, step) => view.act(c, stepAction(step, height(c))),
    back: (c) => {
      if (view.marked(c).length > 0) {
        view.act(c, { type: 'unmark' });
        return true;
      }
      if (c.ui.stateOf(view.state).filter === '') return false;
      view.act(c, { type: 'filter', text: '' });
      return true;
    },
    click: (c, at) => click(c, view, at),
    hasRow: (c) => view.selected(c) !== undefined,
    subjects:
      definition.subjects === undefined
        ? null
        : (c) => {
            const row = view.selected(c);
            return row === undefined ? [] : (definition.subjects?.(row) ?? []);
          },
    markedSubjects: (c) => view.marked(c).map((row) => definition.subjects?.(row) ?? []),
    copy: (c) => copyText(c, rowText(view.selected(c)), 'the row'),
    copyAll: (c) => {
      const rows = shown(c);
      copyText(c, rows.map(rowText).join('\n'), rows.length === 1 ? '1 row' : `${rows.length} rows`);
    },
    export: (c, json) => {
      const rows = shown(c);
      if (json) return rows.map((row) => `${JSON.stringify(row.facts)}\n`).join('');
      const heading = definition.columns.map((column) => column.title).join('\t');
      return [heading, ...rows.map(rowText)].map((line) => `${line}\n`).join('');
    },
    spokenRemark: (c) => {
      const rows = view.rows(c).length;
      return rows === 1 ? '1 row.' : `${rows} rows.`;
    },
    spokenRow: (c) =>
      view
        .selected(c)
        ?.cells.map((cell) => cell.text)
        .filter(Boolean)
        .join(', ') ?? '',
    screen: (props) => <ListScreen {...props} definition={definition} state={stateOf(props.ui, state)} />,
  };
  return view;
}

function rowText(row: ListRow | undefined): string {
  return row === undefined ? '' : row.cells.map((cell) => cell.text).join('\t');
}

/** Rows on screen: title, heading, list. */
function click(c: ViewContext, view: ListView, { x, y }: Place) {
  const { columns } = view.definition;
  const state = c.ui.stateOf(view.state);
  const body = listBody(c.ui.size, state.detail);
  const width = c.ui.size.columns - body.beside;
  if (y > 0 && x >= width) return;
  if (y === 1) return clickHeading(c, view, columns, width, x);
  const shown = shownRows(state, view.rows(c));
  const at = selectedIndex(state, shown);
  const to = listTop(state, at, shown.length, body.list) + y - 2;
  if (y < 2 || y >= 2 + body.list || to >= shown.length) return;
  if (to === at && state.selected !== '') view.enter(c);
  else view.act(c, { type: 'move', rows: to - at });
}

function clickHeading(
  c: ViewContext,
  view: ListView,
  columns: readonly ListColumn[],
  cells: number,
  x: number,
) {
  let at = 1;
  for (const [column, width] of columnWidths(columns, cells - 2).entries()) {
    if (width === 0) continue;
    if (x >= at && x < at + width) {
      const descending = columns[column]?.right === true;
      return view.act(c, { type: 'sort-by', column, descending });
    }
    at += width + 1;
  }
}
