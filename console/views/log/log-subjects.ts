// What a row of the log stands for: the URL and the host of its request as the lookup had them, since that is what a ban
// compares, and the tags of what was fetched for it.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import type { LogEntry } from '../../model/log-entry.ts';
import { lastLookedUp, lookedUp } from '../../model/looked-up.ts';
import { livesOf } from '../../model/request-group.ts';
import type { Subject } from '../../model/row-subject.ts';
import { type Tagged, withTags } from '../../model/tagged.ts';
import { readTransaction } from '../../model/traffic-facts.ts';

/** `at`: index of the transaction under the cursor, -1 for the group as a whole. `longestRecord`: bytes at which a record's
 * text may have been cut. */
export function logSubjects(entry: LogEntry, at: number, longestRecord: number): Subject[] {
  const { transactions } = entry;
  const here = transactions[at] ?? transactions[0];
  const tx = here?.type === 'session' ? transactions.find((one) => one.type === 'request') : here;
  if (tx === undefined) return [];
  const { url, host } = at >= 0 && here === tx ? lookedUp(tx) : lastLookedUp(livesOf(transactions, tx));
  const pages: Subject[] =
    url === ''
      ? []
      : [
          { kind: 'url', key: url, of: host, ...(tx.type === 'bereq' ? {} : { sent: sentAs(tx) }) },
          { kind: 'path', key: url.replace(/[?#].*$/s, ''), of: host },
        ];
  const fetches = tx.type === 'bereq' ? [tx] : transactions.filter((one) => one.parent === tx.vxid);
  return [...pages, ...fetches.flatMap((tx) => tagsOf(tx, longestRecord))];
}

/** Of a restart what was sent is with the first life, and this is what came of it. */
function sentAs(tx: LogTransaction): { url: string; host: string } {
  const { url, host } = readTransaction(tx);
  return { url, host };
}

function tagsOf({ type, records }: LogTransaction, longestRecord: number): Subject[] {
  const cursor = new RecordCursor(type === 'bereq' ? records : new Uint8Array());
  let tags: readonly Tagged[] = [];
  while (cursor.next()) tags = withTags(tags, cursor, longestRecord);
  return tags.map(({ tag, header }) => ({ kind: 'tag', key: tag, of: header }));
}
