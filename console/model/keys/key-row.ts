// The shape of a row of the key table, and the scopes that rows belong to.

import type { ViewName } from '../views.ts';

/** `list` is every list view below its own keys; `panel` what lies over a view. */
export type KeyScope = 'global' | 'list' | 'panel' | ViewName;

export interface KeyShape {
  keys: readonly string[];
  command: string;
  scope: KeyScope;
  /** One line for the help screen. */
  help: string;
  /** Two words at most for the footer; absent keeps it out of the footer. */
  hint?: string;
}
