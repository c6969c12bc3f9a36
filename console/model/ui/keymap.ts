// The keys of the console as tables, read by the dispatcher, the help, the footer and the documentation. The operator's
// file may bind commands to other keys; a key of a narrower scope hides the same key of a wider one.

export interface KeyEntry {
  readonly keys: readonly string[];
  /** Its name in the operator's file; several groups may have the same one. */
  readonly command: string;
  /** One line for the help screen. */
  readonly help: string;
  /** Two words at most for the footer; absent keeps it out of the footer. */
  readonly hint?: string;
  /** A hint that is shown only where room is left after all others. */
  readonly spare?: string;
  /** Acts on the row under the cursor: the menu of the row has it. */
  readonly ofRow?: true;
  /** No hint in views whose rows stand for nothing (subject), or where nothing can be done with a row (row). */
  readonly needs?: 'subject' | 'row';
  /** Works while a panel is open, too. */
  readonly overPanels?: true;
  /** The admin command that it gives: not offered where the daemon has none of that name, or when read-only. */
  readonly gives?: string;
}

/** Keys that work in the same places: everywhere, in panels, in one view, in all views of a kind. */
export interface KeyGroup<K extends KeyEntry = KeyEntry> {
  readonly scope: string;
  readonly title: string;
  readonly rows: readonly K[];
}

/** Keys for a command of a scope: `log.why` or, where one command is in several scopes, `list/move.up`. */
export type KeyBindings = Readonly<Record<string, readonly string[]>>;

export interface KeyGroups<K extends KeyEntry> {
  global: KeyGroup<K>;
  panel: KeyGroup<K>;
  /** By view, in the order of Tab: its own keys, then those it shares. */
  views: ReadonlyMap<string, readonly KeyGroup<K>[]>;
}

export interface HelpSection {
  title: string;
  rows: { keys: string; help: string }[];
}

export class Keymap<K extends KeyEntry> {
  private readonly global: KeyGroup<K>;
  private readonly panel: KeyGroup<K>;
  private readonly views: ReadonlyMap<string, readonly KeyGroup<K>[]>;

  constructor({ global, panel, views }: KeyGroups<K>, bindings: KeyBindings = {}) {
    const bound = (group: KeyGroup<K>): KeyGroup<K> => ({
      ...group,
      rows: group.rows.map((row) => {
        const keys = bindings[`${group.scope}/${row.command}`] ?? bindings[row.command];
        return keys === undefined ? row : { ...row, keys };
      }),
    });
    this.global = bound(global);
    this.panel = bound(panel);
    this.views = new Map([...views].map(([view, groups]) => [view, groups.map(bound)]));
  }

  /** The row of a key in a view; the widest scope is tried last. */
  inView(view: string, key: string): K | undefined {
    for (const group of this.scopesOf(view)) {
      const row = rowOf(group, key);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  /** The row of a key in a panel over a view. */
  inPanel(key: string): K | undefined {
    const row = rowOf(this.panel, key);
    if (row !== undefined) return row;
    const wider = rowOf(this.global, key);
    return wider?.overPanels === true ? wider : undefined;
  }

  /** The footer's hints of a view: its own first, then wider ones, then the spare ones. `subjects`: whether its rows stand
   * for something; `offers`: whether an admin command can be given. */
  hints(
    view: string,
    subjects: boolean,
    offers: (command: string) => boolean = () => true,
  ): { key: string; hint: string }[] {
    const has = { subject: subjects, row: subjects || this.rowKeys(view).length > 0 };
    const rows = this.scopesOf(view)
      .flatMap((group) => group.rows)
      .filter(
        ({ needs, gives }) => (needs === undefined || has[needs]) && (gives === undefined || offers(gives)),
      );
    const hint = ({ keys: [key] }: K, text: string | undefined) =>
      text === undefined || key === undefined ? [] : [{ key: keyLabel(key), hint: text }];
    return [...rows.flatMap((row) => hint(row, row.hint)), ...rows.flatMap((row) => hint(row, row.spare))];
  }

  /** Keys of a view that act on the row under the cursor. */
  rowKeys(view: string): K[] {
    return this.scopesOf(view).flatMap((group) => group.rows.filter((row) => row.ofRow === true));
  }

  /** The help screen's content; `filter` keeps rows that contain it in any case. */
  help(view: string, filter: string): HelpSection[] {
    const first = this.scopesOf(view);
    const others = [...this.views].filter(([name]) => name !== view).map(([, groups]) => groups);
    // Groups that views share are listed once.
    const scopes = new Set(first.map((g) => g.scope));
    const shared = others.flatMap((groups) =>
      groups.slice(1).filter((g) => !scopes.has(g.scope) && scopes.add(g.scope)),
    );
    const needle = filter.toLowerCase();
    return [...first, ...shared, ...others.flatMap((groups) => groups.slice(0, 1))]
      .map(({ title, rows }) => ({
        title,
        rows: rows
          .map((r) => ({ keys: keyLabels(r.keys).join(' '), help: r.help }))
          .filter((r) => needle === '' || `${r.keys} ${r.help}`.toLowerCase().includes(needle)),
      }))
      .filter((s) => s.rows.length > 0);
  }

  private scopesOf(view: string): readonly KeyGroup<K>[] {
    return [...(this.views.get(view) ?? []), this.global];
  }
}

function rowOf<K extends KeyEntry>(group: KeyGroup<K>, key: string): K | undefined {
  return group.rows.find((r) => r.keys.includes(key));
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
  delete: 'Del',
  enter: 'Enter',
  escape: 'Esc',
  tab: 'Tab',
  'shift+tab': 'S-Tab',
  space: 'Space',
};

/** As the help writes keys: ^B, PgUp, Space, q; the wheel is no key. */
export function keyLabels(keys: readonly string[]): string[] {
  return keys.filter((k) => !k.startsWith('wheel')).map(keyLabel);
}

function keyLabel(key: string): string {
  if (key.startsWith('ctrl+')) return `^${key.slice(5).toUpperCase()}`;
  return LABELS[key] ?? (/^f\d+$/.test(key) ? key.toUpperCase() : key);
}
