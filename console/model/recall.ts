// History of a field (commands, queries), pure: the newest last, no duplicates in a row, bounded; and the
// walk through it with up and down, which gives back what was being typed at its end.

import { type Line, lineOf } from './line-editor.ts';

export interface Recall {
  entries: readonly string[];
  /** Distance from the newest while walking; 0 is the line being typed. */
  back: number;
  draft: string;
}

export const EMPTY_RECALL: Recall = { entries: [], back: 0, draft: '' };

const LIMIT = 200;

export function remember(recall: Recall, text: string): Recall {
  if (text.trim() === '' || recall.entries.at(-1) === text) return { ...recall, back: 0, draft: '' };
  return { entries: [...recall.entries, text].slice(-LIMIT), back: 0, draft: '' };
}

/** One step back (1) or forth (-1); only entries that begin with what was typed are visited. */
export function walk(recall: Recall, line: Line, step: 1 | -1): { recall: Recall; line: Line } {
  const draft = recall.back === 0 ? line.text : recall.draft;
  for (let back = recall.back + step; back >= 0 && back <= recall.entries.length; back += step) {
    if (back === 0) return { recall: { ...recall, back, draft }, line: lineOf(draft) };
    const entry = recall.entries[recall.entries.length - back] as string;
    if (entry.startsWith(draft)) return { recall: { ...recall, back, draft }, line: lineOf(entry) };
  }
  return { recall, line };
}
