// The definition of a list view: its columns, the commands whose answers it shows, how they become rows, and its own keys.

import type { Ask } from '../../model/session/admin-store.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { Subject } from '../../model/ui/row-subject.ts';
import type { KeyRow, View, ViewContext } from '../../model/ui/view.ts';
import type { ListColumn, ListRow, ListState } from './list-state.ts';

/** `act` gets the selected row, and is not called without one. `line`: the command of a row, so that the key works on
 * several marked rows; null for a row that it is not for. */
export interface RowKey extends Omit<KeyRow, 'run'> {
  act(c: ViewContext, row: ListRow): void;
  line?(row: ListRow): string | null;
}

export type ListKey = KeyRow | RowKey;

export interface ListDefinition extends Pick<View, 'name' | 'key' | 'title' | 'short' | 'brief'> {
  readonly columns: readonly ListColumn[];
  /** Polled while the view is open. */
  readonly asks: readonly Ask[];
  readonly initial?: Partial<ListState>;
  readonly keys: readonly ListKey[];
  /** Rows in their natural order, from current data; never throws. */
  rows(session: DaemonSession, option: string): ListRow[];
  /** Next to the title: kind and number of rows. */
  remark(session: DaemonSession, option: string): string;
  /** Text in place of rows, if there are none. */
  empty(session: DaemonSession, option: string): string;
  /** As in View; always true if absent. */
  applies?(session: DaemonSession): boolean;
  /** Called before the view is shown. */
  open?(c: ViewContext): void;
  /** The subjects of a row. */
  subjects?(row: ListRow): readonly Subject[];
  /** Enter on a row. */
  enter(c: ViewContext, row: ListRow): void;
}
