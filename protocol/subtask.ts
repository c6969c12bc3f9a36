// Transactions that are a part of another client request, as fragments of a page are: -E of the log tools shows them.

import { RecordCursor } from './log-record.ts';
import type { LogTransaction } from './messages.ts';
import { Tag } from './tables/tags.ts';

/** Whether it is one: by its reason, or by the level that Begin has as its fourth field since Varnish 7.2. */
export function isSubtask(tx: LogTransaction): boolean {
  if (tx.type !== 'request') return false;
  if (tx.reason === 'esi') return true;
  const cursor = new RecordCursor(tx.records);
  if (!cursor.next() || cursor.tag !== Tag.Begin) return false;
  return Number(cursor.text.split(' ')[3] ?? 0) > 0;
}
