// The bytes of a program file as text. Varnish treats programs as bytes: most are UTF-8, older ones have Latin-1 in
// comments and strings. In a file that is not UTF-8 each non-ASCII byte becomes a lone surrogate (U+DC80 to U+DCFF),
// which the lexer converts back, so that a header gets exactly the bytes of the file. A file of its own, because the
// manager needs it before it loads the compiler.

import { isUtf8 } from 'node:buffer';

const FIRST = 0xdc00;

export function sourceText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (c) => String.fromCharCode(FIRST + c.charCodeAt(0)));
}

const KEPT = /[\udc80-\udcff]/;
const NON_ASCII = /[^\x00-\x7f]/;

/** Encodes non-ASCII characters as bytes, one character each. */
export function byteString(text: string): string {
  if (!NON_ASCII.test(text)) return text;
  // A lone low surrogate; in a pair it follows a high one.
  if (!KEPT.test(text) || !/(?:^|[^\ud800-\udbff])[\udc80-\udcff]/.test(text)) {
    return Buffer.from(text, 'utf8').toString('latin1');
  }
  return text.replace(/[\udc80-\udcff]/g, (c) => String.fromCharCode(c.charCodeAt(0) - FIRST));
}
