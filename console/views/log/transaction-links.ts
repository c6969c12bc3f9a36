// Where a transaction points: the backend requests and subrequests it began, the fetch that made the object it hit,
// the request that began it.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { decodeRecords } from '../../model/transaction.ts';

export interface TransactionLink {
  kind:
    | 'backend request'
    | 'subrequest'
    | 'restart'
    | 'object'
    | 'hit-for-miss object'
    | 'hit-for-pass object';
  vxid: number;
}

/** Children first, then objects. */
export function linksOf(tx: LogTransaction): TransactionLink[] {
  const out: TransactionLink[] = [];
  for (const { tag, text } of decodeRecords(tx.records)) {
    const [first = '', second = '', third = ''] = text.split(' ');
    if (tag === Tag.Link)
      out.push({
        kind: first === 'bereq' ? 'backend request' : third.startsWith('restart') ? 'restart' : 'subrequest',
        vxid: Number(second),
      });
    else if (tag === Tag.Hit) out.push({ kind: 'object', vxid: Number(first) });
    else if (tag === Tag.HitMiss) out.push({ kind: 'hit-for-miss object', vxid: Number(first) });
    else if (tag === Tag.HitPass) out.push({ kind: 'hit-for-pass object', vxid: Number(first) });
  }
  return out.filter((l) => l.vxid > 0);
}
