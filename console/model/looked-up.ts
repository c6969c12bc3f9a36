// The URL and the host of a request as its lookup had them: after what the program made of them in vcl_recv and vcl_hash,
// before what it makes of them later. That is what a ban compares, and what a purge of the page has to name. Of a fetch it
// is what it began with. What was never looked up is as it was in the end.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { printable } from './transaction.ts';

export interface LookedUp {
  url: string;
  host: string;
  /** Was there a lookup? */
  found: boolean;
}

export function lookedUp({ records }: LogTransaction): LookedUp {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const cursor = new RecordCursor(bytes);
  const out = { url: '', host: '', found: false };
  while (cursor.next()) {
    switch (cursor.tag) {
      case Tag.ReqURL:
      case Tag.BereqURL:
        out.url = printable(bytes.toString('utf8', cursor.from, cursor.to));
        break;
      case Tag.ReqHeader:
      case Tag.BereqHeader:
        out.host = printable(/^host:\s*(.*?)\s*$/i.exec(cursor.text)?.[1] ?? out.host);
        break;
      case Tag.VCL_call:
        if (cursor.text === 'BACKEND_FETCH') return { ...out, found: true };
        break;
      case Tag.VCL_return:
        if (cursor.text === 'lookup') return { ...out, found: true };
        break;
      default:
    }
  }
  return out;
}

/** Of a request that may have been restarted: its last lookup is the one that it was answered from. */
export function lastLookedUp(lives: readonly LogTransaction[]): LookedUp {
  const all = lives.map(lookedUp);
  return all.findLast((one) => one.found) ?? all.at(-1) ?? { url: '', host: '', found: false };
}
