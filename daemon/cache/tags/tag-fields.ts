// Surrogate keys as a response head names them: words between blanks and commas, in one or several fields.
//
// Only reads. A key is taken as it is written; the same key twice is one key.

import type { HttpMessage } from '../../http1/message.ts';

/** Fields that hold keys when no parameter says otherwise; lower case. */
export const DEFAULT_TAG_FIELDS: readonly string[] = ['xkey', 'x-hashtwo'];

/** The keys of a text, each once, in the order in which they come. */
export function keysIn(text: string): string[] {
  const words = text.split(/[ \t,]+/);
  const keys = words.filter((word) => word !== '');
  return keys.length < 2 ? keys : [...new Set(keys)];
}

/** The keys that a head names; null when there are none. `fields` in lower case. */
export function tagsOf(head: HttpMessage, fields: readonly string[]): string[] | null {
  let text = '';
  for (const field of fields) {
    if (!head.has(field)) continue;
    text += ` ${head.getAll(field) ?? ''}`;
  }
  if (text === '') return null;
  const keys = keysIn(text);
  return keys.length === 0 ? null : keys;
}

/** Field names from a parameter's text: separated by blanks or commas. */
export function fieldNames(text: string): string[] {
  return keysIn(text.toLowerCase());
}
