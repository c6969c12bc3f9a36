// The interface of a view. Header, Tab order, keys, palette, help, mouse, copying, export, the reader and documentation
// know views by it alone; views/views.ts is the table of them.

import type { ReactNode } from 'react';
import type { Ask } from '../session/admin-store.ts';
import type { DaemonSession } from '../session/daemon-session.ts';
import type { Controller } from './controller.ts';
import type { KeyGroup, KeyRow } from './key-row.ts';
import type { Place, Step } from './layout.ts';
import type { PaletteRow } from './palette.ts';
import type { Subject } from './row-subject.ts';
import type { StateSlot, UiState } from './ui-state.ts';

export interface ScreenProps {
  controller: Controller;
  ui: UiState;
  /** Cells of the body: what header, banner and footer leave. */
  width: number;
  height: number;
}

export interface View {
  readonly name: string;
  /** Shows it. */
  readonly key: string;
  readonly title: string;
  /** For narrow terminals. */
  readonly short: string;
  /** For terminals of eighty cells. */
  readonly brief: string;

  readonly keys: readonly KeyRow[];
  /** Keys that it has in common with other views of its kind. */
  readonly shared: KeyGroup | null;
  /** Its commands of the palette. */
  readonly commands: readonly PaletteRow[];
  /** Asked of the daemon while it is shown. */
  readonly asks: readonly Ask[];

  readonly state: StateSlot<unknown>;
  /** Whether the daemon has what it shows. The header and Tab leave one out that has nothing; its key shows it all the same. */
  applies(session: DaemonSession): boolean;
  /** Called before it is shown. */
  open(controller: Controller): void;
  move(controller: Controller, step: Step): void;
  /** Escape with nothing open over it; false where it has no step back of its own. */
  back(controller: Controller): boolean;
  /** A click at a place of the body. */
  click(controller: Controller, at: Place): void;

  /** Is there a row under the cursor? */
  hasRow(controller: Controller): boolean;
  /** What the row under the cursor stands for, the narrowest first; null where rows stand for nothing of the kind. */
  readonly subjects: ((controller: Controller) => readonly Subject[]) | null;
  /** Copies what is selected, or all that the filter shows. */
  copy(controller: Controller): void;
  copyAll(controller: Controller): void;
  /** All that the filter shows, not only what is on screen: text, or NDJSON. */
  export(controller: Controller, json: boolean): string;
  /** For a screen reader, '' where there is nothing to say: a remark after the title, the selected row, and a summary
   * that is repeated. */
  spokenRemark(controller: Controller): string;
  spokenRow(controller: Controller): string;
  spokenSummary(controller: Controller): string;

  screen(props: ScreenProps): ReactNode;
}

const nothing = (): void => undefined;
const silence = (): string => '';

/** The answers of a view that has nothing of the kind. */
export const PLAIN_VIEW = {
  shared: null,
  commands: [],
  asks: [],
  applies: () => true,
  open: nothing,
  move: nothing,
  back: () => false,
  click: nothing,
  hasRow: () => true,
  subjects: null,
  copyAll: (c: Controller) => c.notify('warn', 'X exports this view to a file'),
  spokenRemark: silence,
  spokenRow: silence,
  spokenSummary: silence,
} as const satisfies Partial<View>;

/** For keys that move in the view that is shown. */
export const steps = (step: Step) => (c: Controller) => c.state.view.move(c, step);
