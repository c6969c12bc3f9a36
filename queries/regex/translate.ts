// Translates a parsed expression to JavaScript, and estimates how long JavaScript's backtracking could take. Classes
// become explicit byte ranges, so no flag is needed; atomic groups become a lookahead with a back-reference; group
// numbers are mapped.

import { leadingDots } from './analyse.ts';
import { type ByteSet, canBeEmpty, type Node, type ParsedRegex } from './pattern-ast.ts';

export interface Translation {
  source: string;
  /** For searches from the start of a subject: a leading .* is only tried at the starts of lines. */
  fromStart: string;
  /** JavaScript's number of each capturing group; index 0 is the whole match. */
  groups: number[];
}

function byte(c: number): string {
  return c > 32 && c < 127 && !/[\\\]^\-[(){}.*+?|$/]/.test(String.fromCharCode(c))
    ? String.fromCharCode(c)
    : `\\x${c.toString(16).padStart(2, '0')}`;
}

function setSource(set: ByteSet): string {
  const ranges: string[] = [];
  let count = 0;
  for (let c = 0; c < 256; c++) {
    if (set[c] !== 1) continue;
    let end = c;
    while (end < 255 && set[end + 1] === 1) end++;
    count += end - c + 1;
    ranges.push(end === c ? byte(c) : end === c + 1 ? byte(c) + byte(end) : `${byte(c)}-${byte(end)}`);
    c = end;
  }
  if (count === 256) return '[^]';
  if (count === 0) return '[]';
  return count === 1 ? (ranges[0] as string) : `[${ranges.join('')}]`;
}

const ASSERTIONS = {
  start: '^',
  // Not after a newline that ends the subject.
  'line-start': '(?:^|(?<=\\n)(?=[^]))',
  end: '$',
  'end-newline': '(?=\\n?$)',
  'line-end': '(?=\\n|$)',
  word: '\\b',
  'not-word': '\\B',
} as const;

/** JavaScript source, or null if only our own engine supports the semantics (back-references, \K, loops over possibly
 * empty items). */
export function translate(parsed: ParsedRegex): Translation | null {
  if (parsed.captureDependent || parsed.sharedNumbers) return null;
  const groups: number[] = [0];
  let next = 1;
  let possible = true;
  /** JavaScript matches lookbehinds backwards, so an atomic group in one would look in the wrong direction. */
  let lookbehinds = 0;
  const write = (n: Node): string => {
    switch (n.t) {
      case 'empty':
        return '(?:)';
      case 'set':
        return setSource(n.set);
      case 'cat':
        return n.items.map((i) => (i.t === 'alt' ? `(?:${write(i)})` : write(i))).join('');
      case 'alt':
        return n.items.map(write).join('|');
      case 'group':
        groups[n.index] = next++;
        return `(${write(n.item)})`;
      case 'atomic': {
        const own = next++;
        if (lookbehinds > 0) possible = false;
        return `(?:(?=(${write(n.item)}))\\${own})`;
      }
      case 'repeat': {
        // An iteration that matches nothing ends a loop in PCRE, and is undone in JavaScript.
        if (n.max > n.min && canBeEmpty(n.item)) possible = false;
        const own = n.mode === 'possessive' ? next++ : 0;
        if (own > 0 && lookbehinds > 0) possible = false;
        const item = n.item.t === 'set' || n.item.t === 'group' ? write(n.item) : `(?:${write(n.item)})`;
        const text = `${item}${quantifier(n.min, n.max)}${n.mode === 'lazy' ? '?' : ''}`;
        return own > 0 ? `(?:(?=(${text}))\\${own})` : text;
      }
      case 'look': {
        if (!n.ahead) lookbehinds++;
        const body = write(n.item);
        if (!n.ahead) lookbehinds--;
        return `(?${n.ahead ? '' : '<'}${n.negative ? '!' : '='}${body})`;
      }
      case 'assert':
        if (n.kind !== 'search-start') return ASSERTIONS[n.kind];
        possible = false;
        return '';
      case 'keep':
      case 'backref':
      case 'call':
      case 'cond':
        possible = false;
        return '';
    }
  };
  const source = write(parsed.root);
  if (!possible) return null;
  const dots = leadingDots(parsed.root);
  const prefix = dots === null ? '' : dots[10] === 1 ? '^' : '(?:^|(?<=\\n))';
  return { source, fromStart: prefix + source, groups };
}

function quantifier(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

/** Could captures differ? JavaScript resets captures in each iteration, PCRE keeps them. */
export function capturesDiffer(n: Node, inLoop = false): boolean {
  switch (n.t) {
    case 'group':
      return inLoop || capturesDiffer(n.item, inLoop);
    case 'repeat':
      return capturesDiffer(n.item, inLoop || n.max > 1);
    case 'cat':
    case 'alt':
      return n.items.some((i) => capturesDiffer(i, inLoop));
    case 'look':
      return n.negative ? capturesDiffer(n.item, true) : capturesDiffer(n.item, inLoop);
    case 'atomic':
      return capturesDiffer(n.item, inLoop);
    default:
      return false;
  }
}
