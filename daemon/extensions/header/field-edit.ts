// Changes to single fields of a message that leave the others where they are and write no record: what the
// field's own extensions do to messages, other than `set` and `unset`.

import { type HttpMessage, nameBit } from '../../http1/message.ts';

/** Forgets that the fields from `i` on are the bytes they came from. */
function noLongerRaw(http: HttpMessage, i: number): void {
  if (i < http.rawLines) http.rawLines = i;
}

/** Puts another line in the place of field `i`. */
export function replaceField(http: HttpMessage, i: number, key: string, line: string): void {
  noLongerRaw(http, i);
  http.names |= nameBit(key);
  http.keys[i] = key;
  http.lines[i] = line;
}

/** Removes the fields from `from` on that `gone` names. */
export function removeFields(http: HttpMessage, from: number, gone: (i: number) => boolean): void {
  let kept = from;
  for (let i = from; i < http.n; i++) {
    if (gone(i)) {
      noLongerRaw(http, kept);
      continue;
    }
    if (kept !== i) replaceField(http, kept, http.keys[i] as string, http.lines[i] as string);
    kept++;
  }
  http.n = kept;
}
