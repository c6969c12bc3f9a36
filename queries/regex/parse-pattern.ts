// Parser of PCRE2 expressions in byte mode: alternatives, sequences and quantifiers. Groups, classes, escapes and
// references have modules of their own. Unsupported features of PCRE2 throw a RegexError that names them:
// backtracking verbs, callouts, UTF mode and other newlines.

import { dot, escapeAtom } from './atoms.ts';
import { byteNode, charClass } from './char-class.ts';
import { group, inlineFlags } from './groups.ts';
import type { Node, ParsedRegex } from './pattern-ast.ts';
import { type Flags, NO_FLAGS, PatternReader } from './pattern-reader.ts';

const MAX_REPEAT = 65535;
const MAX_DEPTH = 250;
const BRACES = /\{(\d+)(,?)(\d*)\}/y;
const SETTING = /\(\*([A-Z_0-9]+)(?:=(\d+))?\)/y;
/** Settings at the start without an effect here: compile options and limits of Varnish's library. */
const IDLE_SETTINGS: readonly string[] = [
  'NO_JIT',
  'NO_START_OPT',
  'NO_AUTO_POSSESS',
  'NO_DOTSTAR_ANCHOR',
  'LIMIT_MATCH',
  'LIMIT_DEPTH',
  'LIMIT_HEAP',
  'LIMIT_RECURSION',
  'LF',
  'BSR_UNICODE',
];
const REFUSED_SETTINGS: readonly string[] = [
  'UTF',
  'UTF8',
  'UCP',
  'CR',
  'CRLF',
  'ANYCRLF',
  'ANY',
  'NUL',
  'NOTEMPTY',
  'NOTEMPTY_ATSTART',
];

class RegexParser {
  readonly #p: PatternReader;
  #depth = 0;

  constructor(pattern: string) {
    this.#p = new PatternReader(pattern);
  }

  parse(): ParsedRegex {
    const p = this.#p;
    this.#settings();
    const root = this.#alternatives(NO_FLAGS);
    if (!p.ended) p.fail('unmatched closing parenthesis');
    for (const resolve of p.pending) resolve();
    return {
      root,
      groups: p.highestGroup,
      captureDependent: p.captureDependent,
      recursive: p.recursive,
      sharedNumbers: p.sharedNumbers,
    };
  }

  /** (*NAME) at the very start. */
  #settings(): void {
    const p = this.#p;
    for (;;) {
      const at = p.at;
      const m = p.take(SETTING);
      if (m === null) return;
      const name = m[1] as string;
      if (name === 'BSR_ANYCRLF') p.narrowNewlines = true;
      else if (REFUSED_SETTINGS.includes(name)) p.fail(`the setting (*${name}) is not supported`, at);
      else if (!IDLE_SETTINGS.includes(name)) {
        p.at = at;
        return;
      }
    }
  }

  #alternatives(start: Flags): Node {
    const p = this.#p;
    if (++this.#depth > MAX_DEPTH) p.fail('parentheses are too deeply nested');
    const branches: Node[] = [];
    const onBranch = p.onBranch;
    let flags = start;
    do {
      p.onBranch = null;
      const items: Node[] = [];
      flags = this.#sequence(flags, items);
      branches.push(
        items.length === 0 ? { t: 'empty' } : items.length === 1 ? (items[0] as Node) : { t: 'cat', items },
      );
      p.onBranch = onBranch;
      onBranch?.();
    } while (p.eat('|'));
    this.#depth--;
    return branches.length === 1 ? (branches[0] as Node) : { t: 'alt', items: branches };
  }

  /** One alternative, added to `items`. Flags set inside it apply to the following ones of the same group. */
  #sequence(start: Flags, items: Node[]): Flags {
    const p = this.#p;
    let flags = start;
    let repeatable = false;
    for (;;) {
      const at = p.at;
      const c = p.peek();
      if (c === '' || c === '|' || c === ')') return flags;
      if (this.#skipped(flags)) continue;
      if (p.eat('\\Q')) {
        const end = p.text.indexOf('\\E', p.at);
        const text = p.text.slice(p.at, end < 0 ? undefined : end);
        for (let i = 0; i < text.length; i++) items.push(byteNode(text.charCodeAt(i), flags));
        p.at += text.length + (end < 0 ? 0 : 2);
        repeatable ||= text !== '';
        continue;
      }
      const braces = c === '{' ? p.take(BRACES) : null;
      if (braces !== null || c === '*' || c === '+' || c === '?') {
        if (braces === null) p.at++;
        if (!repeatable) p.fail('quantifier does not follow a repeatable item', at, p.at - 1);
        items.push(this.#repeat(items.pop() as Node, c, braces, flags, at));
        repeatable = false;
        continue;
      }
      if (p.eat('(?')) {
        const inner = inlineFlags(p, flags);
        if (inner !== null && p.eat(')')) {
          flags = inner;
          repeatable = false;
          continue;
        }
        p.at = at;
      }
      const node = this.#atom(flags);
      items.push(node);
      repeatable = node.t !== 'assert' && node.t !== 'keep' && !p.text.startsWith('(*F', at);
    }
  }

  /** Blanks and comments with flag x, (?#…) and a lone \E. */
  #skipped(flags: Flags): boolean {
    const p = this.#p;
    const at = p.at;
    if (flags.extended > 0 && p.take(/[ \t-\r]+|#[^\n]*\n?/y) !== null) return true;
    if (p.eat('\\E')) return true;
    if (!p.eat('(?#')) return false;
    if (p.take(/[^)]*\)/y) === null) p.fail('missing ) after (?# comment', at, p.text.length);
    return true;
  }

  #repeat(item: Node, sign: string, braces: RegExpExecArray | null, flags: Flags, at: number): Node {
    const p = this.#p;
    let min = sign === '+' ? 1 : 0;
    let max = sign === '?' ? 1 : Number.POSITIVE_INFINITY;
    if (braces !== null) {
      min = Number(braces[1]);
      max = braces[2] === '' ? min : braces[3] === '' ? Number.POSITIVE_INFINITY : Number(braces[3]);
      if (min > MAX_REPEAT || (max > MAX_REPEAT && max !== Number.POSITIVE_INFINITY)) {
        const first = braces[1] as string;
        p.fail('number too big in {} quantifier', at, min > MAX_REPEAT ? at + 1 + first.length : p.at - 1);
      }
      if (max < min) p.fail('numbers out of order in {} quantifier', at, p.at - 1);
    }
    const mark = p.take(/[?+]/y)?.[0];
    const mode = mark === '+' ? 'possessive' : (mark === '?') !== flags.ungreedy ? 'lazy' : 'greedy';
    // An assertion is tested at most once.
    if (item.t === 'look') return { t: 'repeat', item, min: Math.min(min, 1), max: Math.min(max, 1), mode };
    return { t: 'repeat', item, min, max, mode };
  }

  #atom(flags: Flags): Node {
    const p = this.#p;
    const at = p.at;
    const c = p.text.charAt(p.at++);
    switch (c) {
      case '.':
        return dot(flags);
      case '^':
        return { t: 'assert', kind: flags.multiline ? 'line-start' : 'start' };
      case '$':
        return { t: 'assert', kind: flags.multiline ? 'line-end' : 'end-newline' };
      case '(':
        return group(p, flags, (inner) => this.#alternatives(inner), at);
      case '[':
        if (p.take(/(?=[:.=][^\]]*[:.=]\])/y) !== null) this.#loneClassName(at);
        return charClass(p, flags, at);
      case '\\':
        return escapeAtom(p, flags, at);
      default:
        return byteNode(c.charCodeAt(0), flags);
    }
  }

  /** [:alpha:] outside a class. */
  #loneClassName(at: number): void {
    const m = /^([:.=])\^?([a-z]*)\1\]/.exec(this.#p.text.slice(this.#p.at));
    if (m === null) return;
    const message =
      m[1] === ':'
        ? 'POSIX named classes are supported only within a class'
        : 'POSIX collating elements are not supported';
    this.#p.fail(message, at);
  }
}

/** Throws RegexError. Characters above 255 are replaced by their UTF-8 bytes. */
export function parseRegex(pattern: string): ParsedRegex {
  const bytes = !/[^\0-\xff]/.test(pattern) ? pattern : Buffer.from(pattern, 'utf8').toString('latin1');
  return new RegexParser(bytes).parse();
}
