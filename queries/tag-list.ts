// Tag names as operators write them: in any case, abbreviated if unique, with a * at the start or the end.

import { TAGS, tagNamed } from '../protocol/tables/tags.ts';

/** none: no such tag; ambiguous: several begin with it; syntax: misplaced stars. */
export type TagProblem = 'none' | 'ambiguous' | 'syntax';

const NAMES = TAGS.map((row) => row.name.toLowerCase());

/** Sets the tags of one name or glob in `set` (indexed by tag number); or returns an error. */
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

/** A comma-separated list as accepted by -i and -x; or the message of Varnish's tools, without the option. */
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
