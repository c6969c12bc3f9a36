// Every key of the console from its tables: read by the dispatcher, the help screen, the footer and the generated
// documentation. The operator's file may bind commands to other keys; a key of a narrower scope hides the same
// key of a wider one.

import { GLOBAL_KEYS, PANEL_KEYS } from './global-keys.ts';
import { type KeyGroup, type KeyRow, keyLabel, keyLabels } from './key-row.ts';
import type { View } from './view.ts';

/** Other keys for a command of a scope: `log.why` or, where one command stands in several scopes, `list/move.up`. */
export type KeyBindings = Readonly<Record<string, readonly string[]>>;

export interface HelpSection {
  title: string;
  rows: { keys: string; help: string }[];
}

/** Of a panel only these come through to the view below. */
const THROUGH_PANELS: readonly string[] = ['ctrl+c', 'ctrl+l', 'ctrl+z'];

function globalGroup(views: readonly View[]): KeyGroup {
  const shows = views.map(
    (view): KeyRow => ({
      keys: [view.key],
      command: `view.${view.name}`,
      help: view.title,
      run: (c) => c.show(view),
    }),
  );
  return { scope: 'global', title: 'Everywhere', rows: [...shows, ...GLOBAL_KEYS] };
}

const PANEL_GROUP: KeyGroup = { scope: 'panel', title: 'Panels over a view', rows: PANEL_KEYS };

/** A view's own keys, then those it shares. */
function groupsOf(view: View): KeyGroup[] {
  const own: KeyGroup = { scope: view.name, title: `${view.title} view`, rows: view.keys };
  return view.shared === null ? [own] : [own, view.shared];
}

/** Each group once, in the order of the documentation. */
export function keyGroups(views: readonly View[]): KeyGroup[] {
  return [
    globalGroup(views),
    ...views.map((v) => groupsOf(v)[0] as KeyGroup),
    ...sharedGroups(views),
    PANEL_GROUP,
  ];
}

function sharedGroups(views: readonly View[]): KeyGroup[] {
  const byScope = new Map<string, KeyGroup>();
  for (const { shared } of views)
    if (shared !== null && !byScope.has(shared.scope)) byScope.set(shared.scope, shared);
  return [...byScope.values()];
}

export class Keymap {
  private readonly views: readonly View[];
  private readonly global: KeyGroup;
  private readonly panel: KeyGroup;
  private readonly own: ReadonlyMap<View, readonly KeyGroup[]>;

  constructor(views: readonly View[], bindings: KeyBindings = {}) {
    const bound = (group: KeyGroup): KeyGroup => ({
      ...group,
      rows: group.rows.map((row) => {
        const keys = bindings[`${group.scope}/${row.command}`] ?? bindings[row.command];
        return keys === undefined ? row : { ...row, keys };
      }),
    });
    this.views = views;
    this.global = bound(globalGroup(views));
    this.panel = bound(PANEL_GROUP);
    this.own = new Map(views.map((v) => [v, groupsOf(v).map(bound)]));
  }

  /** What a key does in a view; the widest scope is asked last. */
  inView(view: View, key: string): KeyRow | undefined {
    for (const group of this.scopesOf(view)) {
      const row = rowOf(group, key);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  /** What a key does in a panel over a view. */
  inPanel(key: string): KeyRow | undefined {
    return rowOf(this.panel, key) ?? (THROUGH_PANELS.includes(key) ? rowOf(this.global, key) : undefined);
  }

  /** The footer's hints of a view: its own first, then wider ones, then what has room after them. `offers`: whether
   * an admin command can be given. */
  hints(view: View, offers: (command: string) => boolean = () => true): { key: string; hint: string }[] {
    const subject = view.subjects !== null;
    const has = { subject, row: subject || this.rowKeys(view).length > 0 };
    const rows = this.scopesOf(view)
      .flatMap((group) => group.rows)
      .filter(
        ({ needs, gives }) => (needs === undefined || has[needs]) && (gives === undefined || offers(gives)),
      );
    const hint = ({ keys: [key] }: KeyRow, text: string | undefined) =>
      text === undefined || key === undefined ? [] : [{ key: keyLabel(key), hint: text }];
    return [...rows.flatMap((row) => hint(row, row.hint)), ...rows.flatMap((row) => hint(row, row.spare))];
  }

  /** Keys of a view that do something with the row under the cursor. */
  rowKeys(view: View): KeyRow[] {
    return this.scopesOf(view).flatMap((group) => group.rows.filter((row) => row.ofRow === true));
  }

  /** The help screen's content, of the tables alone; `filter` keeps rows that contain it in any case. */
  help(view: View, filter: string): HelpSection[] {
    const first = this.scopesOf(view);
    const others = this.views.filter((v) => v !== view).map((v) => this.own.get(v) ?? []);
    // Of the groups that views share each stands once.
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

  private scopesOf(view: View): readonly KeyGroup[] {
    return [...(this.own.get(view) ?? []), this.global];
  }
}

function rowOf(group: KeyGroup, key: string): KeyRow | undefined {
  return group.rows.find((r) => r.keys.includes(key));
}
