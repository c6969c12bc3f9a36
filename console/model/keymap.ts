// Every key of the console: one row each, read by the dispatcher, the help screen and the footer hints.
// Keys of the statistics view are those of the field's stat tool, verbatim; a key of a view hides the
// same key of `global`. Rows say what a key does, never how.

export type ViewName = 'dashboard' | 'log' | 'stats';
export type KeyScope = 'global' | ViewName | 'panel';

export interface KeyRow {
  keys: readonly string[];
  command: CommandName;
  scope: KeyScope;
  /** One line for the help screen. */
  help: string;
  /** Two words at most for the footer; absent keeps it out of the footer. */
  hint?: string;
}

export const KEYMAP = [
  { keys: ['1'], command: 'view.dashboard', scope: 'global', help: 'Dashboard' },
  { keys: ['2'], command: 'view.log', scope: 'global', help: 'Live log' },
  { keys: ['3'], command: 'view.stats', scope: 'global', help: 'Statistics' },
  { keys: ['tab'], command: 'view.next', scope: 'global', help: 'Next view', hint: 'next' },
  { keys: ['shift+tab'], command: 'view.previous', scope: 'global', help: 'Previous view' },
  {
    keys: [':'],
    command: 'command',
    scope: 'global',
    help: 'Command line: every admin command',
    hint: 'command',
  },
  { keys: ['?'], command: 'help', scope: 'global', help: 'This help', hint: 'help' },
  { keys: ['ctrl+l'], command: 'redraw', scope: 'global', help: 'Redraw the screen' },
  { keys: ['ctrl+z'], command: 'suspend', scope: 'global', help: 'Suspend; fg brings it back' },
  { keys: ['escape'], command: 'back', scope: 'global', help: 'Close what is open, leave a field' },
  { keys: ['q'], command: 'quit', scope: 'global', help: 'Quit', hint: 'quit' },
  { keys: ['ctrl+c'], command: 'quit', scope: 'global', help: 'Quit' },

  {
    keys: ['e'],
    command: 'log.errors',
    scope: 'dashboard',
    help: 'Show the errors in the log view',
    hint: 'errors',
  },

  {
    keys: ['/'],
    command: 'log.query',
    scope: 'log',
    help: 'Edit the query (vsl-query language)',
    hint: 'query',
  },
  { keys: ['space'], command: 'log.pause', scope: 'log', help: 'Pause or go on', hint: 'pause' },
  { keys: ['F', 'f'], command: 'log.follow', scope: 'log', help: 'Follow the newest' },
  { keys: ['up', 'k'], command: 'move.up', scope: 'log', help: 'One row up' },
  { keys: ['down', 'j'], command: 'move.down', scope: 'log', help: 'One row down' },
  { keys: ['pageup', 'b', 'ctrl+b'], command: 'move.pageup', scope: 'log', help: 'One page up' },
  { keys: ['pagedown', 'ctrl+f'], command: 'move.pagedown', scope: 'log', help: 'One page down' },
  { keys: ['home', 'g'], command: 'move.home', scope: 'log', help: 'Oldest' },
  { keys: ['end', 'G'], command: 'move.end', scope: 'log', help: 'Newest, and follow' },
  {
    keys: ['enter'],
    command: 'log.unfold',
    scope: 'log',
    help: 'Unfold or fold the selected transaction',
    hint: 'unfold',
  },
  { keys: ['t'], command: 'log.unfold-all', scope: 'log', help: 'Unfold or fold all' },
  {
    keys: ['e'],
    command: 'log.next-error',
    scope: 'log',
    help: 'Next error (status 5xx, FetchError)',
    hint: 'error',
  },
  { keys: ['E'], command: 'log.previous-error', scope: 'log', help: 'Previous error' },
  { keys: ['s'], command: 'log.grouping', scope: 'log', help: 'Grouping: request, session, vxid' },
  { keys: ['x'], command: 'log.clear', scope: 'log', help: 'Forget what is on screen' },

  { keys: ['h'], command: 'help', scope: 'stats', help: 'Toggle this help' },
  { keys: ['up', 'k'], command: 'move.up', scope: 'stats', help: 'One counter up' },
  { keys: ['down', 'j'], command: 'move.down', scope: 'stats', help: 'One counter down' },
  { keys: ['pageup', 'b', 'ctrl+b'], command: 'move.pageup', scope: 'stats', help: 'One page up' },
  { keys: ['pagedown', 'space', 'ctrl+f'], command: 'move.pagedown', scope: 'stats', help: 'One page down' },
  { keys: ['home', 'g'], command: 'move.home', scope: 'stats', help: 'Top of the list' },
  { keys: ['end', 'G'], command: 'move.end', scope: 'stats', help: 'Bottom of the list' },
  {
    keys: ['d'],
    command: 'stats.unseen',
    scope: 'stats',
    help: 'Show or hide counters that were always zero',
    hint: 'unseen',
  },
  { keys: ['r'], command: 'stats.raw', scope: 'stats', help: 'Raw or adjusted gauges' },
  { keys: ['e'], command: 'stats.scale', scope: 'stats', help: 'Scaled or plain values', hint: 'scale' },
  {
    keys: ['v'],
    command: 'stats.more',
    scope: 'stats',
    help: 'More counters: INFO, DIAG, DEBUG',
    hint: 'level',
  },
  { keys: ['V'], command: 'stats.less', scope: 'stats', help: 'Fewer counters' },
  { keys: ['ctrl+t'], command: 'stats.sample', scope: 'stats', help: 'Sample now' },
  { keys: ['+'], command: 'stats.slower', scope: 'stats', help: 'Longer refresh interval' },
  { keys: ['-'], command: 'stats.faster', scope: 'stats', help: 'Shorter refresh interval' },
  { keys: ['0'], command: 'stats.reset', scope: 'stats', help: 'Reset the averages' },
  {
    keys: ['/'],
    command: 'stats.filter',
    scope: 'stats',
    help: 'Filter by name as you type',
    hint: 'filter',
  },

  { keys: ['up', 'k'], command: 'panel.up', scope: 'panel', help: 'One line up' },
  { keys: ['down', 'j'], command: 'panel.down', scope: 'panel', help: 'One line down' },
  { keys: ['pageup', 'b', 'ctrl+b'], command: 'panel.pageup', scope: 'panel', help: 'One page up' },
  { keys: ['pagedown', 'space', 'ctrl+f'], command: 'panel.pagedown', scope: 'panel', help: 'One page down' },
  { keys: ['home', 'g'], command: 'panel.home', scope: 'panel', help: 'Top' },
  { keys: ['end', 'G'], command: 'panel.end', scope: 'panel', help: 'Bottom' },
  { keys: ['/'], command: 'panel.search', scope: 'panel', help: 'Search this help' },
  { keys: ['escape', 'q', '?', 'h', 'enter'], command: 'back', scope: 'panel', help: 'Close' },
] as const satisfies readonly {
  keys: readonly string[];
  command: string;
  scope: KeyScope;
  help: string;
  hint?: string;
}[];

export type CommandName = (typeof KEYMAP)[number]['command'];

export const KEY_ROWS: readonly KeyRow[] = KEYMAP;

/** What a key does in a scope; `global` is asked when the scope has no such key, except from a panel. */
export function lookupKey(scope: KeyScope, key: string): CommandName | undefined {
  const own = KEY_ROWS.find((row) => row.scope === scope && row.keys.includes(key));
  if (own !== undefined) return own.command;
  if (scope === 'panel' && key !== 'ctrl+c' && key !== 'ctrl+l' && key !== 'ctrl+z') return undefined;
  return KEY_ROWS.find((row) => row.scope === 'global' && row.keys.includes(key))?.command;
}

/** The rows of a scope's footer: its own hints first, then the global ones. */
export function footerHints(view: ViewName): { key: string; hint: string }[] {
  const rows = [...KEY_ROWS.filter((r) => r.scope === view), ...KEY_ROWS.filter((r) => r.scope === 'global')];
  return rows.flatMap((r) =>
    r.hint === undefined ? [] : [{ key: keyLabel(r.keys[0] as string), hint: r.hint }],
  );
}

const LABELS: Readonly<Record<string, string>> = {
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  home: 'Home',
  end: 'End',
  enter: 'Enter',
  escape: 'Esc',
  tab: 'Tab',
  'shift+tab': 'S-Tab',
  space: 'Space',
};

/** As the help writes a key: ^B, PgUp, Space, q. */
export function keyLabel(key: string): string {
  if (key.startsWith('ctrl+')) return `^${key.slice(5).toUpperCase()}`;
  return LABELS[key] ?? key;
}

export interface HelpSection {
  title: string;
  rows: { keys: string; help: string }[];
}

/** The help screen's content, of the table alone; `filter` keeps rows that contain it in any case. */
export function helpSections(view: ViewName, filter: string): HelpSection[] {
  const order: [KeyScope, string][] = [
    [view, `${VIEW_TITLES[view]} view`],
    ['global', 'Everywhere'],
    ...(['dashboard', 'log', 'stats'] as const)
      .filter((v) => v !== view)
      .map((v): [KeyScope, string] => [v, `${VIEW_TITLES[v]} view`]),
  ];
  const needle = filter.toLowerCase();
  return order
    .map(([scope, title]) => ({
      title,
      rows: KEY_ROWS.filter((r) => r.scope === scope)
        .map((r) => ({ keys: r.keys.map(keyLabel).join(' '), help: r.help }))
        .filter((r) => needle === '' || `${r.keys} ${r.help}`.toLowerCase().includes(needle)),
    }))
    .filter((s) => s.rows.length > 0);
}

export const VIEWS: readonly ViewName[] = ['dashboard', 'log', 'stats'];

export const VIEW_TITLES: Readonly<Record<ViewName, string>> = {
  dashboard: 'Dashboard',
  log: 'Log',
  stats: 'Statistics',
};
