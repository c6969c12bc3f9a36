// The rows of the key table: a key, what it does in words, and what it does; and how keys are written.

import type { Controller } from './controller.ts';

export interface KeyRow {
  readonly keys: readonly string[];
  /** Its name in the operator's file; the same one may stand in several groups. */
  readonly command: string;
  /** One line for the help screen. */
  readonly help: string;
  /** Two words at most for the footer; absent keeps it out of the footer. */
  readonly hint?: string;
  /** The same where there is room left after all hints. */
  readonly spare?: string;
  /** Is it something that one does with the row under the cursor? The menu of the row has it. */
  readonly ofRow?: true;
  /** What it needs: a row that stands for something, or one with which anything can be done. Views without give no hint. */
  readonly needs?: 'subject' | 'row';
  /** The admin command that it gives: where the daemon has none of that name, or nothing may be changed, it is not offered. */
  readonly gives?: string;
  run(controller: Controller): void;
}

/** Keys that work in the same places: everywhere, in panels, in one view, in all views of a kind. */
export interface KeyGroup {
  readonly scope: string;
  readonly title: string;
  readonly rows: readonly KeyRow[];
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

export function keyLabel(key: string): string {
  if (key.startsWith('ctrl+')) return `^${key.slice(5).toUpperCase()}`;
  return LABELS[key] ?? key;
}
