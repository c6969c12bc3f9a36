// The tags (surrogate keys) that a response of a backend carries, out of the records of its headers: several lines of a
// header add up, and what the program unsets or replaces does not count. A record is cut at vsl_reclen: what may be the
// beginning of a longer tag is left out.

import type { RecordCursor } from '../../protocol/log-record.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { LONGEST_BY_DEFAULT } from './record-length.ts';
import { printable } from './transaction.ts';

export interface Tagged {
  tag: string;
  /** As the response spells it. */
  header: string;
}

/** The names of the headers, as part of a regular expression. */
export const TAG_HEADERS = 'xkey|x-hashtwo|surrogate-key|cache-tag|x-cache-tags';
const HEADER = new RegExp(`^(${TAG_HEADERS}):\\s*(.*)$`, 'i');
const SEPARATOR = /[\s,]+/;

/** What the record adds to the tags before it, or takes away. `longestRecord`: bytes at which its text may have been cut. */
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
