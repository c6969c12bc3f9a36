// BLOB constants: base64 between colons, whole groups of four, no bit set that no byte uses.

import type { Reporter, Span } from '../errors.ts';

/** Reports a BLOB constant that means no bytes; whether it is a good one. */
export function checkBlob(reporter: Reporter, text: string, span: Span): boolean {
  const hint = 'BLOBs are base64 between colons.';
  if (/[^A-Za-z0-9+/=]/.test(text)) {
    reporter.error('blob', 'Illegal BLOB character:', span, hint);
    return false;
  }
  if (text.length % 4 !== 0) {
    reporter.error('blob', 'BLOB must have n*4 base64 characters', span, hint);
    return false;
  }
  if (!/^[^=]*={0,2}$/.test(text)) {
    reporter.error('blob', "Wrong padding ('=') in BLOB:", span, hint);
    return false;
  }
  if (Buffer.from(text, 'base64').toString('base64') !== text) {
    reporter.error('blob', 'The last character of the BLOB has bits that belong to no byte:', span, hint);
    return false;
  }
  return true;
}
