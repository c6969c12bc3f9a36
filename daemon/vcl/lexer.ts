// Lexer of VCL: a SourceFile becomes tokens with offsets into it.
//
// Never throws on bytes: a bad character or an unterminated string is reported and skipped. String contents
// become byte strings (one character a byte, UTF-8), because header values are bytes. Words are names with
// letters, digits, "_" and "-"; so `a-b` is one name and `a - b` is a subtraction, as in Varnish.

import type { Reporter, SourceFile, Span } from './diagnostics.ts';
import { MESSAGES, type Message } from './error-texts.ts';
import { byteString } from './source-text.ts';

export type TokenKind = 'id' | 'int' | 'real' | 'string' | 'blob' | 'op' | 'eof';

export interface Token {
  kind: TokenKind;
  /** The token as written; for strings and blobs see `value`. */
  text: string;
  /** Content of a string (byte string) or of a blob (base64 text). */
  value: string;
  file: SourceFile;
  start: number;
  end: number;
}

const LONG_OPERATORS = new Set(
  // The last four have no meaning, but are one token each: `1--1` is not a subtraction of a negative number.
  ['==', '!=', '<=', '>=', '!~', '&&', '||', '+=', '-=', '*=', '/=', '++', '--', '<<', '>>'],
);
const OPERATORS = '{}()[]*+-/%><=;!&.|~,';

export function spanOf(from: Token, to: Token = from): Span {
  return to.file === from.file && to.end >= from.start
    ? { file: from.file, start: from.start, end: to.end }
    : { file: from.file, start: from.start, end: from.end };
}

const WORD = /[A-Za-z][A-Za-z0-9_-]*/y;
const NUMBER = /\d+(?:\.\d*)?/y;
/** Characters that are invisible, or look like others. */
const HIDDEN: Readonly<Record<string, string>> = {
  '\ufeff': 'A byte order mark: save the file as UTF-8 without one.',
  '\u00a0': 'A no-break space: write an ordinary one.',
  '?': 'There is no a ? b : c: write an if with an else.',
  ...{
    '\u201c': 'Strings are written in straight double quotes.',
    '\u201d': 'Strings are written in straight double quotes.',
  },
};
const SINGLE_QUOTED = /'[^'"\n]*'/y;
const BLOB = /:([A-Za-z0-9+/=]*)(:?)/y;

function match(re: RegExp, text: string, at: number): RegExpExecArray | null {
  re.lastIndex = at;
  return re.exec(text);
}

/** All tokens of a file; the last is `eof`. */
export function tokenize(file: SourceFile, reporter: Reporter): Token[] {
  const text = file.text;
  const out: Token[] = [];
  const push = (kind: TokenKind, start: number, end: number, value = ''): void => {
    out.push({ kind, text: text.slice(start, end), value, file, start, end });
  };
  const bad = (message: Message, start: number, end: number, hint?: string): void => {
    reporter.error(message, { file, start, end }, hint);
  };
  // Also in a comment: Varnish ignores the rest of the program. Reported once, and skipped below.
  const nul = text.indexOf('\0');
  if (nul >= 0) bad(MESSAGES.nul(), nul, nul + 1);
  let i = 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === 32 || (code >= 9 && code <= 13 && code !== 12) || code === 0) {
      i++;
      continue;
    }
    const c = text.charAt(i);
    const folded = code | 32;
    const word = folded >= 97 && folded <= 122 ? match(WORD, text, i) : null;
    if (word !== null && (code !== 67 || text.charCodeAt(i + 1) !== 123)) {
      push('id', i, i + word[0].length);
      i += word[0].length;
      continue;
    }
    const two = text.slice(i, i + 2);
    if (c === '#' || two === '//') {
      const nl = text.indexOf('\n', i);
      i = nl < 0 ? text.length : nl + 1;
      continue;
    }
    if (two === '/*') {
      const nested = text.indexOf('/*', i + 2);
      const close = text.indexOf('*/', i + 2);
      if (close < 0) {
        bad(MESSAGES.unterminatedComment(), i, i + 2);
        break;
      }
      if (nested >= 0 && nested < close) {
        bad(MESSAGES.nestedComment(), nested, nested + 2);
      }
      i = close + 2;
      continue;
    }
    if (two === 'C{') {
      const close = text.indexOf('}C', i + 2);
      bad(MESSAGES.inlineC(), i, i + 2);
      i = close < 0 ? text.length : close + 2;
      continue;
    }
    const long = two === '{"' ? '"}' : text.startsWith('"""', i) ? '"""' : null;
    if (long !== null) {
      const open = long === '"}' ? 2 : 3;
      const close = text.indexOf(long, i + open);
      if (close < 0) {
        bad(MESSAGES.unterminatedLongString(), i, i + open);
        break;
      }
      push('string', i, close + long.length, byteString(text.slice(i + open, close)));
      i = close + long.length;
      continue;
    }
    if (c === '"') {
      let j = i + 1;
      while (j < text.length && text[j] !== '"' && text[j] !== '\n' && text[j] !== '\r') j++;
      if (text[j] !== '"') {
        bad(MESSAGES.unterminatedString(), i, i + 1);
        push('string', i, j, byteString(text.slice(i + 1, j)));
        i = j;
        continue;
      }
      push('string', i, j + 1, byteString(text.slice(i + 1, j)));
      i = j + 1;
      continue;
    }
    const number = c >= '0' && c <= '9' ? match(NUMBER, text, i) : null;
    if (number !== null) {
      push(number[0].includes('.') ? 'real' : 'int', i, i + number[0].length);
      i += number[0].length;
      continue;
    }
    if (c === ':') {
      const blob = match(BLOB, text, i) as RegExpExecArray;
      if (blob[2] !== ':') bad(MESSAGES.blobColon(), i, i + 1);
      push('blob', i, i + blob[0].length, blob[1] as string);
      i += blob[0].length;
      continue;
    }
    const op = LONG_OPERATORS.has(two) ? two : OPERATORS.includes(c) ? c : null;
    if (op !== null) {
      push('op', i, i + op.length);
      i += op.length;
      continue;
    }
    // The presumed string is skipped completely: its content would cause further errors.
    const quoted = c === "'" ? match(SINGLE_QUOTED, text, i) : null;
    if (quoted !== null) {
      const hint = 'Strings are written in double quotes.';
      bad(MESSAGES.badCharacter('"\'"'), i, i + quoted[0].length, hint);
      push('string', i, i + quoted[0].length, byteString(quoted[0].slice(1, -1)));
      i += quoted[0].length;
      continue;
    }
    const point = text.codePointAt(i) as number;
    const width = point > 0xffff ? 2 : 1;
    const shown = JSON.stringify(String.fromCodePoint(point));
    const hint = HIDDEN[String.fromCodePoint(point)];
    bad(MESSAGES.badCharacter(shown), i, i + width, hint);
    i += width;
  }
  push('eof', text.length, text.length);
  return out;
}
