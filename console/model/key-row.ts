// The rows of the key table: a key, what it does in words, and what it does.

import type { Controller } from './controller.ts';

export interface KeyRow {
  readonly keys: readonly string[];
  /** Its name in the operator's file; the same one may stand in several groups. */
  readonly command: string;
  /** One line for the help screen. */
  readonly help: string;
  /** Two words at most for the footer; absent keeps it out of the footer. */
  readonly hint?: string;
  run(controller: Controller): void;
}

/** Keys that work in the same places: everywhere, in panels, in one view, in all views of a kind. */
export interface KeyGroup {
  readonly scope: string;
  readonly title: string;
  readonly rows: readonly KeyRow[];
}
