// Parses surrogate keys in headers of a response: words between blanks and commas, case-sensitive, without duplicates.

import type { HttpMessage } from '../../http1/message.ts';

/** The keys of a text, in order, without duplicates. */
export function keysIn(text: string): string[] {
  const words = text.split(/[ \t,]+/);
  const keys = words.filter((word) => word !== '');
  return keys.length < 2 ? keys : [...new Set(keys)];
}

/** The keys of a head; null when there are none. `headers` in lower case. */
export function tagsOf(head: HttpMessage, headers: readonly string[]): string[] | null {
  let text = '';
  for (const header of headers) {
    if (!head.has(header)) continue;
    text += ` ${head.getAll(header) ?? ''}`;
  }
  if (text === '') return null;
  const keys = keysIn(text);
  return keys.length === 0 ? null : keys;
}

/** Header names from a parameter's text: separated by blanks or commas. */
export function headerNames(text: string): string[] {
  return keysIn(text.toLowerCase());
}
