// Parser of PCRE expressions, byte mode: the syntax that config programs use, with inline flags, named groups,
// POSIX classes, lookaround, atomic groups and possessive quantifiers. What it cannot do is a RegexError that
// names the construct: recursion, conditionals, verbs, callouts, \X, \G, \C and Unicode properties.

import { type Assertion, type ByteSet, fixedLength, type Node, type ParsedRegex, RegexError } from './ast.ts';

interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
  x: boolean;
  ungreedy: boolean;
}

const MAX_REPEAT = 65535;
const MAX_DEPTH = 250;

function setOf(test: (c: number) => boolean): ByteSet {
  const s = new Uint8Array(256);
  for (let c = 0; c < 256; c++) if (test(c)) s[c] = 1;
  return s;
}

const between = (c: number, lo: string, hi: string): boolean =>
  c >= lo.charCodeAt(0) && c <= hi.charCodeAt(0);
const isDigit = (c: number): boolean => between(c, '0', '9');
const isUpper = (c: number): boolean => between(c, 'A', 'Z');
const isLower = (c: number): boolean => between(c, 'a', 'z');
const isAlnum = (c: number): boolean => isDigit(c) || isUpper(c) || isLower(c);
const isWord = (c: number): boolean => isAlnum(c) || c === 95;
const isSpace = (c: number): boolean => c === 32 || (c >= 9 && c <= 13);
const isBlank = (c: number): boolean => c === 32 || c === 9;
const isHorizontal = (c: number): boolean => isBlank(c) || c === 0xa0;
const isVertical = (c: number): boolean => (c >= 10 && c <= 13) || c === 0x85;

const POSIX: Readonly<Record<string, (c: number) => boolean>> = {
  alpha: (c) => isUpper(c) || isLower(c),
  digit: isDigit,
  alnum: isAlnum,
  upper: isUpper,
  lower: isLower,
  space: isSpace,
  blank: isBlank,
  punct: (c) => c > 32 && c < 127 && !isAlnum(c),
  xdigit: (c) => isDigit(c) || between(c, 'a', 'f') || between(c, 'A', 'F'),
  cntrl: (c) => c < 32 || c === 127,
  print: (c) => c >= 32 && c < 127,
  graph: (c) => c > 32 && c < 127,
  word: isWord,
  ascii: (c) => c < 128,
};

const CLASS_ESCAPES: Readonly<Record<string, (c: number) => boolean>> = {
  d: isDigit,
  D: (c) => !isDigit(c),
  w: isWord,
  W: (c) => !isWord(c),
  s: isSpace,
  S: (c) => !isSpace(c),
  h: isHorizontal,
  H: (c) => !isHorizontal(c),
  v: isVertical,
  V: (c) => !isVertical(c),
};

const SIMPLE_ESCAPES: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, e: 27, a: 7 };

/** The sets of one character, shared by all expressions. */
const SINGLE: readonly ByteSet[] = Array.from({ length: 256 }, (_, c) => setOf((b) => b === c));
const fold = (c: number): number => (isUpper(c) ? c + 32 : c);
const CASELESS: readonly ByteSet[] = Array.from({ length: 256 }, (_, c) => setOf((b) => fold(b) === fold(c)));

class RegexParser {
  readonly #p: string;
  #i = 0;
  #groups = 0;
  #depth = 0;
  #backrefs = false;
  readonly #names = new Map<string, number>();
  readonly #refs: { index: number; at: number }[] = [];
  readonly #named: { node: { index: number }; name: string; at: number }[] = [];

  constructor(pattern: string) {
    this.#p = pattern;
  }

  parse(): ParsedRegex {
    const root = this.#alternatives({ i: false, m: false, s: false, x: false, ungreedy: false });
    if (this.#i < this.#p.length) this.#fail('unmatched closing parenthesis');
    for (const n of this.#named) {
      const index = this.#names.get(n.name);
      if (index === undefined) throw new RegexError(`reference to non-existent group '${n.name}'`, n.at);
      n.node.index = index;
    }
    for (const r of this.#refs) {
      if (r.index > this.#groups) throw new RegexError('reference to non-existent subpattern', r.at);
    }
    return { root, groups: this.#groups, names: this.#names, backrefs: this.#backrefs };
  }

  #fail(message: string, at = this.#i): never {
    throw new RegexError(message, at);
  }

  #eat(text: string): boolean {
    if (!this.#p.startsWith(text, this.#i)) return false;
    this.#i += text.length;
    return true;
  }

  #alternatives(flags: Flags): Node {
    if (++this.#depth > MAX_DEPTH) this.#fail('parentheses are too deeply nested');
    const items: Node[] = [];
    let own = { ...flags };
    do {
      const seq = this.#sequence(own);
      items.push(seq.node);
      own = seq.flags;
    } while (this.#eat('|'));
    this.#depth--;
    return items.length === 1 ? (items[0] as Node) : { t: 'alt', items };
  }

  /** One alternative; flags set inside it hold for the following ones of the same group. */
  #sequence(start: Flags): { node: Node; flags: Flags } {
    let flags = start;
    const items: Node[] = [];
    for (;;) {
      const c = this.#p[this.#i];
      if (c === undefined || c === '|' || c === ')') break;
      if (flags.x && /\s/.test(c)) {
        this.#i++;
        continue;
      }
      if (flags.x && c === '#') {
        const nl = this.#p.indexOf('\n', this.#i);
        this.#i = nl < 0 ? this.#p.length : nl + 1;
        continue;
      }
      if (this.#eat('(?#')) {
        const close = this.#p.indexOf(')', this.#i);
        if (close < 0) this.#fail('missing ) after comment');
        this.#i = close + 1;
        continue;
      }
      if (this.#eat('\\Q')) {
        const end = this.#p.indexOf('\\E', this.#i);
        const text = this.#p.slice(this.#i, end < 0 ? undefined : end);
        this.#i = end < 0 ? this.#p.length : end + 2;
        for (const ch of text) items.push(this.#char(ch.charCodeAt(0), flags));
        const last = items.pop();
        if (last !== undefined && text !== '') items.push(this.#quantified(last, flags));
        else if (last !== undefined) items.push(last);
        continue;
      }
      if (this.#eat('\\E')) continue;
      const inline = this.#p.startsWith('(?', this.#i)
        ? /^\(\?(\^?[imsxnJU]*(?:-[imsxnJU]*)?)\)/.exec(this.#p.slice(this.#i, this.#i + 20))
        : null;
      if (inline !== null) {
        flags = this.#flags(flags, inline[1] as string);
        this.#i += inline[0].length;
        continue;
      }
      items.push(this.#quantified(this.#atom(flags), flags));
    }
    const node: Node =
      items.length === 0 ? { t: 'empty' } : items.length === 1 ? (items[0] as Node) : { t: 'cat', items };
    return { node, flags };
  }

  #flags(flags: Flags, text: string): Flags {
    const out = text.startsWith('^')
      ? { i: false, m: false, s: false, x: false, ungreedy: false }
      : { ...flags };
    let on = true;
    for (const c of text) {
      if (c === '-') on = false;
      else if (c === 'i' || c === 'm' || c === 's' || c === 'x') out[c] = on;
      else if (c === 'U') out.ungreedy = on;
      else if (c === 'n') this.#fail('flag (?n) is not supported');
    }
    return out;
  }

  #quantified(item: Node, flags: Flags): Node {
    let node = item;
    for (;;) {
      const c = this.#p[this.#i];
      const at = this.#i;
      let min: number;
      let max: number;
      if (c === '*' || c === '+' || c === '?') {
        min = c === '+' ? 1 : 0;
        max = c === '?' ? 1 : Number.POSITIVE_INFINITY;
        this.#i++;
      } else {
        const m = c === '{' ? /^\{(\d+)(,(\d*))?\}/.exec(this.#p.slice(this.#i, this.#i + 16)) : null;
        if (m === null) return node;
        min = Number(m[1]);
        max = m[2] === undefined ? min : m[3] === '' ? Number.POSITIVE_INFINITY : Number(m[3]);
        if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT)) {
          this.#fail('number too big in {} quantifier', at);
        }
        if (max < min) this.#fail('numbers out of order in {} quantifier', at);
        this.#i += m[0].length;
      }
      if (node.t === 'assert' || node.t === 'keep') node = { t: 'cat', items: [node] };
      let mode: 'greedy' | 'lazy' | 'possessive' = flags.ungreedy ? 'lazy' : 'greedy';
      if (this.#eat('+')) mode = 'possessive';
      else if (this.#eat('?')) mode = flags.ungreedy ? 'greedy' : 'lazy';
      node = { t: 'repeat', item: node, min, max, mode };
      const next = this.#p[this.#i];
      if (next === '*' || next === '+' || next === '?')
        this.#fail('quantifier does not follow a repeatable item');
    }
  }

  #char(code: number, flags: Flags): Node {
    if (code > 255) this.#fail('character value is larger than 255');
    return { t: 'set', set: (flags.i ? CASELESS : SINGLE)[code] as ByteSet };
  }

  #addChar(set: ByteSet, code: number, caseless: boolean): void {
    if (code > 255) this.#fail('character value is larger than 255');
    set[code] = 1;
    if (caseless && isUpper(code)) set[code + 32] = 1;
    if (caseless && isLower(code)) set[code - 32] = 1;
  }

  #atom(flags: Flags): Node {
    const at = this.#i;
    const c = this.#p.charAt(this.#i++);
    switch (c) {
      case '.':
        return { t: 'set', set: setOf((b) => flags.s || b !== 10) };
      case '^':
        return { t: 'assert', kind: flags.m ? 'line-start' : 'start' };
      case '$':
        return { t: 'assert', kind: flags.m ? 'line-end' : 'end-newline' };
      case '[':
        return this.#class(flags, at);
      case '(':
        return this.#group(flags, at);
      case '*':
      case '+':
      case '?':
        return this.#fail('quantifier does not follow a repeatable item', at);
      case '\\':
        return this.#escape(flags, at);
      default:
        return this.#char(c.charCodeAt(0), flags);
    }
  }

  #group(flags: Flags, at: number): Node {
    const close = (node: Node): Node => {
      if (!this.#eat(')')) this.#fail('missing closing parenthesis', at);
      return node;
    };
    if (this.#p[this.#i] === '*') this.#fail('verbs (*…) are not supported', at);
    if (!this.#eat('?')) {
      const index = ++this.#groups;
      return close({ t: 'group', item: this.#alternatives(flags), index });
    }
    if (this.#eat(':')) return close(this.#alternatives(flags));
    if (this.#eat('>')) return close({ t: 'atomic', item: this.#alternatives(flags) });
    if (this.#eat('|')) this.#fail('branch reset groups (?|…) are not supported', at);
    if (this.#eat('=')) return close(this.#look(flags, true, false, at));
    if (this.#eat('!')) return close(this.#look(flags, true, true, at));
    if (this.#eat('<=')) return close(this.#look(flags, false, false, at));
    if (this.#eat('<!')) return close(this.#look(flags, false, true, at));
    const name = /^(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/.exec(this.#p.slice(this.#i, this.#i + 64));
    if (name !== null) {
      this.#i += name[0].length;
      const index = ++this.#groups;
      const id = (name[1] ?? name[2]) as string;
      if (this.#names.has(id)) this.#fail('two named subpatterns have the same name', at);
      this.#names.set(id, index);
      return close({ t: 'group', item: this.#alternatives(flags), index });
    }
    const ref = /^P=(\w+)\)/.exec(this.#p.slice(this.#i, this.#i + 64));
    if (ref !== null) {
      this.#i += ref[0].length;
      return this.#namedRef(ref[1] as string, flags, at);
    }
    const inline = /^(\^?[imsxnJU]*(?:-[imsxnJU]*)?):/.exec(this.#p.slice(this.#i, this.#i + 20));
    if (inline !== null) {
      this.#i += inline[0].length;
      return close(this.#alternatives(this.#flags(flags, inline[1] as string)));
    }
    const next = this.#p.charAt(this.#i);
    if (next === '(') this.#fail('conditional groups (?(…)…) are not supported', at);
    if (/[R&0-9+P-]/.test(next)) this.#fail('recursion and subroutine calls are not supported', at);
    if (next === 'C') this.#fail('callouts (?C) are not supported', at);
    return this.#fail('unrecognized character after (?', at);
  }

  #look(flags: Flags, ahead: boolean, negative: boolean, at: number): Node {
    const item = this.#alternatives(flags);
    if (!ahead) {
      const branches = item.t === 'alt' ? item.items : [item];
      if (branches.some((b) => fixedLength(b) < 0)) {
        this.#fail('lookbehind assertion is not fixed length', at);
      }
    }
    return { t: 'look', item, ahead, negative };
  }

  #namedRef(name: string, flags: Flags, at: number): Node {
    const node = { t: 'backref' as const, index: 0, caseless: flags.i };
    this.#backrefs = true;
    this.#named.push({ node, name, at });
    return node;
  }

  #backref(index: number, flags: Flags, at: number): Node {
    this.#backrefs = true;
    this.#refs.push({ index, at });
    return { t: 'backref', index, caseless: flags.i };
  }

  #escape(flags: Flags, at: number): Node {
    const c = this.#p.charAt(this.#i++);
    const assertions: Record<string, Assertion> = {
      b: 'word',
      B: 'not-word',
      A: 'start',
      z: 'end',
      Z: 'end-newline',
    };
    if (c === '') this.#fail('\\ at end of pattern', at);
    const kind = assertions[c];
    if (kind !== undefined) return { t: 'assert', kind };
    const cls = CLASS_ESCAPES[c];
    if (cls !== undefined) return { t: 'set', set: setOf(cls) };
    if (c === 'N' && this.#p[this.#i] !== '{') return { t: 'set', set: setOf((b) => b !== 10) };
    if (c === 'K') return { t: 'keep' };
    if (c === 'R') {
      const crlf: Node = { t: 'cat', items: [this.#char(13, flags), this.#char(10, flags)] };
      return { t: 'atomic', item: { t: 'alt', items: [crlf, { t: 'set', set: setOf(isVertical) }] } };
    }
    if ('XGCpPLlUu'.includes(c)) this.#fail(`\\${c} is not supported`, at);
    if (c === 'k' || c === 'g') {
      const m = /^(?:\{(-?\w+)\}|<(\w+)>|'(\w+)'|(-?\d+))/.exec(this.#p.slice(this.#i, this.#i + 64));
      if (m === null) this.#fail(`a reference must follow \\${c}`, at);
      if (c === 'g' && (m[2] !== undefined || m[3] !== undefined)) {
        this.#fail('recursion and subroutine calls are not supported', at);
      }
      this.#i += m[0].length;
      const id = (m[1] ?? m[2] ?? m[3] ?? m[4]) as string;
      if (!/^-?\d+$/.test(id)) return this.#namedRef(id, flags, at);
      const n = Number(id);
      return this.#backref(n < 0 ? this.#groups + 1 + n : n, flags, at);
    }
    if (c >= '1' && c <= '9') {
      const digits = /^\d*/.exec(this.#p.slice(this.#i, this.#i + 3)) as RegExpExecArray;
      const n = Number(c + digits[0]);
      if (n < 10 || n <= this.#groups) {
        this.#i += digits[0].length;
        return this.#backref(n, flags, at);
      }
      this.#i--;
      if (c >= '8') {
        this.#i++;
        return this.#char(c.charCodeAt(0), flags);
      }
      return this.#char(this.#octal(), flags);
    }
    this.#i--;
    return this.#char(this.#charEscape(at), flags);
  }

  #octal(): number {
    const m = /^[0-7]{1,3}/.exec(this.#p.slice(this.#i, this.#i + 3));
    this.#i += m?.[0].length ?? 0;
    return Number.parseInt(m?.[0] ?? '0', 8) & 0xff;
  }

  /** A single character after a backslash, also inside a class. */
  #charEscape(at: number): number {
    const c = this.#p.charAt(this.#i++);
    const simple = SIMPLE_ESCAPES[c];
    if (simple !== undefined) return simple;
    if (c === 'x') {
      const m = /^(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{0,2}))/.exec(this.#p.slice(this.#i, this.#i + 12));
      this.#i += m?.[0].length ?? 0;
      return Number.parseInt(m?.[1] ?? (m?.[2] || '0'), 16);
    }
    if (c === 'o') {
      const m = /^\{([0-7]+)\}/.exec(this.#p.slice(this.#i, this.#i + 12));
      if (m === null) this.#fail('missing opening brace after \\o', at);
      this.#i += m[0].length;
      return Number.parseInt(m[1] as string, 8);
    }
    if (c === 'c') {
      const code = this.#p.charCodeAt(this.#i++);
      if (Number.isNaN(code) || code > 126)
        this.#fail('\\c must be followed by a printable ASCII character', at);
      return (isLower(code) ? code - 32 : code) ^ 64;
    }
    if (c === '0') {
      this.#i--;
      return this.#octal();
    }
    if (/[A-Za-z0-9]/.test(c)) this.#fail(`unrecognized character follows \\: '${c}'`, at);
    return c.charCodeAt(0);
  }

  #class(flags: Flags, at: number): Node {
    const negate = this.#eat('^');
    const set = new Uint8Array(256);
    let first = true;
    for (;;) {
      if (this.#i >= this.#p.length) this.#fail('missing terminating ] for character class', at);
      const from = this.#i;
      const c = this.#p.charAt(this.#i);
      if (c === ']' && !first) break;
      first = false;
      const posix =
        c === '[' ? /^\[([:.=])(\^?)([a-z]*)\1\]/.exec(this.#p.slice(this.#i, this.#i + 20)) : null;
      if (posix !== null) {
        const test = POSIX[posix[3] as string];
        if (posix[1] !== ':') this.#fail('POSIX collating elements are not supported', from);
        if (test === undefined) this.#fail('unknown POSIX class name', from);
        const folded = flags.i && (posix[3] === 'upper' || posix[3] === 'lower') ? POSIX.alpha : test;
        for (let b = 0; b < 256; b++)
          if ((folded as (c: number) => boolean)(b) !== (posix[2] === '^')) set[b] = 1;
        this.#i += posix[0].length;
        continue;
      }
      const lo = this.#classItem(set);
      if (lo < 0) continue;
      if (this.#p[this.#i] === '-' && this.#p[this.#i + 1] !== ']' && this.#i + 1 < this.#p.length) {
        const dash = this.#i++;
        const hi = this.#classItem(set);
        if (hi < 0) {
          this.#addChar(set, lo, flags.i);
          set[45] = 1;
          continue;
        }
        if (hi < lo) this.#fail('range out of order in character class', dash);
        if (hi > 255) this.#fail('character value is larger than 255', dash);
        for (let b = lo; b <= hi; b++) this.#addChar(set, b, flags.i);
        continue;
      }
      this.#addChar(set, lo, flags.i);
    }
    this.#i++;
    if (negate) for (let b = 0; b < 256; b++) set[b] = set[b] === 1 ? 0 : 1;
    return { t: 'set', set };
  }

  /** One member: its character, or -1 when a class escape was added to the set. */
  #classItem(set: ByteSet): number {
    const at = this.#i;
    const c = this.#p.charAt(this.#i++);
    if (c !== '\\') return c.charCodeAt(0);
    const e = this.#p.charAt(this.#i);
    const cls = CLASS_ESCAPES[e];
    if (cls !== undefined) {
      this.#i++;
      for (let b = 0; b < 256; b++) if (cls(b)) set[b] = 1;
      return -1;
    }
    if (e === 'b') {
      this.#i++;
      return 8;
    }
    if (e === 'E') {
      this.#i++;
      return -1;
    }
    if (e >= '0' && e <= '7') return this.#octal();
    return this.#charEscape(at);
  }
}

export function parseRegex(pattern: string): ParsedRegex {
  return new RegexParser(pattern).parse();
}
