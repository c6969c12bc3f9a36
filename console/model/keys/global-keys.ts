// Keys that work everywhere, in panels, and in every list view.

import { VIEWS, type ViewName } from '../views.ts';
import type { KeyShape } from './key-row.ts';

export const VIEW_KEYS: readonly (KeyShape & { command: `view.${ViewName}` })[] = VIEWS.map((v) => ({
  keys: [v.key],
  command: `view.${v.name}` as const,
  scope: 'global',
  help: v.title,
}));

export const GLOBAL_KEYS = [
  { keys: ['tab'], command: 'view.next', scope: 'global', help: 'Next view', hint: 'next' },
  { keys: ['shift+tab'], command: 'view.previous', scope: 'global', help: 'Previous view' },
  {
    keys: [':'],
    command: 'command',
    scope: 'global',
    help: 'Command line: all admin commands and more',
    hint: 'command',
  },
  { keys: ['?'], command: 'help', scope: 'global', help: 'This help', hint: 'help' },
  { keys: ['y'], command: 'copy', scope: 'global', help: 'Copy the selected row (OSC 52)' },
  { keys: ['Y'], command: 'copy.all', scope: 'global', help: 'Copy all rows that the filter shows' },
  { keys: ['X'], command: 'export', scope: 'global', help: 'Export to a file: text, or NDJSON for .json' },
  { keys: ['A'], command: 'deeds', scope: 'global', help: 'What was done from here, newest first' },
  { keys: ['U'], command: 'undo', scope: 'global', help: 'Undo the last change that can be undone' },
  { keys: ['C'], command: 'contexts', scope: 'global', help: 'Change to another instance' },
  {
    keys: ['M'],
    command: 'mouse',
    scope: 'global',
    help: 'Mouse on or off: the wheel scrolls, a click selects, sorts, opens',
  },
  { keys: [','], command: 'replay.back', scope: 'global', help: 'Recording: ten seconds back' },
  { keys: ['.'], command: 'replay.forward', scope: 'global', help: 'Recording: ten seconds on' },
  { keys: ['p'], command: 'replay.pause', scope: 'global', help: 'Recording: stop or go on' },
  { keys: ['ctrl+l'], command: 'redraw', scope: 'global', help: 'Redraw the screen' },
  { keys: ['ctrl+z'], command: 'suspend', scope: 'global', help: 'Suspend; fg brings it back' },
  { keys: ['escape'], command: 'back', scope: 'global', help: 'Close what is open, leave a field' },
  { keys: ['q'], command: 'quit', scope: 'global', help: 'Quit', hint: 'quit' },
  { keys: ['ctrl+c'], command: 'quit', scope: 'global', help: 'Quit' },
] as const satisfies readonly KeyShape[];

export const LIST_KEYS = [
  { keys: ['up', 'k', 'wheelup'], command: 'move.up', scope: 'list', help: 'One row up' },
  { keys: ['down', 'j', 'wheeldown'], command: 'move.down', scope: 'list', help: 'One row down' },
  { keys: ['pageup', 'b', 'ctrl+b'], command: 'move.pageup', scope: 'list', help: 'One page up' },
  {
    keys: ['pagedown', 'space', 'ctrl+f'],
    command: 'move.pagedown',
    scope: 'list',
    help: 'One page down',
  },
  { keys: ['home', 'g'], command: 'move.home', scope: 'list', help: 'Top of the list' },
  { keys: ['end', 'G'], command: 'move.end', scope: 'list', help: 'Bottom of the list' },
  {
    keys: ['/'],
    command: 'list.filter',
    scope: 'list',
    help: 'Filter as you type; !word excludes',
    hint: 'filter',
  },
  { keys: ['o'], command: 'list.sort', scope: 'list', help: 'Sort by the next column', hint: 'sort' },
  { keys: ['O'], command: 'list.reverse', scope: 'list', help: 'Turn the order round' },
  { keys: ['enter'], command: 'list.open', scope: 'list', help: 'Open the selected row' },
  { keys: ['d'], command: 'list.detail', scope: 'list', help: 'Show or hide the detail pane' },
  { keys: ['K'], command: 'list.scroll-up', scope: 'list', help: 'Scroll the detail pane up' },
  { keys: ['J'], command: 'list.scroll-down', scope: 'list', help: 'Scroll the detail pane down' },
  { keys: ['ctrl+r'], command: 'list.refresh', scope: 'list', help: 'Ask the daemon again now' },
] as const satisfies readonly KeyShape[];

export const PANEL_KEYS = [
  { keys: ['up', 'k', 'wheelup'], command: 'panel.up', scope: 'panel', help: 'One line up' },
  { keys: ['down', 'j', 'wheeldown'], command: 'panel.down', scope: 'panel', help: 'One line down' },
  { keys: ['pageup', 'b', 'ctrl+b'], command: 'panel.pageup', scope: 'panel', help: 'One page up' },
  {
    keys: ['pagedown', 'space', 'ctrl+f'],
    command: 'panel.pagedown',
    scope: 'panel',
    help: 'One page down',
  },
  { keys: ['home', 'g'], command: 'panel.home', scope: 'panel', help: 'Top' },
  { keys: ['end', 'G'], command: 'panel.end', scope: 'panel', help: 'Bottom' },
  { keys: ['/'], command: 'panel.search', scope: 'panel', help: 'Search this help' },
  { keys: ['enter'], command: 'panel.choose', scope: 'panel', help: 'Take the choice, or close' },
  { keys: ['y'], command: 'panel.copy', scope: 'panel', help: 'Copy the text (OSC 52)' },
  { keys: ['escape', 'q', '?', 'h'], command: 'back', scope: 'panel', help: 'Close' },
] as const satisfies readonly KeyShape[];
