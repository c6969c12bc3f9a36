// Numbers in records and in queries, in the syntax of structured fields (RFC 8941 section 3.3): at most 15 digits, or
// 12 before and 3 after a point; further decimals are truncated. A record's number ends at the first byte that does
// not belong to it, so "200 OK" and "3;q=1" are numbers; exponents and "+" signs are not part of it.

/** The number at the start of a level or a field by the rules of C's strtol, truncated to an int, and the index of its
 * end; 0 without digits. Accepts octal, hexadecimal and leading blanks. */
export function leadingInteger(text: string): { value: number; end: number } {
  const m = /^\s*([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9]\d*))/.exec(text);
  if (m === null) return { value: 0, end: 0 };
  const [all, sign, hex, octal, decimal] = m;
  let big = BigInt(
    hex !== undefined ? `0x${hex}` : octal !== undefined ? `0o0${octal}` : (decimal as string),
  );
  if (sign === '-') big = -big;
  const most = 2n ** 63n;
  if (big >= most) big = most - 1n;
  if (big < -most) big = -most;
  return { value: Number(BigInt.asIntN(32, big)), end: all.length };
}

/** The operand of an integer comparison, with 0x and 0 prefixes; NaN if invalid. Empty is 0. Surrounding blanks are
 * ignored. */
export function parseIntegerOperand(operand: string): number {
  const text = operand.trim();
  if (text === '') return 0;
  const m = /^([+-]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]*)|([1-9]\d*))$/.exec(text);
  if (m === null) return Number.NaN;
  const n =
    m[2] !== undefined
      ? Number.parseInt(m[2], 16)
      : m[3] !== undefined
        ? Number.parseInt(m[3] || '0', 8)
        : Number(m[4]);
  return m[1] === '-' ? -n : n;
}

/** The operand of a decimal comparison, in thousandths; NaN if invalid. */
export function parseDecimalOperand(text: string): number {
  const m = /^\s*(-?)(\d{0,12})\.(\d*)\s*$/.exec(text);
  if (m === null || (m[2] === '' && m[3] === '')) return Number.NaN;
  const n = Number(m[2]) * 1000 + Number((m[3] ?? '').slice(0, 3).padEnd(3, '0'));
  return m[1] === '-' ? -n : n;
}

/** The number at the start of a record part: integral, or in thousandths with `decimal`. NaN without one. */
export function parseRecordNumber(b: Uint8Array, from: number, to: number, decimal: boolean): number {
  let i = from;
  while (i < to && isBlank(b[i] as number)) i++;
  const negative = b[i] === 45 && i < to;
  if (negative) i++;
  let whole = 0;
  let digits = 0;
  for (; i < to && isDigit(b[i] as number); i++) {
    whole = whole * 10 + (b[i] as number) - 48;
    digits++;
  }
  let thousandths = 0;
  let decimals = 0;
  if (i < to && b[i] === 46) {
    if (digits > 12) return Number.NaN;
    let unit = 100;
    for (i++; i < to && isDigit(b[i] as number); i++) {
      thousandths += unit * ((b[i] as number) - 48);
      unit = unit === 1 || unit === 0 ? 0 : unit / 10;
      decimals++;
    }
  }
  if (digits + decimals === 0 || digits > (decimal ? 12 : 15)) return Number.NaN;
  const n = decimal ? whole * 1000 + thousandths : whole;
  return negative ? -n : n;
}

export function isBlank(c: number): boolean {
  return c === 32 || (c >= 9 && c <= 13);
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}
