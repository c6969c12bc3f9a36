// One line of text being edited, pure: the text, the cursor in it, what keys do to them, and the history that Up and Down
// walk through. The cursor counts UTF-16 units but never splits a pair.

export interface Line {
  text: string;
  cursor: number;
}

export const EMPTY_LINE: Line = { text: '', cursor: 0 };

export function lineOf(text: string): Line {
  return { text, cursor: text.length };
}

export function insert(line: Line, text: string): Line {
  const clean = text.replace(/[\x00-\x1f\x7f]+/g, ' ');
  return {
    text: line.text.slice(0, line.cursor) + clean + line.text.slice(line.cursor),
    cursor: line.cursor + clean.length,
  };
}

/** Applies an editing key (canonical name); undefined if the key is no editing key. */
export function editKey(line: Line, key: string): Line | undefined {
  const { text, cursor } = line;
  switch (key) {
    case 'left':
    case 'ctrl+b':
      return { text, cursor: before(text, cursor) };
    case 'right':
    case 'ctrl+f':
      return { text, cursor: after(text, cursor) };
    case 'home':
    case 'ctrl+a':
      return { text, cursor: 0 };
    case 'end':
    case 'ctrl+e':
      return { text, cursor: text.length };
    case 'ctrl+left':
    case 'alt+left':
    case 'alt+b':
      return { text, cursor: wordStart(text, cursor) };
    case 'ctrl+right':
    case 'alt+right':
    case 'alt+f':
      return { text, cursor: wordEnd(text, cursor) };
    case 'backspace':
      return cut(text, before(text, cursor), cursor);
    case 'delete':
    case 'ctrl+d':
      return cut(text, cursor, after(text, cursor));
    case 'ctrl+w':
    case 'alt+backspace':
      return cut(text, wordStart(text, cursor), cursor);
    case 'ctrl+u':
      return cut(text, 0, cursor);
    case 'ctrl+k':
      return cut(text, cursor, text.length);
    default:
      return undefined;
  }
}

function cut(text: string, from: number, to: number): Line {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

function before(text: string, cursor: number): number {
  if (cursor <= 1) return 0;
  const low = text.charCodeAt(cursor - 1);
  return low >= 0xdc00 && low <= 0xdfff ? cursor - 2 : cursor - 1;
}

function after(text: string, cursor: number): number {
  if (cursor >= text.length) return text.length;
  const high = text.charCodeAt(cursor);
  return high >= 0xd800 && high <= 0xdbff ? Math.min(text.length, cursor + 2) : cursor + 1;
}

function wordStart(text: string, cursor: number): number {
  let i = cursor;
  while (i > 0 && text[i - 1] === ' ') i--;
  while (i > 0 && text[i - 1] !== ' ') i--;
  return i;
}

function wordEnd(text: string, cursor: number): number {
  let i = cursor;
  while (i < text.length && text[i] === ' ') i++;
  while (i < text.length && text[i] !== ' ') i++;
  return i;
}

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

/** One step back (1) or forth (-1), over entries that begin with the typed text. */
export function walk(recall: Recall, line: Line, step: 1 | -1): { recall: Recall; line: Line } {
  const draft = recall.back === 0 ? line.text : recall.draft;
  for (let back = recall.back + step; back >= 0 && back <= recall.entries.length; back += step) {
    if (back === 0) return { recall: { ...recall, back, draft }, line: lineOf(draft) };
    const entry = recall.entries[recall.entries.length - back] as string;
    if (entry.startsWith(draft)) return { recall: { ...recall, back, draft }, line: lineOf(entry) };
  }
  return { recall, line };
}
