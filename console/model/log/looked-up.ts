// The identity of a request's cached object, read from its records. URL and host as the lookup used them: after
// vcl_recv and vcl_hash changed them, as a ban compares them and a purge names them; of a fetch, those it began with;
// without a lookup, the last ones. And the tags (surrogate keys) of a backend response: the lines of a header add up,
// and headers that the program unset or replaced do not count.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { PARAMS } from '../../../protocol/tables/params.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { printable } from './transaction.ts';

const COLON = 0x3a;
const H = 0x68;
const LOWER_CASE = 0x20;

/** Bytes of a record's text from which it may have been cut, with the default vsl_reclen; the parameter counts the byte that ends
 * a record. */
export const LONGEST_BY_DEFAULT =
  Number.parseInt(PARAMS.find(({ name }) => name === 'vsl_reclen')?.default ?? '', 10) - 1;

export interface LookedUp {
  url: string;
  host: string;
  /** Whether there was a lookup. */
  found: boolean;
}

/** Compares bytes: this runs for every request of the sample. */
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

/** Of a request that may have been restarted: by its last lookup. */
export function lastLookedUp(lives: readonly LogTransaction[]): LookedUp {
  const all = lives.map(lookedUp);
  return all.findLast((one) => one.found) ?? all.at(-1) ?? { url: '', host: '', found: false };
}

export interface Tagged {
  tag: string;
  /** As the response spells it. */
  header: string;
}

/** The names of the headers, as part of a regular expression. */
export const TAG_HEADERS = 'xkey|x-hashtwo|surrogate-key|cache-tag|x-cache-tags';
const HEADER = new RegExp(`^(${TAG_HEADERS}):\\s*(.*)$`, 'i');
const SEPARATOR = /[\s,]+/;

/** The tags after this record of a response header. At `longestRecord` bytes its text may have been cut: the last tag may be
 * the beginning of a longer one, and is left out. */
export function withTags(
  before: readonly Tagged[],
  cursor: RecordCursor,
  longestRecord = LONGEST_BY_DEFAULT,
): readonly Tagged[] {
  if (cursor.tag !== Tag.BerespHeader && cursor.tag !== Tag.BerespUnset) return before;
  const [, header, list] = HEADER.exec(cursor.text) ?? [];
  if (header === undefined || list === undefined) return before;
  if (cursor.tag === Tag.BerespUnset)
    return before.filter((one) => one.header.toLowerCase() !== header.toLowerCase());
  const tags = list.split(SEPARATOR);
  if (cursor.to - cursor.from >= longestRecord) tags.pop();
  return [...before, ...tags.filter(Boolean).map((tag) => ({ tag: printable(tag), header }))];
}
