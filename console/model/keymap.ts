// Every key of the console from one table: read by the dispatcher, the help screen, the footer and the generated
// documentation. The operator's file may bind commands to other keys; a key of a narrower scope hides the same
// key of a wider one. Rows say what a key does, never how.

import { GLOBAL_KEYS, LIST_KEYS, PANEL_KEYS, VIEW_KEYS } from './keys/global-keys.ts';
import type { KeyScope, KeyShape } from './keys/key-row.ts';
import { ADMIN_KEYS, LOG_KEYS, STATS_KEYS } from './keys/view-keys.ts';
import { isListView, VIEWS, type ViewName } from './views.ts';

type Literal =
  | (typeof GLOBAL_KEYS)[number]
  | (typeof LIST_KEYS)[number]
  | (typeof PANEL_KEYS)[number]
  | (typeof LOG_KEYS)[number]
  | (typeof STATS_KEYS)[number]
  | (typeof ADMIN_KEYS)[number];

export type CommandName = `view.${ViewName}` | Literal['command'];

export interface KeyRow extends KeyShape {
  command: CommandName;
}

export const KEY_ROWS: readonly KeyRow[] = [
  ...VIEW_KEYS,
  ...GLOBAL_KEYS,
  ...ADMIN_KEYS,
  ...LOG_KEYS,
  ...STATS_KEYS,
  ...LIST_KEYS,
  ...PANEL_KEYS,
];

/** Other keys for a command of a scope: `log.why` or, where one command stands in several scopes, `list/move.up`. */
export type KeyBindings = Readonly<Record<string, readonly string[]>>;

export interface HelpSection {
  title: string;
  rows: { keys: string; help: string }[];
}

/** Of a panel only these come through to the view below. */
const THROUGH_PANELS: readonly string[] = ['ctrl+c', 'ctrl+l', 'ctrl+z'];

export class Keymap {
  readonly rows: readonly KeyRow[];

  constructor(bindings: KeyBindings = {}) {
    this.rows = KEY_ROWS.map((row) => {
      const keys = bindings[`${row.scope}/${row.command}`] ?? bindings[row.command];
      return keys === undefined ? row : { ...row, keys };
    });
  }

  /** What a key does in a scope; wider scopes are asked when the scope has no such key, except from a panel. */
  lookup(scope: ViewName | 'panel', key: string): CommandName | undefined {
    for (const each of scopesOf(scope)) {
      const row = this.rows.find((r) => r.scope === each && r.keys.includes(key));
      if (row !== undefined) return row.command;
    }
    if (scope === 'panel' && THROUGH_PANELS.includes(key)) return this.lookupGlobal(key);
    return undefined;
  }

  private lookupGlobal(key: string): CommandName | undefined {
    return this.rows.find((r) => r.scope === 'global' && r.keys.includes(key))?.command;
  }

  /** The footer's hints of a view: its own first, then wider ones. */
  hints(view: ViewName): { key: string; hint: string }[] {
    return scopesOf(view).flatMap((scope) =>
      this.rows.flatMap((r) =>
        r.scope === scope && r.hint !== undefined && r.keys[0] !== undefined
          ? [{ key: keyLabel(r.keys[0]), hint: r.hint }]
          : [],
      ),
    );
  }

  /** The help screen's content, of the table alone; `filter` keeps rows that contain it in any case. */
  help(view: ViewName, filter: string): HelpSection[] {
    const others = VIEWS.map((v) => v.name).filter((v) => v !== view);
    const order: readonly KeyScope[] = [...scopesOf(view), ...(isListView(view) ? [] : ['list' as const])];
    const needle = filter.toLowerCase();
    return [...order, ...others]
      .map((scope) => ({
        title: scopeTitle(scope),
        rows: this.rows
          .filter((r) => r.scope === scope)
          .map((r) => ({
            keys: r.keys
              .filter((k) => !k.startsWith('wheel'))
              .map(keyLabel)
              .join(' '),
            help: r.help,
          }))
          .filter((r) => needle === '' || `${r.keys} ${r.help}`.toLowerCase().includes(needle)),
      }))
      .filter((s) => s.rows.length > 0);
  }
}

function scopesOf(scope: ViewName | 'panel'): readonly KeyScope[] {
  if (scope === 'panel') return ['panel'];
  return isListView(scope) ? [scope, 'list', 'global'] : [scope, 'global'];
}

export function scopeTitle(scope: KeyScope): string {
  if (scope === 'global') return 'Everywhere';
  if (scope === 'list') return 'Every list';
  if (scope === 'panel') return 'Panels over a view';
  return `${VIEWS.find((v) => v.name === scope)?.title ?? scope} view`;
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
