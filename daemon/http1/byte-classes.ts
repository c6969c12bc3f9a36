// The bytes allowed in each place, as lookup tables over all 256. Tables, because one is a single load where a chain of
// comparisons is several branches, and because the grammar is then in one place.

/** Maps a byte to its lower-case token character; 0 for bytes that a token cannot hold (RFC 9110 section 5.6.2). */
export const TOKEN_FOLD: Uint8Array = tokenTable();

/** 1 for bytes allowed in a header value or reason: visible, blank, or above ASCII. */
export const TEXT: Uint8Array = table((c) => (c >= 0x20 && c !== 0x7f) || c === 0x09);

/** 1 for bytes allowed in a request target: visible or above ASCII. */
export const TARGET: Uint8Array = table((c) => c > 0x20 && c !== 0x7f);

function table(holds: (c: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, c) => (holds(c) ? 1 : 0));
}

function tokenTable(): Uint8Array {
  const fold = new Uint8Array(256);
  const token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";
  for (let i = 0; i < token.length; i++) fold[token.charCodeAt(i)] = token.charCodeAt(i);
  for (let c = 65; c <= 90; c++) fold[c] = c + 32;
  return fold;
}
