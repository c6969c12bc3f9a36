// Tokens of the file of -A: words, strings in double quotes, `=`, braces. `#` begins a comment; blanks, line ends and
// semicolons separate and mean nothing else.

/** A mistake in the file: `file:line:column: what; hint`. */
export class TlsFileError extends Error {}

export interface Token {
  readonly kind: 'word' | 'string' | '=' | '{' | '}' | 'end';
  readonly text: string;
  /** `file:line:column`. */
  readonly at: string;
}

const BETWEEN = /(?:[\s;]+|#[^\n]*)+/y;
const WORD = /[^\s;#{}="]+/y;
const STRING = /"((?:[^"\\\n]|\\[^\n])*)"/y;
const OTHERS = ['=', '{', '}'] as const;

/** Throws TlsFileError. The last token is the end. */
export function tlsFileTokens(text: string, file: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let lineStart = 0;
  const here = (): string => `${file}:${line}:${at - lineStart + 1}`;
  const skip = (to: number): void => {
    for (let end = text.indexOf('\n', at); end >= 0 && end < to; end = text.indexOf('\n', end + 1)) {
      line++;
      lineStart = end + 1;
    }
    at = to;
  };
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  for (;;) {
    const between = take(BETWEEN);
    if (between !== null) skip(at + between[0].length);
    const place = here();
    const next = text[at];
    if (next === undefined) {
      tokens.push({ kind: 'end', text: '', at: place });
      return tokens;
    }
    const sign = OTHERS.find((other) => other === next);
    if (sign !== undefined) {
      tokens.push({ kind: sign, text: next, at: place });
      at++;
      continue;
    }
    const string = take(STRING);
    if (string !== null) {
      tokens.push({ kind: 'string', text: (string[1] ?? '').replace(/\\(["\\])/g, '$1'), at: place });
      at += string[0].length;
      continue;
    }
    const word = take(WORD);
    if (word === null) throw new TlsFileError(`${place}: the string does not end on its line; add a "`);
    tokens.push({ kind: 'word', text: word[0], at: place });
    at += word[0].length;
  }
}
