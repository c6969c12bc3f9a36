// Tag names as operators write them: in any case, cut short where unique, with a * at the start or the end.

import { TAGS, tagNamed } from '../protocol/tables/tags.ts';

/** none: no tag has this name; ambiguous: several begin with it; syntax: stars in the wrong place. */
export type TagProblem = 'none' | 'ambiguous' | 'syntax';

const NAMES = TAGS.map((row) => row.name.toLowerCase());

/** Marks the tags that one name or glob means in `set` (indexed by tag number); or says what is wrong. */
export function markTags(glob: string, set: Uint8Array, value = 1): TagProblem | null {
  const name = glob.toLowerCase();
  if (name === '') return 'none';
  if (name.includes('*')) {
    const head = name.startsWith('*');
    const tail = name.length > 1 && name.endsWith('*');
    if (name.indexOf('*') !== name.lastIndexOf('*')) return 'syntax';
    const part = head ? name.slice(1) : tail ? name.slice(0, -1) : null;
    let found = false;
    for (const [i, n] of NAMES.entries()) {
      if (part === null || !(head ? n.endsWith(part) : n.startsWith(part))) continue;
      set[i + 1] = value;
      found = true;
    }
    return found ? null : 'none';
  }
  const tag = tagNamed(name);
  if (typeof tag === 'string') return tag;
  set[tag] = value;
  return null;
}

/** A comma-separated list as -i and -x take it; or the message Varnish's tools give, without the option. */
export function markTagList(list: string, set: Uint8Array, value = 1): string | null {
  // Extra commas are allowed as long as there is a name.
  const names = list.split(',').filter((name) => name !== '');
  for (const glob of names.length === 0 ? [''] : names) {
    const problem = markTags(glob, set, value);
    if (problem === 'none') return `"${list}" matches zero tags`;
    if (problem === 'ambiguous') return `"${list}" is ambiguous`;
    if (problem === 'syntax') return `Syntax error in "${list}"`;
  }
  return null;
}
