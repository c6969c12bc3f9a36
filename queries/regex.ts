// Regular expressions of queries and filters: written for PCRE2, run by the JavaScript engine. Checks the
// pattern first and reports mistakes in PCRE2's words and offsets; then translates what differs: inline flags,
// named groups, anchors, POSIX classes, \Q..\E, comments. Possessive and atomic parts lose only their promise
// not to backtrack. Recursion and conditions are refused.

import { GuardedPattern, type TextPattern } from './regex-guard.ts';

export interface RegexError {
  message: string;
  /** Column in the pattern, from 0. */
  offset: number;
}

const POSIX: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
  cntrl: '\\x00-\\x1f\\x7f',
  print: ' -~',
  graph: '!-~',
};

const ESCAPES: Readonly<Record<string, string>> = {
  A: '^',
  z: '$',
  Z: '$',
  h: '[ \\t\\xa0]',
  H: '[^ \\t\\xa0]',
  R: '(?:\\r\\n|[\\n-\\r])',
  N: '[^\\n]',
  e: '\\x1b',
  a: '\\x07',
  // A byte 0xa0 is no blank here.
  s: '[\\t-\\r ]',
  S: '[^\\t-\\r ]',
};

/** Characters of one byte that have a Unicode property, as the body of a set; null for an unknown property. */
function propertySet(name: string): string | null {
  let property: RegExp;
  try {
    property = new RegExp(`^\\p{${name}}$`, 'u');
  } catch {
    return null;
  }
  let out = '';
  for (let c = 0; c < 256; c++) {
    if (property.test(String.fromCharCode(c))) out += `\\x${c.toString(16).padStart(2, '0')}`;
  }
  return out;
}

/** The expression, under a time limit where it could need one; or what is wrong with it. */
export function compileRegex(pattern: string, caseless: boolean): TextPattern | RegexError {
  const t = new Translator(pattern);
  const source = t.run();
  if (t.error !== null) return t.error;
  try {
    const flags = `${(t.caseless ?? caseless) ? 'i' : ''}${t.dotAll ? 's' : ''}${t.multiline ? 'm' : ''}`;
    const regex = new RegExp(source, flags);
    return t.explosive ? new GuardedPattern(regex) : regex;
  } catch {
    return { message: 'pattern not supported', offset: 0 };
  }
}

/** More unbounded repeats than this in one expression can take cubic time and worse. */
const MANY_REPEATS = 3;

interface Group {
  fold: boolean;
  /** Holds an unbounded repeat or a choice: repeating it again may take exponential time. */
  branching: boolean;
}

class Translator {
  error: RegexError | null = null;
  /** What the beginning of the expression says of the whole of it; null when it says nothing. */
  caseless: boolean | null = null;
  dotAll = false;
  multiline = false;
  private readonly p: string;
  private i = 0;
  private out = '';
  /** Open groups: whether letters fold inside what encloses them. */
  private readonly groups: Group[] = [];
  private fold = false;
  /** Unbounded repeats so far, and whether one of them repeats a branching group. */
  private repeats = 0;
  private nested = false;
  /** Whether the last thing written was a branching group. */
  private afterBranching = false;
  /** Whether something a quantifier can follow was just written. */
  private atom = false;

  constructor(pattern: string) {
    this.p = pattern;
  }

  run(): string {
    const { p } = this;
    while (this.i < p.length && this.error === null) {
      const c = p[this.i] as string;
      if (c === '\\') this.escape();
      else if (c === '[') this.set();
      else if (c === '(') this.group();
      else if (c === ')') {
        const outer = this.groups.pop();
        if (outer === undefined) return this.fail('unmatched closing parenthesis', this.i);
        this.fold = outer.fold;
        this.emit(')', true);
        this.afterBranching = outer.branching;
        const around = this.groups.at(-1);
        if (around !== undefined && outer.branching) around.branching = true;
      } else if (c === '*' || c === '+' || c === '?') this.quantifier(c);
      else if (c === '{') this.braces();
      else if (c === '|' || c === '^') {
        const around = this.groups.at(-1);
        if (c === '|' && around !== undefined) around.branching = true;
        this.emit(c, false);
      } else if (c === '.' && !this.dotAll) this.emit('[^\\n]', true);
      else this.emit(this.literal(c), true);
    }
    if (this.error === null && this.groups.length > 0) this.fail('missing closing parenthesis', p.length);
    return this.out;
  }

  private fail(message: string, offset: number): string {
    this.error = { message, offset };
    return '';
  }

  private emit(text: string, atom: boolean, width = 1): void {
    this.out += text;
    this.atom = atom;
    this.afterBranching = false;
    this.i += width;
  }

  private literal(c: string): string {
    return this.fold && /[A-Za-z]/.test(c) ? `[${c.toLowerCase()}${c.toUpperCase()}]` : c;
  }

  private escape(): void {
    const c = this.p[this.i + 1];
    if (c === undefined) {
      this.fail('\\ at end of pattern', this.i + 1);
      return;
    }
    if (c === 'Q') {
      const end = this.p.indexOf('\\E', this.i);
      const text = this.p.slice(this.i + 2, end < 0 ? undefined : end);
      this.emit(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), true, text.length + (end < 0 ? 2 : 4));
      return;
    }
    const hex = /^\\x\{([0-9a-fA-F]+)\}/.exec(this.p.slice(this.i));
    if (hex !== null) {
      const code = Number.parseInt(hex[1] as string, 16);
      this.emit(`\\u${(code & 0xffff).toString(16).padStart(4, '0')}`, true, hex[0].length);
      return;
    }
    const property = /^\\([pP])(?:\{(\^?)(\w+)\}|(\w))/.exec(this.p.slice(this.i));
    if (property !== null) {
      const [all, letter, caret = '', braced, single] = property;
      const set = propertySet((braced ?? single) as string);
      if (set === null) {
        this.fail('unknown property after \\P or \\p', this.i + all.length);
        return;
      }
      this.emit(`[${(letter === 'P') !== (caret === '^') ? '^' : ''}${set}]`, true, all.length);
      return;
    }
    const named = /^\\k(?:\{(\w+)\}|'(\w+)')/.exec(this.p.slice(this.i));
    if (named !== null) {
      this.emit(`\\k<${named[1] ?? named[2]}>`, true, named[0].length);
      return;
    }
    this.emit(ESCAPES[c] ?? `\\${c}`, true, 2);
  }

  private quantifier(c: string): void {
    if (!this.atom) {
      this.fail('quantifier does not follow a repeatable item', this.i);
      return;
    }
    if (c !== '?') this.unbounded();
    this.emit(c, false);
    this.greed();
  }

  private unbounded(): void {
    this.repeats++;
    if (this.afterBranching) this.nested = true;
    const around = this.groups.at(-1);
    if (around !== undefined) around.branching = true;
  }

  /** Whether some text could take the engine far longer than it is long. */
  get explosive(): boolean {
    return this.nested || this.repeats > MANY_REPEATS;
  }

  /** A lazy mark stays; a possessive one has no counterpart. */
  private greed(): void {
    const c = this.p[this.i];
    if (c === '?') this.emit('?', false);
    else if (c === '+') this.i++;
  }

  private braces(): void {
    const m = /^\{(\d+)(,?)(\d*)\}/.exec(this.p.slice(this.i));
    if (m === null) {
      this.emit('\\{', true);
      return;
    }
    const [text, low, comma, high] = m as unknown as [string, string, string, string];
    if (Number(low) > 65535) this.fail('number too big in {} quantifier', this.i + 1 + low.length);
    else if (high !== '' && Number(high) > 65535)
      this.fail('number too big in {} quantifier', this.i + text.length - 1);
    else if (high !== '' && Number(high) < Number(low))
      this.fail('numbers out of order in {} quantifier', this.i + text.length - 1);
    else if (!this.atom) this.fail('quantifier does not follow a repeatable item', this.i + text.length - 1);
    else {
      if (comma !== '' || Number(low) > 1) this.unbounded();
      this.emit(`{${low}${comma}${high}}`, false, text.length);
      this.greed();
    }
  }

  private group(): void {
    const rest = this.p.slice(this.i);
    if (rest.startsWith('(*')) {
      const verb = /^\(\*\w*/.exec(rest) as RegExpExecArray;
      this.fail('(*VERB) not recognized or malformed', this.i + verb[0].length);
      return;
    }
    if (!rest.startsWith('(?')) {
      this.open('(', 1);
      return;
    }
    if (rest.startsWith('(?#')) {
      const end = rest.indexOf(')');
      if (end < 0) this.fail('missing ) after (?# comment', this.p.length);
      else this.i += end + 1;
      return;
    }
    const plain = /^\(\?(?::|=|!|>|<=|<!|\|)/.exec(rest);
    if (plain !== null) {
      this.open(plain[0] === '(?>' || plain[0] === '(?|' ? '(?:' : plain[0], plain[0].length);
      return;
    }
    const back = /^\(\?P=(\w+)\)/.exec(rest);
    if (back !== null) {
      this.emit(`\\k<${back[1]}>`, true, back[0].length);
      return;
    }
    const name = /^\(\?(?:P?<|')(\w*)([>']?)/.exec(rest);
    if (name !== null) {
      const start = this.i + name[0].length - (name[1] ?? '').length - (name[2] ?? '').length;
      if (name[1] === '') this.fail('subpattern name expected', start);
      else if (/^\d/.test(name[1] as string)) this.fail('subpattern name must start with a non-digit', start);
      else if (name[2] === '')
        this.fail(
          'syntax error in subpattern name (missing terminator?)',
          start + (name[1] as string).length,
        );
      else this.open(`(?<${name[1]}>`, name[0].length);
      return;
    }
    this.flags(rest);
  }

  private open(text: string, width: number): void {
    this.groups.push({ fold: this.fold, branching: false });
    this.emit(text, false, width);
  }

  private flags(rest: string): void {
    const m = /^\(\?([imsxnU]*)(?:-([imsxnU]*))?([):])/.exec(rest);
    if (m === null) {
      const known = (/^\(\?[imsxnU-]*/.exec(rest) as RegExpExecArray)[0].length;
      if (known === rest.length) this.fail('missing closing parenthesis', this.p.length);
      else if (/^\(\?(?:R|\d|[+-]\d|&|\()/.test(rest)) this.fail('pattern not supported', this.i);
      else this.fail('unrecognized character after (? or (?-', this.i + known);
      return;
    }
    const on = m[1] ?? '';
    const off = m[2] ?? '';
    const scoped = m[3] === ':';
    const start = this.i === 0 && !scoped;
    if (scoped) this.groups.push({ fold: this.fold, branching: false });
    if (start && on.includes('i')) this.caseless = true;
    else if (on.includes('i')) this.fold = true;
    if (off.includes('i')) this.fold = false;
    if (start && off.includes('i')) this.caseless = false;
    if (on.includes('s')) this.dotAll = true;
    if (on.includes('m')) this.multiline = true;
    this.emit(scoped ? '(?:' : '', false, m[0].length);
  }

  private set(): void {
    const { p } = this;
    let j = this.i + 1;
    let body = '';
    const negate = p[j] === '^';
    if (negate) j++;
    let first = true;
    let low = '';
    for (; ; first = false) {
      const c = p[j];
      if (c === undefined) {
        this.fail('missing terminating ] for character class', p.length);
        return;
      }
      if (c === ']' && !first) break;
      const posix = /^\[:(\^?)(\w*):\]/.exec(p.slice(j));
      if (posix !== null) {
        const range = POSIX[posix[2] as string];
        if (range === undefined || posix[1] === '^') {
          this.fail('unknown POSIX class name', j + 2);
          return;
        }
        body += range;
        low = '';
        j += posix[0].length;
        continue;
      }
      let item = c;
      if (c === '\\') {
        item = p.slice(j, j + 2);
        if (item.length < 2) {
          this.fail('\\ at end of pattern', p.length);
          return;
        }
        if (item === '\\h') item = ' \\t';
        else if (item === '\\s') item = '\\t-\\r ';
      } else if (c === '[' || c === ']') item = `\\${c}`;
      const wide = /^\\[dwshDWSH]$/.test(item) || item.length > 2;
      const high = low !== '' && body.endsWith('-') && body.length >= 2 ? item : '';
      if (high !== '' && !wide && low.length === 1 && high.length === 1 && low > high) {
        this.fail('range out of order in character class', j);
        return;
      }
      body += c === '-' && high !== '' ? '\\-' : item;
      if (c !== '-' || first) low = wide || high !== '' ? '' : item;
      j += c === '\\' ? 2 : 1;
    }
    if (this.fold)
      body += body
        .replace(/\\./g, '')
        .replace(/[a-zA-Z]/g, (x) => (x < 'a' ? x.toLowerCase() : x.toUpperCase()));
    this.emit(`[${negate ? '^' : ''}${body}]`, true, j + 1 - this.i);
  }
}
