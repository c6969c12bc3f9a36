// The lexical rules of admin commands, as in varnish-cli(7): words, double quotes, backslashes and here-documents,
// for both quoting and parsing. Strings only, no I/O. Special case: a here-document spans several lines, so
// CommandLines splits a stream into commands and buffers one until its here-document is complete. A word ends at a
// NUL, and escapes are bytes, several of which may form one character.

export class QuotingError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

interface Word {
  text: string;
  /** Index after the word. */
  end: number;
}

function readEscape(s: string, at: number): Word | QuotingError {
  const c = s[at + 1];
  if (c !== undefined && Object.hasOwn(ESCAPES, c)) return { text: ESCAPES[c] as string, end: at + 2 };
  const octal = /^[0-7]{1,3}/.exec(s.slice(at + 1, at + 4));
  if (octal !== null) {
    const [digits] = octal;
    return { text: String.fromCharCode(Number.parseInt(digits, 8) & 255), end: at + 1 + digits.length };
  }
  const hex = /^x([0-9a-fA-F]{2})/.exec(s.slice(at + 1, at + 4));
  if (hex !== null) return { text: String.fromCharCode(Number.parseInt(hex[1] as string, 16)), end: at + 4 };
  return new QuotingError('Invalid backslash sequence');
}

/** Decodes bytes beyond ASCII. */
function fromBytes(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
}

function readWord(s: string, from: number): Word | QuotingError {
  const quoted = s[from] === '"';
  let at = quoted ? from + 1 : from;
  let text = '';
  let bytes = '';
  while (at < s.length) {
    const c = s[at] as string;
    if (quoted ? c === '"' : isBlank(c)) break;
    if (c === '"') return new QuotingError(`Invalid '"'`);
    let next: Word = { text: c, end: at + 1 };
    if (c === '\\') {
      const escaped = readEscape(s, at);
      if (escaped instanceof QuotingError) return escaped;
      next = escaped;
      if (next.text >= '\x80') {
        bytes += next.text;
        at = next.end;
        continue;
      }
    }
    if (bytes !== '') {
      text += fromBytes(bytes);
      bytes = '';
    }
    text += next.text;
    at = next.end;
  }
  if (quoted) {
    if (at >= s.length) return new QuotingError("Missing '\"'");
    at++;
  }
  return { text: untilNul(bytes === '' ? text : text + fromBytes(bytes)), end: at };
}

function untilNul(text: string): string {
  const nul = text.indexOf('\0');
  return nul < 0 ? text : text.slice(0, nul);
}

function isBlank(c: string): boolean {
  return c === ' ' || c === '\t' || c === '\n' || c === '\r' || c === '\v' || c === '\f';
}

/** Words of one command without a here-document. */
function splitWords(line: string): string[] | QuotingError {
  const words: string[] = [];
  let at = 0;
  let afterQuote = false;
  for (;;) {
    while (at < line.length && isBlank(line[at] as string)) at++;
    if (at >= line.length) return words;
    const quoted = line[at] === '"';
    // As in Varnish, whose parser accepts no quoted word right after another, with or without blanks.
    if (quoted && afterQuote) return new QuotingError('Missing separator between arguments');
    afterQuote = quoted;
    const word = readWord(line, at);
    if (word instanceof QuotingError) return word;
    words.push(word.text);
    at = word.end;
  }
}

/** The token of the here-document opened by this first line, or null. */
function hereToken(firstLine: string): string | null {
  // Fast path: most lines open none, and long ones are not parsed in vain. The marks may be escapes, too.
  if (!firstLine.includes('<') && !firstLine.includes('\\')) return null;
  const words = splitWords(firstLine);
  if (words instanceof QuotingError || words.length < 2) return null;
  return words.at(-2) === '<<' && words.at(-1) !== '' ? (words.at(-1) as string) : null;
}

/** Does this line end a here-document? Blanks before the token and a carriage return after it are ignored. */
function isToken(line: string, token: string): boolean {
  return line.trimStart().replace(/\r$/, '') === token;
}

/** Parses one whole command, including its here-document, into words. No words for a blank line. */
export function parseCommand(text: string): string[] | QuotingError {
  const newline = text.indexOf('\n');
  const first = newline < 0 ? text : text.slice(0, newline);
  const token = hereToken(first);
  if (token === null) return splitWords(untilNul(text));
  const words = splitWords(first);
  if (words instanceof QuotingError) return words;
  const body: string[] = [];
  if (newline >= 0) {
    for (const line of text.slice(newline + 1).split('\n')) {
      if (isToken(line, token)) {
        return [...words.slice(0, -2), untilNul(body.map((l) => `${l}\n`).join(''))];
      }
      body.push(line);
    }
  }
  return new QuotingError(`Missing end '${token}' of the here-document`);
}

/** A leading dash: the command may fail. Used when running a file of commands, and skipped otherwise. */
const MAY_FAIL = /^\s*-/;

/** The words of a command as the daemon parses them. */
export function commandWords(text: string): string[] | QuotingError {
  return parseCommand(text.replace(MAY_FAIL, ''));
}

/** A word as one argument of a command line, quoted if necessary. */
export function quoteWord(word: string): string {
  if (/^[^\s"\\\x00-\x1f\x7f-\uffff]+$/.test(word)) return word;
  let out = '"';
  for (const c of word) {
    const code = c.charCodeAt(0);
    if (c === '"' || c === '\\') out += `\\${c}`;
    else if (c === '\n') out += '\\n';
    else if (c === '\r') out += '\\r';
    else if (c === '\t') out += '\\t';
    else if (code < 32 || code === 127) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else out += c;
  }
  return `${out}"`;
}

/** Maximum characters of a command, including its here-document. */
export const MAX_COMMAND = 4 << 20;

/** Splits a stream of text into commands, without blank lines; buffers here-documents until they are complete. */
export class CommandLines {
  private rest = '';
  /** Pieces of a line after `rest`, joined at its end, and their total length. */
  private pieces: string[] = [];
  private pending = 0;
  private held = '';
  private token: string | null = null;
  /** The previous line ended with a carriage return, which a following newline belongs to. */
  private returned = false;
  /** Skips the rest of a line that was too long. */
  private skipping = false;
  /** Maximum characters of a command; longer ones are cut after one character more. */
  limit: number;

  constructor(limit = MAX_COMMAND) {
    this.limit = limit;
  }

  push(chunk: string): string[] {
    const out: string[] = [];
    const length = this.held.length + this.rest.length + this.pending + chunk.length;
    if (!this.returned && !this.skipping && length <= this.limit && !/[\r\n]/.test(chunk)) {
      this.pieces.push(chunk);
      this.pending += chunk.length;
      return out;
    }
    this.rest += this.gathered() + chunk;
    for (;;) {
      if (this.returned && this.rest !== '') {
        if (this.rest.startsWith('\n')) this.rest = this.rest.slice(1);
        this.returned = false;
      }
      const end = this.endOfLine();
      if (end < 0) break;
      const line = this.rest.slice(0, end);
      this.returned = this.rest[end] === '\r';
      this.rest = this.rest.slice(end + 1);
      this.take(line, out);
    }
    if (this.skipping) this.rest = '';
    else if (this.held.length + this.rest.length > this.limit) this.giveUp(out);
    return out;
  }

  /** The rest if the stream ends without a newline. */
  end(): string[] {
    this.rest += this.gathered();
    const last = this.token === null ? this.rest : `${this.held}\n${this.rest}`;
    this.rest = '';
    this.held = '';
    this.token = null;
    return last.trim() === '' ? [] : [last];
  }

  private gathered(): string {
    const text = this.pieces.join('');
    this.pieces = [];
    this.pending = 0;
    return text;
  }

  /** A command may end with a carriage return; lines of a here-document may contain some. */
  private endOfLine(): number {
    if (this.token !== null) return this.rest.indexOf('\n');
    return this.rest.search(/[\r\n]/);
  }

  private take(line: string, out: string[]): void {
    if (this.skipping) {
      this.skipping = false;
      return;
    }
    if (this.token !== null) {
      this.held += `\n${line}`;
      if (this.held.length > this.limit) out.push(this.held.slice(0, this.limit + 1));
      else if (!isToken(line, this.token)) return;
      else out.push(this.held);
      this.token = null;
      this.held = '';
      return;
    }
    if (line.length > this.limit) {
      out.push(line.slice(0, this.limit + 1));
      return;
    }
    this.token = hereToken(line);
    if (this.token !== null) this.held = line;
    else if (line.trim() !== '') out.push(line);
  }

  private giveUp(out: string[]): void {
    out.push(`${this.held}${this.token === null ? '' : '\n'}${this.rest}`.slice(0, this.limit + 1));
    this.rest = '';
    this.held = '';
    this.token = null;
    this.skipping = true;
  }
}
