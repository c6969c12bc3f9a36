// What a list view is: a row of columns, the commands it is made of, and how their answers become rows. A new admin
// view is one of these and some keys; drawing, filtering, sorting, copying and export come with the list.

import type { Ask } from '../admin-store.ts';
import type { ListColumn, ListRow, ListState } from '../list-view.ts';
import type { Session } from '../session.ts';
import type { ListViewName } from '../views.ts';

export interface ListDefinition {
  readonly view: ListViewName;
  readonly columns: readonly ListColumn[];
  /** Asked while the view is open. */
  readonly asks: readonly Ask[];
  /** Rows in their natural order, of what is known right now; never throws. */
  rows(session: Session, option: string): ListRow[];
  /** Beside the title: what the rows are, how many. */
  remark(session: Session, option: string): string;
  /** In the place of rows when there are none. */
  empty(session: Session, option: string): string;
  readonly initial?: Partial<ListState>;
  /** Does it need the sample of the traffic? */
  readonly sampled?: true;
}
