// Which records of a transaction are shown: -i -I -x -X in the order given. The first option decides the default:
// after an include nothing is shown, else everything. A matching include expression takes precedence over an exclude
// expression wherever they are; the tag options decide the rest.

import { RecordCursor, recordTag, recordText } from '../protocol/log-record.ts';
import type { RecordFilter } from '../protocol/messages.ts';
import { markTagList } from './tag-list.ts';
import { compilePattern, type Effort, type TextPattern } from './text-pattern.ts';

/** Is the record at `at` shown? */
export type RecordPredicate = (records: Uint8Array, at: number) => boolean;

const LETTER = {
  'include-tags': 'i',
  'exclude-tags': 'x',
  'include-regex': 'I',
  'exclude-regex': 'X',
} as const;

/** The predicate, null if everything is shown; or a message as printed by Varnish's tools. */
export function compileRecordFilters(
  filters: readonly RecordFilter[],
  caseless: boolean,
  effort: Effort,
): { show: RecordPredicate | null } | { error: string } {
  const first = filters[0];
  if (first === undefined) return { show: null };
  const shown = new Uint8Array(256).fill(first.kind.startsWith('include') ? 0 : 1);
  const rules: { tags: Uint8Array; regex: TextPattern; show: boolean }[] = [];
  for (const f of filters) {
    const letter = LETTER[f.kind];
    const show = f.kind.startsWith('include');
    if (!('regex' in f)) {
      const problem = markTagList(f.tags, shown, show ? 1 : 0);
      if (problem !== null) return { error: `-${letter}: ${problem}` };
      continue;
    }
    const tags = new Uint8Array(256);
    const problem = markTagList(f.tags, tags);
    if (problem !== null) return { error: `-${letter}: ${problem}` };
    // Records are bytes, so an expression has one character per byte as well.
    const regex = compilePattern(Buffer.from(f.regex, 'utf8').toString('latin1'), caseless, effort);
    if ('message' in regex) {
      return { error: `-${letter}: Regex error at position ${regex.offset} (${regex.message})` };
    }
    rules.push({ tags, regex, show });
  }
  return {
    show: (records, at) => {
      const tag = recordTag(records, at);
      let hide = false;
      let text: string | null = null;
      for (const rule of rules) {
        if (rule.tags[tag] === 0 || (hide && !rule.show)) continue;
        text ??= recordText(records, at);
        if (!rule.regex.test(text)) continue;
        if (rule.show) return true;
        hide = true;
      }
      if (hide) return false;
      return shown[tag] === 1;
    },
  };
}

/** The records selected by `show`; the same array if all are. */
export function filterRecords(records: Uint8Array, show: RecordPredicate): Uint8Array {
  const runs: Uint8Array[] = [];
  let from = -1;
  let kept = 0;
  const cursor = new RecordCursor(records);
  while (cursor.next()) {
    const { at } = cursor;
    if (show(records, at)) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      runs.push(records.subarray(from, at));
      kept += at - from;
      from = -1;
    }
  }
  if (from === 0) return records;
  if (from > 0) {
    runs.push(records.subarray(from, cursor.end));
    kept += cursor.end - from;
  }
  const out = new Uint8Array(kept);
  let to = 0;
  for (const run of runs) {
    out.set(run, to);
    to += run.length;
  }
  return out;
}
