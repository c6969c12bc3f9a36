// The last match of a task, to which backref() and namedref() refer. Groups are found when they are first asked for: most
// programs only ask whether a text matches, which is cheaper.

import type { VclContext } from '../../contract/context.ts';
import { taskPriv } from '../../contract/priv.ts';
import type { Found, Pattern } from './pattern.ts';
import { fail, groupOf, searched, shown, type Text } from './rewriting.ts';

export class LastMatch {
  readonly pattern: Pattern;
  readonly #text: string;
  readonly #matched: boolean;
  #found: Found | null | undefined;

  constructor(pattern: Pattern, text: string, matched: boolean) {
    this.pattern = pattern;
    this.#text = text;
    this.#matched = matched;
  }

  /** Null for a group that is not in the match, and after a match that failed. */
  group(ctx: VclContext, call: string, group: number): Text {
    if (!this.#matched) return null;
    this.#found ??= searched(call, () => this.pattern.find(ctx, this.#text));
    return this.#found === null ? null : groupOf(this.#text, this.#found, group);
  }
}

/** Remembers a match in this task. @param key the object, or the extension for its functions */
export function remember(ctx: VclContext, key: object, match: LastMatch): void {
  taskPriv(ctx, key).value = match;
}

/** How messages speak of an object and of the functions. */
export interface Speaker {
  /** `r`, or `re2` for functions. */
  readonly name: string;
  /** The messages without a match, with one whose pattern captures nothing. */
  readonly unmatched: (method: string) => string;
  readonly uncaptured: string;
}

function lastOf(ctx: VclContext, key: object, speaker: Speaker, method: string, call: string): LastMatch {
  const last = taskPriv(ctx, key).value;
  if (!(last instanceof LastMatch)) fail(`${call}: ${speaker.unmatched(method)}`);
  if (last.pattern.options.never_capture) fail(`${call}: ${speaker.uncaptured}`);
  return last;
}

export function backref(ctx: VclContext, key: object, speaker: Speaker, ref: number, fallback: Text): string {
  const call = `${speaker.name}.backref(ref=${ref}, fallback="${shown(fallback)}")`;
  if (fallback === null) fail(`${call}: fallback is undefined`);
  const last = lastOf(ctx, key, speaker, 'backref', call);
  const { groups } = last.pattern;
  // A negative number ends Varnish.
  if (ref < 0 || ref > groups) fail(`${call}: backref out of range (max ${groups})`);
  return last.group(ctx, call, ref) ?? fallback;
}

export function namedref(ctx: VclContext, key: object, speaker: Speaker, name: Text, fallback: Text): string {
  if (fallback === null) fail(`${speaker.name}.namedref(): fallback is undefined`);
  const call = `${speaker.name}.namedref(name="${shown(name)}", fallback="${shown(fallback)}")`;
  if (name === null || name === '') fail(`${call}: name is empty`);
  const last = lastOf(ctx, key, speaker, 'namedref', call);
  const group = last.pattern.names.get(name);
  if (group === undefined)
    fail(`namedref name="${shown(name)}", fallback="${shown(fallback)}": no such named group`);
  return last.group(ctx, call, group) ?? fallback;
}
