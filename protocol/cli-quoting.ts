// The lexical rules of admin commands, as varnish-cli(7) has them: words, double quotes, backslashes and
// here-documents; both directions, so that what a tool quotes the daemon reads back.
//
// Strings only, no I/O. Awkward: a here-document needs more than one line, so a stream of lines goes through
// CommandLines, which holds back a command until its here-document is complete.

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
  const octal = /^[0-3][0-7]{2}/.exec(s.slice(at + 1, at + 4));
  if (octal !== null) return { text: String.fromCharCode(Number.parseInt(octal[0], 8)), end: at + 4 };
  const hex = /^x([0-9a-fA-F]{2})/.exec(s.slice(at + 1, at + 4));
  if (hex !== null) return { text: String.fromCharCode(Number.parseInt(hex[1] as string, 16)), end: at + 4 };
  return new QuotingError('Invalid backslash sequence');
}

function readWord(s: string, from: number): Word | QuotingError {
  const quoted = s[from] === '"';
  let at = quoted ? from + 1 : from;
  let text = '';
  while (at < s.length) {
    const c = s[at] as string;
    if (quoted ? c === '"' : isBlank(c)) break;
    if (c === '\\') {
      const escaped = readEscape(s, at);
      if (escaped instanceof QuotingError) return escaped;
      text += escaped.text;
      at = escaped.end;
      continue;
    }
    text += c;
    at++;
  }
  if (quoted) {
    if (at >= s.length) return new QuotingError("Missing '\"'");
    at++;
  }
  return { text, end: at };
}

function isBlank(c: string): boolean {
  return c === ' ' || c === '\t' || c === '\n' || c === '\r' || c === '\v' || c === '\f';
}

/** Words of one command without a here-document. */
function splitWords(line: string): string[] | QuotingError {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    while (at < line.length && isBlank(line[at] as string)) at++;
    if (at >= line.length) return words;
    const word = readWord(line, at);
    if (word instanceof QuotingError) return word;
    words.push(word.text);
    at = word.end;
  }
}

/** The token that ends the here-document which this first line opens, or null. */
export function hereToken(firstLine: string): string | null {
  const words = splitWords(firstLine);
  if (words instanceof QuotingError || words.length < 3) return null;
  return words.at(-2) === '<<' ? (words.at(-1) as string) : null;
}

/** One whole command, its here-document included, to its words. No words for a blank line. */
export function parseCommand(text: string): string[] | QuotingError {
  const newline = text.indexOf('\n');
  const first = newline < 0 ? text : text.slice(0, newline);
  const token = hereToken(first);
  if (token === null) return splitWords(text);
  const words = splitWords(first);
  if (words instanceof QuotingError) return words;
  const body: string[] = [];
  if (newline >= 0) {
    for (const line of text.slice(newline + 1).split('\n')) {
      if (line.replace(/\r$/, '') === token) {
        return [...words.slice(0, -2), body.map((l) => `${l}\n`).join('')];
      }
      body.push(line);
    }
  }
  return new QuotingError(`Missing end '${token}' of the here-document`);
}

/** A word as one argument of a command line, quoted when it has to be. */
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

/** Cuts a stream of text into commands; here-documents are held back until they are complete. */
export class CommandLines {
  private rest = '';
  private held = '';
  private token: string | null = null;
  private readonly limit: number;

  /** `limit`: characters of one command; a longer one is given out as far as it came. */
  constructor(limit = 1 << 20) {
    this.limit = limit;
  }

  push(chunk: string): string[] {
    const out: string[] = [];
    this.rest += chunk;
    for (;;) {
      const newline = this.rest.indexOf('\n');
      if (newline < 0) break;
      const line = this.rest.slice(0, newline).replace(/\r$/, '');
      this.rest = this.rest.slice(newline + 1);
      if (this.token === null) {
        this.token = hereToken(line);
        if (this.token === null) {
          out.push(line);
          continue;
        }
        this.held = line;
        continue;
      }
      this.held += `\n${line}`;
      if (line === this.token || this.held.length > this.limit) {
        out.push(this.held);
        this.token = null;
        this.held = '';
      }
    }
    if (this.rest.length > this.limit) {
      out.push(this.rest);
      this.rest = '';
    }
    return out;
  }

  /** What is left when the stream ends without a last newline. */
  end(): string[] {
    const last = this.token === null ? this.rest : `${this.held}\n${this.rest}`;
    this.rest = '';
    this.held = '';
    this.token = null;
    return last.trim() === '' ? [] : [last];
  }
}
