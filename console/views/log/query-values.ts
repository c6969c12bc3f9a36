// Completion of a query from what the log has shown: header names after `ReqHeader:`, and values between quotes or
// after a comparison: URLs, statuses, ids, values of a header. The newest few hundred groups are looked through, and
// only where the text asks for it.

import type { Candidate } from '../../model/completion.ts';
import type { LogEntry } from '../../model/log-entry.ts';
import type { LogReader } from '../../model/log-store.ts';
import { decodeRecords } from '../../model/transaction.ts';

const LOOKED_THROUGH = 300;
const MOST = 60;

/** Null where the text before the cursor asks for no value. */
export function completeFromLog(
  text: string,
  cursor: number,
  store: LogReader,
): { from: number; candidates: Candidate[] } | null {
  const head = text.slice(0, cursor);
  const header = /(\w+Header):([\w-]*)$/i.exec(head);
  if (header !== null) {
    const [, tag = '', begun = ''] = header;
    const found = collect(
      store,
      (r) => (same(r.name, tag) ? /^([\w-]+):/.exec(r.text)?.[1] : undefined),
      begun,
      true,
    );
    return { from: cursor - begun.length, candidates: found };
  }
  const value = /(\w+)(?::([\w-]+))?(?:\s*(?:==|!=)|\s+(?:eq|ne)(?=[\s"]))\s*("?)([^"\s]*)$/i.exec(head);
  if (value === null) return null;
  const [, tag = '', field, quote = '', begun = ''] = value;
  const isId = tag.toLowerCase() === 'vxid';
  const found = collect(
    store,
    (r, vxid) => {
      if (isId) return String(vxid);
      if (!same(r.name, tag)) return undefined;
      if (field === undefined) return r.text;
      return r.text.slice(0, field.length + 1).toLowerCase() === `${field.toLowerCase()}:`
        ? r.text.slice(field.length + 1).trim()
        : undefined;
    },
    begun,
    false,
  );
  // A text is quoted unless it is one word already, or the quote stands there.
  const put = (word: string): string =>
    quote === '"' ? `${word}"` : /^[\w.-]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
  return { from: cursor - begun.length, candidates: found.map((c) => ({ ...c, text: put(c.text) })) };
}

function collect(
  store: LogReader,
  pick: (record: { name: string; text: string }, vxid: number) => string | undefined,
  begun: string,
  anyCase: boolean,
): Candidate[] {
  const counts = new Map<string, number>();
  const start = anyCase ? begun.toLowerCase() : begun;
  for (let i = store.size - 1; i >= Math.max(0, store.size - LOOKED_THROUGH); i--) {
    for (const tx of (store.at(i) as LogEntry).transactions) {
      for (const record of decodeRecords(tx.records)) {
        const word = pick(record, tx.vxid);
        if (word === undefined || word === '' || !(anyCase ? word.toLowerCase() : word).startsWith(start))
          continue;
        if (counts.size < MOST || counts.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
  }
  return [...counts].map(([text, n]) => ({ text, help: n === 1 ? 'seen once' : `seen ${n} times` }));
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
