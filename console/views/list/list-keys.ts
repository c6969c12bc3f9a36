// Keys that all list views share, after their own.

import type { FieldKind } from '../../model/ui/field.ts';
import type { KeyGroup } from '../../model/ui/keymap.ts';
import { lineOf } from '../../model/ui/line-editor.ts';
import { type Choice, choicePanel } from '../../model/ui/panel.ts';
import type { StateSlot } from '../../model/ui/ui-state.ts';
import { type KeyRow, steps, type ViewContext } from '../../model/ui/view.ts';
import type { ListDefinition } from './list-definition.ts';
import type { ListAction, ListColumn, ListState } from './list-state.ts';

/** Rows per scroll step of the detail pane. */
const SCROLL = 4;

export interface ListCommands {
  readonly state: StateSlot<ListState>;
  readonly definition: ListDefinition;
  act(c: ViewContext, action: ListAction): void;
  /** Opens the row under the cursor. */
  enter(c: ViewContext): void;
  /** Scrolls the detail pane. */
  scroll(c: ViewContext, rows: number): void;
}

/** Keys that move in a panel or close it. */
const PANEL_LETTERS = 'jkgGnNyqh';

/** A letter for each column, from its title if that has a free one. */
export function columnLetters(columns: readonly ListColumn[]): string[] {
  const taken = new Set(PANEL_LETTERS);
  return columns.map(({ title }) => {
    const own = title.toLowerCase().replace(/[^a-z0-9]/g, '');
    const letter = [...own, ...'abcdefghijklmnopqrstuvwxyz'].find((one) => !taken.has(one)) ?? '';
    taken.add(letter);
    return letter;
  });
}

function chooseSort(c: ViewContext, { state, definition, act }: ListCommands): void {
  const { columns } = definition;
  const letters = columnLetters(columns);
  const { sort } = c.ui.stateOf(state);
  const choices = columns.map((column, i): Choice => {
    const key = letters[i] ?? '';
    const descending = column.right === true;
    return {
      label: column.title.trim().toLowerCase() || 'mark',
      note: key,
      key,
      take: () => act(c, { type: 'sort-by', column: i, descending }),
    };
  });
  c.ui.set({ panel: choicePanel('Sort by', choices, Math.max(0, sort)), notice: null });
}

export function listKeys(view: ListCommands): KeyGroup<KeyRow> {
  const filter = (c: ViewContext): FieldKind => ({
    kind: 'filter',
    follow: (text) => view.act(c, { type: 'filter', text }),
  });
  return {
    scope: 'list',
    title: 'Every list',
    rows: [
      { keys: ['up', 'k', 'wheelup'], command: 'move.up', help: 'One row up', run: steps('up') },
      { keys: ['down', 'j', 'wheeldown'], command: 'move.down', help: 'One row down', run: steps('down') },
      {
        keys: ['pageup', 'ctrl+b'],
        command: 'move.pageup',
        help: 'One page up',
        run: steps('pageup'),
      },
      {
        keys: ['pagedown', 'space', 'ctrl+f'],
        command: 'move.pagedown',
        help: 'One page down',
        run: steps('pagedown'),
      },
      { keys: ['home', 'g'], command: 'move.home', help: 'Top of the list', run: steps('home') },
      { keys: ['end', 'G'], command: 'move.end', help: 'Bottom of the list', run: steps('end') },
      {
        keys: ['/'],
        command: 'list.filter',
        help: 'Filter as you type; !word excludes',
        hint: 'filter',
        run: (c) => c.fields.open(filter(c), lineOf(c.ui.stateOf(view.state).filter)),
      },
      {
        keys: ['o'],
        command: 'list.sort',
        help: 'Sort by the next column',
        hint: 'sort',
        run: (c) => view.act(c, { type: 'sort', columns: view.definition.columns.length }),
      },
      {
        keys: ['O'],
        command: 'list.reverse',
        spare: 'reverse',
        help: 'Reverse the order',
        run: (c) => view.act(c, { type: 'reverse' }),
      },
      {
        keys: ['S'],
        command: 'list.sort-by',
        spare: 'sort by',
        help: 'Sort by a column: its letter; the same again reverses the order',
        run: (c) => chooseSort(c, view),
      },
      {
        keys: ['v'],
        command: 'list.mark',
        spare: 'mark',
        help: 'Mark the row for an action on several, or unmark it',
        run: (c) => view.act(c, { type: 'mark' }),
      },
      {
        keys: ['V'],
        command: 'list.mark-all',
        help: 'Mark all rows that the filter shows, or none',
        run: (c) => view.act(c, { type: 'mark-all' }),
      },
      {
        keys: ['enter'],
        command: 'list.open',
        spare: 'open',
        help: 'Open the selected row',
        ofRow: true,
        run: (c) => view.enter(c),
      },
      {
        keys: ['d'],
        command: 'list.detail',
        spare: 'pane',
        help: 'Show or hide the detail pane',
        run: (c) => view.act(c, { type: 'detail' }),
      },
      {
        keys: ['K'],
        command: 'list.scroll-up',
        help: 'Scroll the detail pane up',
        run: (c) => view.scroll(c, -SCROLL),
      },
      {
        keys: ['J'],
        command: 'list.scroll-down',
        help: 'Scroll the detail pane down',
        run: (c) => view.scroll(c, SCROLL),
      },
      {
        keys: ['ctrl+t'],
        command: 'list.refresh',
        spare: 'refresh',
        help: 'Refresh from the daemon now',
        run: (c) => c.session.admin.refresh(),
      },
    ],
  };
}
