// The extension accept: content negotiation among the choices that the program offers. Follows vmod_accept(3) of the
// module collection; weights, malformed lists and letter case are handled as Varnish was observed to handle them.
//
// The choices belong to the program's object and may change while the program runs. A list that is malformed anywhere
// yields the fallback, like one without a match. There are no wildcards: `*/*` is a choice like any other.

import type { Extension, ExtensionObject } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';

/** One list element with its delimiter: a name, and parameters. Matches at the end of the previous element. */
const ELEMENT =
  /[ \t\r\n]*([^ \t\r\n,;=]+)((?:[ \t\r\n]*;[ \t\r\n]*[^ \t\r\n,;=]+=[^ \t\r\n,;=]+)*)[ \t\r\n]*(?:,[ \t\r\n]*|$)/y;
/** A weight counts only as the first parameter; the names of others are ignored. */
const WEIGHT = /^[ \t\r\n]*;[ \t\r\n]*q=([^ \t\r\n;]+)/;
const NUMBER = /^[01]\d*(?:\.\d*)?(?:[eE][+-]?\d+)?$/;
/** A weight written as non-zero but too small for a number is refused like a malformed one. */
const SOME = /^[^eE]*[1-9]/;

/** Null for an invalid weight. */
function weightOf(parameters: string): number | null {
  const text = WEIGHT.exec(parameters)?.[1];
  if (text === undefined) return 1;
  const weight = NUMBER.test(text) ? Number(text) : 2;
  return weight > 1 || (weight === 0 && SOME.test(text)) ? null : weight;
}

export class AcceptRule {
  readonly #fallback: string;
  /** As added, by lower-case name. */
  readonly #choices = new Map<string, string>();

  constructor(fallback: string) {
    this.#fallback = fallback;
  }

  add(choice: string): void {
    const key = choice.toLowerCase();
    if (!this.#choices.has(key)) this.#choices.set(key, choice);
  }

  remove(choice: string): void {
    this.#choices.delete(choice.toLowerCase());
  }

  /** The choice with the greatest weight in a list, the first of equal ones; otherwise the fallback. */
  filter(list: string): string {
    let best = this.#fallback;
    let most = 0;
    for (ELEMENT.lastIndex = 0; ELEMENT.lastIndex < list.length; ) {
      const element = ELEMENT.exec(list);
      const weight = weightOf(element?.[2] ?? '');
      if (element === null || weight === null) return this.#fallback;
      const choice = this.#choices.get((element[1] as string).toLowerCase());
      if (choice === undefined || weight <= most) continue;
      best = choice;
      most = weight;
    }
    return best;
  }
}

type Text = string | null;

const rule: ExtensionObject = {
  signature: 'rule(STRING string)',
  help: 'A filter for lists such as Accept-Language; the text is the result if nothing matches.',
  create: (_ctx, _name, fallback: Text) => new AcceptRule(fallback ?? ''),
  // biome-ignore format: a row is a line
  methods: byName(
    row('VOID add(STRING string)', (_ctx, self: AcceptRule, choice: Text) => self.add(choice ?? ''), 'Adds a choice.'),
    row('VOID remove(STRING string)', (_ctx, self: AcceptRule, choice: Text) => self.remove(choice ?? ''), 'Removes a choice.'),
    row('STRING filter(STRING string)', (_ctx, self: AcceptRule, list: Text) => self.filter(list ?? ''), 'The choice that the list prefers.'),
  ),
};

export const accept: Extension = {
  name: 'accept',
  help: 'choosing from lists such as Accept-Language',
  functions: {},
  objects: { rule },
};
