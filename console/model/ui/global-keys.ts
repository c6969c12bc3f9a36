// Keys that work everywhere, and in panels.

import type { Controller } from './controller.ts';
import type { FieldKind } from './field.ts';
import type { KeyRow } from './key-row.ts';
import { EMPTY_LINE, lineOf } from './line-editor.ts';
import { clock } from './numbers.ts';
import { actionLines } from './operator.ts';
import { chooseContext, promptExport } from './palette.ts';
import { panelText } from './panel.ts';
import { refetchRow } from './refetch.ts';
import { banRow, banRowSoftly, purgeRow, rowMenu } from './row-actions.ts';

/** The search in the help follows what is typed. */
const HELP_SEARCH: FieldKind = {
  kind: 'search',
  follow: (c, filter) => {
    const { panel } = c.state;
    if (panel?.kind === 'help') c.set({ panel: { ...panel, filter, scroll: 0 } });
  },
};

function searchPanel(c: Controller): void {
  const { panel } = c.state;
  if (panel?.kind === 'help') c.fields.open(HELP_SEARCH, lineOf(panel.filter));
}

export function openHelp(c: Controller): void {
  c.set({ panel: { kind: 'help', scroll: 0, filter: '' }, notice: null });
}

function showActions(c: Controller): void {
  const lines = actionLines(c.state.actions, (at) => clock(at, c.session.utc));
  c.set({ panel: { kind: 'text', scroll: 0, title: 'What was done from here', lines } });
}

function showNeighbour(c: Controller, step: 1 | -1): void {
  const { tabs } = c;
  const next = tabs[(tabs.indexOf(c.state.view) + step + tabs.length) % tabs.length];
  if (next !== undefined) c.show(next);
}

/** Closes what is open; with nothing open, the view goes a step back, or one is back where one came from. */
function goBack(c: Controller): void {
  const { panel, view, from } = c.state;
  c.set({ panel: null, notice: null });
  if (panel !== null || view.back(c)) return;
  const origin = from.at(-1);
  if (origin !== undefined) c.show(origin, from.slice(0, -1));
}

function toggleMouse(c: Controller): void {
  const mouse = !c.state.mouse;
  c.options.onMouse(mouse);
  c.set({ mouse });
  c.notify(
    'info',
    mouse
      ? 'a click selects, on a title sorts, once more opens; select text with Shift held'
      : 'the mouse is the terminal’s again',
  );
}

function takeChoice(c: Controller): void {
  const { panel } = c.state;
  const choice = panel?.kind === 'choices' ? panel.choices[panel.scroll] : undefined;
  c.set({ panel: null, notice: null });
  choice?.take(c);
}

export const GLOBAL_KEYS: readonly KeyRow[] = [
  {
    keys: ['tab'],
    command: 'view.next',
    help: 'Next view',
    hint: 'next',
    run: (c) => showNeighbour(c, 1),
  },
  { keys: ['shift+tab'], command: 'view.previous', help: 'Previous view', run: (c) => showNeighbour(c, -1) },
  {
    keys: [':'],
    command: 'command',
    help: 'Command line: all admin commands and more',
    hint: 'command',
    run: (c) => c.fields.openCommand(EMPTY_LINE),
  },
  { keys: ['?'], command: 'help', help: 'This help', hint: 'help', run: openHelp },
  {
    keys: ['y'],
    command: 'copy',
    spare: 'copy',
    help: 'Copy the selected row (OSC 52)',
    run: (c) => c.state.view.copy(c),
  },
  {
    keys: ['Y'],
    command: 'copy.all',
    help: 'Copy all rows that the filter shows',
    run: (c) => c.state.view.copyAll(c),
  },
  {
    keys: ['x'],
    command: 'row.menu',
    needs: 'row',
    help: 'What can be done with the row',
    hint: 'act',
    run: rowMenu,
  },
  {
    keys: ['p'],
    command: 'row.purge',
    gives: 'ban',
    needs: 'subject',
    hint: 'purge',
    help: 'Purge what the row stands for; the count first',
    run: purgeRow,
  },
  {
    keys: ['b'],
    command: 'row.ban',
    gives: 'ban',
    needs: 'subject',
    spare: 'ban',
    help: 'Ban by a condition, that of the row to begin with; the count first',
    run: banRow,
  },
  {
    keys: ['B'],
    command: 'row.ban-soft',
    gives: 'ban.soft',
    help: 'The same softly: expire, keep for grace',
    run: banRowSoftly,
  },
  {
    keys: ['R'],
    command: 'row.refetch',
    gives: 'ban',
    needs: 'subject',
    spare: 'refetch',
    help: 'Refetch the URL of the row through the proxy: before and after',
    run: (c) => void refetchRow(c),
  },
  {
    keys: ['X'],
    command: 'export',
    spare: 'export',
    help: 'Export to a file: text, or NDJSON for .json',
    run: promptExport,
  },
  {
    keys: ['A'],
    command: 'actions',
    spare: 'done',
    help: 'What was done from here, newest first',
    run: showActions,
  },
  {
    keys: ['U'],
    command: 'undo',
    spare: 'undo',
    help: 'Undo the last change that can be undone',
    run: (c) => c.operator.undo(),
  },
  {
    keys: ['C'],
    command: 'contexts',
    spare: 'instances',
    help: 'Change to another instance',
    run: chooseContext,
  },
  {
    keys: ['M'],
    command: 'mouse',
    spare: 'mouse',
    help: 'Mouse on or off: the wheel scrolls, a click selects, sorts, opens',
    run: toggleMouse,
  },
  {
    keys: [','],
    command: 'replay.back',
    help: 'Recording: ten seconds back',
    run: (c) => c.options.instances.replay?.skip(-10),
  },
  {
    keys: ['.'],
    command: 'replay.forward',
    help: 'Recording: ten seconds on',
    run: (c) => c.options.instances.replay?.skip(10),
  },
  {
    keys: ['P'],
    command: 'replay.pause',
    help: 'Recording: stop or go on',
    run: (c) => c.options.instances.replay?.toggle(),
  },
  {
    keys: [']'],
    command: 'replay.faster',
    help: 'Recording: faster',
    run: (c) => c.options.instances.replay?.shift(1),
  },
  {
    keys: ['['],
    command: 'replay.slower',
    help: 'Recording: slower',
    run: (c) => c.options.instances.replay?.shift(-1),
  },
  { keys: ['ctrl+l'], command: 'redraw', help: 'Redraw the screen', run: (c) => c.options.onRedraw() },
  {
    keys: ['ctrl+z'],
    command: 'suspend',
    help: 'Suspend; fg brings it back',
    run: (c) => c.options.onSuspend(),
  },
  {
    keys: ['escape'],
    command: 'back',
    help: 'Close what is open, leave a field, go back to where one came from',
    run: goBack,
  },
  { keys: ['q'], command: 'quit', help: 'Quit', hint: 'quit', run: (c) => c.quit() },
  { keys: ['ctrl+c'], command: 'quit', help: 'Quit', run: (c) => c.quit() },
];

/** Characters that a text in a panel moves sideways at a time (chosen). */
const SIDEWAYS = 16;

/** Keys that scroll: they work while a question stands, so that what it is about can be read. */
export const SCROLL_KEYS: readonly KeyRow[] = [
  { keys: ['up', 'k', 'wheelup'], command: 'panel.up', help: 'One line up', run: (c) => c.scroll('up') },
  {
    keys: ['down', 'j', 'wheeldown'],
    command: 'panel.down',
    help: 'One line down',
    run: (c) => c.scroll('down'),
  },
  {
    keys: ['pageup', 'ctrl+b'],
    command: 'panel.pageup',
    help: 'One page up',
    run: (c) => c.scroll('pageup'),
  },
  {
    keys: ['pagedown', 'space', 'ctrl+f'],
    command: 'panel.pagedown',
    help: 'One page down',
    run: (c) => c.scroll('pagedown'),
  },
  { keys: ['home', 'g'], command: 'panel.home', help: 'Top', run: (c) => c.scroll('home') },
  { keys: ['end', 'G'], command: 'panel.end', help: 'Bottom', run: (c) => c.scroll('end') },
  {
    keys: ['}', 'right'],
    command: 'panel.right',
    help: 'Further right in lines that are cut',
    run: (c) => c.scrollSideways(SIDEWAYS),
  },
  {
    keys: ['{', 'left'],
    command: 'panel.left',
    help: 'Further left',
    run: (c) => c.scrollSideways(-SIDEWAYS),
  },
];

export const PANEL_KEYS: readonly KeyRow[] = [
  ...SCROLL_KEYS,
  { keys: ['/'], command: 'panel.search', help: 'Search this help', run: searchPanel },
  { keys: ['enter'], command: 'panel.choose', help: 'Take the choice, or close', run: takeChoice },
  {
    keys: ['y'],
    command: 'panel.copy',
    help: 'Copy the text (OSC 52)',
    run: (c) => c.copy(panelText(c.state.panel), 'the panel'),
  },
  { keys: ['escape', 'q', '?', 'h'], command: 'back', help: 'Close', run: goBack },
];
