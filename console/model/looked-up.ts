// The URL and the host of a request as its lookup had them: after what the program made of them in vcl_recv and vcl_hash,
// before what it makes of them later. That is what a ban compares, and what a purge of the page has to name. Of a fetch it
// is what it began with. What was never looked up is as it was in the end.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { printable } from './transaction.ts';

const COLON = 0x3a;
const H = 0x68;
const LOWER_CASE = 0x20;

export interface LookedUp {
  url: string;
  host: string;
  /** Was there a lookup? */
  found: boolean;
}

/** Without text of the headers that are others: this is done for every request of the sample. */
function isHost(bytes: Buffer, from: number): boolean {
  return (
    bytes[from + 4] === COLON &&
    ((bytes[from] as number) | LOWER_CASE) === H &&
    bytes.toString('latin1', from + 1, from + 4).toLowerCase() === 'ost'
  );
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
        if (isHost(bytes, cursor.from)) out.host = printable(cursor.text.slice('host:'.length).trim());
        break;
      case Tag.VCL_call:
        if (cursor.to - cursor.from === 'BACKEND_FETCH'.length && cursor.text === 'BACKEND_FETCH')
          return { ...out, found: true };
        break;
      case Tag.VCL_return:
        if (cursor.to - cursor.from === 'lookup'.length && cursor.text === 'lookup')
          return { ...out, found: true };
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
