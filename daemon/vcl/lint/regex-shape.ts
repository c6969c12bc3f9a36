// Properties of regular expressions for the rules: whether one can match at all, how a match must begin, which
// alternatives are plain words. Works on the regex compiler's own tree, and so on the expression that will run.

import { firstBytes } from '../../../queries/regex/analyse.ts';
import { parseRegex } from '../../../queries/regex/parse-pattern.ts';
import { canBeEmpty, type Node } from '../../../queries/regex/pattern-ast.ts';

/** The tree of a pattern, null when it does not compile (which the compiler reports). */
export function shapeOf(pattern: string): Node | null {
  try {
    return parseRegex(pattern).root;
  } catch {
    return null;
  }
}

/** Whether anchors forbid every match: text demanded before ^ or after $. */
export function neverMatches(n: Node): boolean {
  switch (n.t) {
    case 'cat':
      return n.items.some(neverMatches) || anchorsClash(n.items);
    case 'alt':
      return n.items.every(neverMatches);
    case 'group':
    case 'atomic':
      return neverMatches(n.item);
    case 'repeat':
      return n.min > 0 && neverMatches(n.item);
    case 'look':
      return n.ahead && !n.negative && neverMatches(n.item);
    default:
      return false;
  }
}

function anchorsClash(items: readonly Node[]): boolean {
  return items.some((item, i) => {
    if (needs(item, 'start') && items.slice(0, i).some((b) => !canBeEmpty(b))) return true;
    // `$` lets one newline follow, and no header or URL holds one.
    const behind = items.slice(i + 1);
    return (needs(item, 'end') || needs(item, 'end-newline')) && behind.some((b) => !canBeEmpty(b));
  });
}

/** Whether every way through the node passes an anchor of this kind. */
function needs(n: Node, kind: 'start' | 'end' | 'end-newline'): boolean {
  switch (n.t) {
    case 'assert':
      return n.kind === kind;
    case 'cat':
      return n.items.some((i) => needs(i, kind));
    case 'alt':
      return n.items.every((i) => needs(i, kind));
    case 'group':
    case 'atomic':
      return needs(n.item, kind);
    case 'repeat':
      return n.min > 0 && needs(n.item, kind);
    default:
      return false;
  }
}

/** Whether a match can only begin where the subject does. */
export function isAnchored(n: Node): boolean {
  return needs(n, 'start');
}

/** Whether a match anchored at the subject's first byte can begin with this character; true when in doubt. */
export function mayBeginWith(n: Node, char: string): boolean {
  const bytes = firstBytes(n);
  return bytes === null || bytes[char.charCodeAt(0)] === 1;
}

/** The text of a node that is a plain word, or null. */
export function literal(n: Node): string | null {
  switch (n.t) {
    case 'empty':
      return '';
    case 'set': {
      const bytes = [...n.set.entries()].flatMap(([c, on]) => (on === 1 ? [c] : []));
      // Both cases of one letter are one letter.
      if (
        bytes.length === 2 &&
        String.fromCharCode(bytes[0] as number).toLowerCase() === String.fromCharCode(bytes[1] as number)
      ) {
        return String.fromCharCode(bytes[1] as number);
      }
      return bytes.length === 1 ? String.fromCharCode(bytes[0] as number) : null;
    }
    case 'cat': {
      let out = '';
      for (const i of n.items) {
        const text = literal(i);
        if (text === null) return null;
        out += text;
      }
      return out;
    }
    default:
      return null;
  }
}

/** Every choice in a pattern, with whether nothing of the pattern follows it. */
export function* alternations(n: Node, last = true): Generator<{ items: readonly Node[]; last: boolean }> {
  switch (n.t) {
    case 'alt':
      yield { items: n.items, last };
      for (const i of n.items) yield* alternations(i, last);
      return;
    case 'cat':
      for (const [i, item] of n.items.entries()) yield* alternations(item, last && i === n.items.length - 1);
      return;
    case 'group':
    case 'atomic':
      yield* alternations(n.item, last);
      return;
    case 'repeat':
    case 'look':
      yield* alternations(n.item, false);
  }
}
