// BLOB constants: base64 between colons, whole groups of four, no bit set that no byte uses.

import type { Reporter, Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';

/** Reports a BLOB constant that means no bytes; whether it is a good one. */
export function checkBlob(reporter: Reporter, text: string, span: Span): boolean {
  const hint = 'BLOBs are base64 between colons.';
  if (/[^A-Za-z0-9+/=]/.test(text)) {
    reporter.error(MESSAGES.blobCharacter(), span, hint);
    return false;
  }
  if (text.length % 4 !== 0) {
    reporter.error(MESSAGES.blobLength(), span, hint);
    return false;
  }
  if (!/^[^=]*={0,2}$/.test(text)) {
    reporter.error(MESSAGES.blobPadding(), span, hint);
    return false;
  }
  if (Buffer.from(text, 'base64').toString('base64') !== text) {
    reporter.error(MESSAGES.blobBits(), span, hint);
    return false;
  }
  return true;
}
