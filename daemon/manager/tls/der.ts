// The little of DER (X.690) that an OCSP response and Diffie-Hellman parameters need: values with definite lengths, read
// one after the other. Never reads beyond its bytes.

export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
}

export const SEQUENCE = 0x30;
export const INTEGER = 0x02;
export const ENUMERATED = 0x0a;
export const OCTET_STRING = 0x04;
const GENERALIZED_TIME = 0x18;
/** [n], constructed. */
export const context = (n: number): number => 0xa0 | n;

/** The values that bytes consist of, at most `most`; null if they are not DER. */
export function derValues(bytes: Buffer, most = 64): DerValue[] | null {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (values.length === most) return values;
    const tag = bytes[at] as number;
    let length = bytes[at + 1];
    if (length === undefined || (tag & 0x1f) === 0x1f) return null;
    let start = at + 2;
    if (length > 0x7f) {
      const size = length & 0x7f;
      if (size === 0 || size > 4 || start + size > bytes.length) return null;
      length = bytes.readUIntBE(start, size);
      start += size;
    }
    if (start + length > bytes.length) return null;
    values.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return values;
}

/** The values inside the first value, if that has this tag; else null. */
export function derInside(bytes: Buffer, tag: number): DerValue[] | null {
  const [first] = derValues(bytes, 1) ?? [];
  return first?.tag === tag ? derValues(first.content) : null;
}

/** Epoch seconds of a GeneralizedTime in UTC with seconds; null for another form. */
export function derTime({ tag, content }: DerValue): number | null {
  const m = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z$/.exec(content.toString('latin1'));
  if (tag !== GENERALIZED_TIME || m === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = m.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}
