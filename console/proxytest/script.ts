// The text of a script: commands, one a line, of words, strings in double quotes and texts in braces, as vtc(7) has them. Texts are
// latin1, so that a character is a byte.

/** A text of commands, and where it begins. */
export interface Spec {
  readonly text: string;
  readonly file: string;
  /** Line of its first character, from 1. */
  readonly line: number;
}

/** Something about the text of a script is wrong. */
export class ScriptError extends Error {}

export interface Word {
  readonly text: string;
  readonly line: number;
}

export interface Command {
  readonly words: readonly Word[];
  readonly line: number;
  /** The line for the log, truncated. */
  readonly shown: string;
}

const SIMPLE: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

/** The character that the escape at `text[at]`, a backslash, stands for, and the index after it. */
export function readEscape(text: string, at: number): { char: string; end: number } {
  const next = text[at + 1];
  const simple = next === undefined ? undefined : SIMPLE[next];
  if (simple !== undefined) return { char: simple, end: at + 2 };
  const octal = /^[0-7]{1,3}/.exec(text.slice(at + 1, at + 4));
  if (octal !== null) {
    const code = Number.parseInt(octal[0], 8) & 255;
    return { char: String.fromCharCode(code), end: at + 1 + octal[0].length };
  }
  const hex = /^x([0-9A-Fa-f]{2})/.exec(text.slice(at + 1, at + 4));
  if (hex !== null) return { char: String.fromCharCode(Number.parseInt(hex[1] as string, 16)), end: at + 4 };
  throw new ScriptError(`invalid backslash sequence: ${text.slice(at, at + 4)}`);
}

const SPACE = /\s/;
const SHOWN = 70;

/** Reads one command after another from a text. */
export class ScriptReader {
  readonly #text: string;
  #at = 0;
  #line: number;

  constructor({ text, line }: Spec) {
    this.#text = text;
    this.#line = line;
  }

  /** The line that is read next. */
  get line(): number {
    return this.#line;
  }

  /** The next command; null at the end. Throws ScriptError. */
  next(): Command | null {
    const text = this.#text;
    for (;;) {
      const c = text[this.#at];
      if (c === undefined) return null;
      if (c === '#') this.#skip(text.indexOf('\n', this.#at));
      else if (SPACE.test(c)) this.#skip(this.#at + 1);
      else return this.#command();
    }
  }

  #skip(to: number): void {
    const end = to < 0 ? this.#text.length : to;
    for (let i = this.#at; i < end; i++) if (this.#text[i] === '\n') this.#line++;
    this.#at = end;
  }

  #command(): Command {
    const text = this.#text;
    const line = this.#line;
    const end = text.indexOf('\n', this.#at);
    const shown = text.slice(this.#at, end < 0 ? undefined : end).slice(0, SHOWN);
    const words: Word[] = [];
    for (;;) {
      const c = text[this.#at];
      if (c === undefined || c === '\n') break;
      if (c === '\\' && text[this.#at + 1] === '\n') this.#skip(this.#at + 2);
      else if (SPACE.test(c)) this.#skip(this.#at + 1);
      else words.push(c === '"' ? this.#quoted() : c === '{' ? this.#braced() : this.#plain());
    }
    return { words, line, shown };
  }

  #plain(): Word {
    const from = this.#at;
    while (this.#at < this.#text.length && !SPACE.test(this.#text[this.#at] as string)) this.#at++;
    return { text: this.#text.slice(from, this.#at), line: this.#line };
  }

  #quoted(): Word {
    const text = this.#text;
    let out = '';
    let i = this.#at + 1;
    for (; text[i] !== '"'; ) {
      const c = text[i];
      if (c === undefined || c === '\n') throw new ScriptError('unterminated quoted string');
      if (c === '\\') {
        const { char, end } = readEscape(text, i);
        out += char;
        i = end;
      } else {
        out += c;
        i++;
      }
    }
    this.#at = i + 1;
    return { text: out.split('\0', 1)[0] as string, line: this.#line };
  }

  #braced(): Word {
    const text = this.#text;
    let depth = 0;
    for (let i = this.#at; i < text.length; i++) {
      if (text[i] === '{') depth++;
      else if (text[i] === '}' && --depth === 0) {
        const word = { text: text.slice(this.#at + 1, i), line: this.#line };
        this.#skip(i + 1);
        return word;
      }
    }
    throw new ScriptError('unbalanced braces');
  }
}

/** The words of one command, taken from left to right. The first is its name. */
export class Words {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly #words: readonly Word[];
  #at = 1;

  constructor(words: readonly Word[], file: string, line: number) {
    this.#words = words;
    this.name = words[0]?.text ?? '';
    this.file = file;
    this.line = line;
  }

  get all(): readonly string[] {
    return this.#words.map(({ text }) => text);
  }

  get isDone(): boolean {
    return this.#at >= this.#words.length;
  }

  get left(): number {
    return this.#words.length - this.#at;
  }

  /** The next word without taking it; undefined at the end. */
  peek(): string | undefined {
    return this.#words[this.#at]?.text;
  }

  /** @param what names the word for the error if there is none */
  take(what: string): string {
    return this.takeSpec(what).text;
  }

  /** The next word as a text of commands. */
  takeSpec(what: string): Spec {
    const word = this.#words[this.#at++];
    if (word === undefined) {
      const before = this.#words.at(-1)?.text ?? '';
      const place = before.startsWith('-') ? ` after ${before}` : '';
      throw new ScriptError(`${this.name}: ${what} is missing${place}`);
    }
    return { text: word.text, file: this.file, line: word.line };
  }

  /** Takes the next word if it is this one. */
  takeIf(word: string): boolean {
    const is = this.peek() === word;
    if (is) this.#at++;
    return is;
  }
}

/** A whole number as strtoul(3) reads it: what follows the digits is ignored, and no digits are 0. */
export function readInteger(text: string, base: 0 | 10 = 0): number {
  const t = text.trimStart();
  const hex = base === 0 ? /^0[xX]([0-9a-fA-F]+)/.exec(t) : null;
  if (hex !== null) return Number.parseInt(hex[1] as string, 16);
  const octal = base === 0 ? /^0[0-7]+/.exec(t) : null;
  if (octal !== null) return Number.parseInt(octal[0], 8);
  const decimal = /^\+?\d+/.exec(t);
  return decimal === null ? 0 : Number.parseInt(decimal[0], 10);
}

/** A decimal number; NaN if the text is anything else. */
export function readNumber(text: string): number {
  return /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)\s*$/.test(text) ? Number.parseFloat(text) : Number.NaN;
}

/** Bytes of hexadecimal digits with white space between them. Throws ScriptError. */
export function readHex(text: string): Buffer {
  const digits = text.replace(/[ \t\n]/g, '');
  if (!/^[0-9a-fA-F]*$/.test(digits)) throw new ScriptError(`illegal hex string: ${text.slice(0, 40)}`);
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
}
