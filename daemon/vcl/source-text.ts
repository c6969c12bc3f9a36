// The bytes of a program file as text. Programs are bytes to Varnish: most are UTF-8, older ones hold Latin-1 in
// comments and strings. A file that is no UTF-8 keeps each byte above ASCII as a lone surrogate (U+DC80 to U+DCFF),
// which the lexer turns back into the byte, so that a header gets exactly what the file has.

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

/** Characters above ASCII as their bytes, one character each. */
export function byteString(text: string): string {
  if (!NON_ASCII.test(text)) return text;
  // A lone low surrogate: one that belongs to a pair follows a high one.
  if (!KEPT.test(text) || !/(?:^|[^\ud800-\udbff])[\udc80-\udcff]/.test(text)) {
    return Buffer.from(text, 'utf8').toString('latin1');
  }
  return text.replace(/[\udc80-\udcff]/g, (c) => String.fromCharCode(c.charCodeAt(0) - FIRST));
}
