// The definition of a list view: its columns, the commands whose answers it shows, how they become rows, and its own keys.

import type { Ask } from '../../model/admin-store.ts';
import type { Controller } from '../../model/controller.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import type { KeyRow } from '../../model/key-row.ts';
import type { Subject } from '../../model/row-subject.ts';
import type { View } from '../../model/view.ts';
import type { ListColumn, ListRow, ListState } from './list-state.ts';

/** `act` gets the selected row, and nothing happens without one. */
export type ListKey = KeyRow | (Omit<KeyRow, 'run'> & { act(controller: Controller, row: ListRow): void });

export interface ListDefinition extends Pick<View, 'name' | 'key' | 'title' | 'short' | 'brief'> {
  readonly columns: readonly ListColumn[];
  /** Asked while the view is open. */
  readonly asks: readonly Ask[];
  readonly initial?: Partial<ListState>;
  readonly keys: readonly ListKey[];
  /** Rows in their natural order, of what is known right now; never throws. */
  rows(session: DaemonSession, option: string): ListRow[];
  /** Beside the title: what the rows are, how many. */
  remark(session: DaemonSession, option: string): string;
  /** In the place of rows when there are none. */
  empty(session: DaemonSession, option: string): string;
  /** As of a view; it always does when absent. */
  applies?(session: DaemonSession): boolean;
  /** Called before it is shown. */
  open?(controller: Controller): void;
  /** What a row stands for: see Subject. */
  subjects?(row: ListRow): readonly Subject[];
  /** Enter on a row. */
  enter(controller: Controller, row: ListRow): void;
}
