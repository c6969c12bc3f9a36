// Binary-to-text encodings of the extension blob: IDENTITY, the BASE64 family, HEX and URL. Texts hold one byte per
// character. Invalid text yields null; nothing here fails or logs.
//
// The leniency of the decoders is part of the interface: missing padding and an odd number of hex digits are
// accepted; a single character after whole groups of four is not, unless it is the only one.

export const ENCODINGS = [
  'IDENTITY',
  'BASE64',
  'BASE64URL',
  'BASE64URLNOPAD',
  'BASE64CF',
  'HEX',
  'URL',
] as const;
export type Encoding = (typeof ENCODINGS)[number];

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

interface Alphabet {
  /** The 64 characters by their value. */
  characters: string;
  /** Padding of the last group, or ''. */
  padding: string;
  /** Values by character code; 255 if invalid. */
  values: Uint8Array;
}

function alphabet(last: string, padding: string): Alphabet {
  const characters = ALPHANUMERIC + last;
  const values = new Uint8Array(256).fill(255);
  for (let i = 0; i < 64; i++) values[characters.charCodeAt(i)] = i;
  return { characters, padding, values };
}

const ALPHABETS: Partial<Record<Encoding, Alphabet>> = {
  BASE64: alphabet('+/', '='),
  BASE64URL: alphabet('-_', '='),
  BASE64URLNOPAD: alphabet('-_', ''),
  BASE64CF: alphabet('-~', '_'),
};

/** Whether the encoding has hex digits, whose letter case can be chosen. */
export function hasCase(encoding: Encoding): boolean {
  return encoding === 'HEX' || encoding === 'URL';
}

/** Encodes bytes. IDENTITY ends at the first NUL, as strings of the language do. */
export function encode(encoding: Encoding, upper: boolean, bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (encoding) {
    case 'IDENTITY': {
      const zero = buffer.indexOf(0);
      return buffer.toString('latin1', 0, zero < 0 ? buffer.length : zero);
    }
    case 'HEX': {
      const text = buffer.toString('hex');
      return upper ? text.toUpperCase() : text;
    }
    case 'URL':
      return encodeUrl(buffer, upper);
    case 'BASE64':
      return buffer.toString('base64');
    default:
      return encodeBase64(buffer, ALPHABETS[encoding] as Alphabet);
  }
}

function encodeBase64(buffer: Buffer, { characters, padding }: Alphabet): string {
  const plain = buffer.toString('base64url').replaceAll('_', characters.charAt(63));
  return plain + padding.repeat((4 - (plain.length & 3)) & 3);
}

const UNRESERVED = /[A-Za-z0-9\-._~]/;
const URL_TEXT = [false, true].map((upper) =>
  Array.from({ length: 256 }, (_, code) => {
    const character = String.fromCharCode(code);
    if (UNRESERVED.test(character)) return character;
    const hex = code.toString(16).padStart(2, '0');
    return `%${upper ? hex.toUpperCase() : hex}`;
  }),
);

function encodeUrl(buffer: Buffer, upper: boolean): string {
  const texts = URL_TEXT[upper ? 1 : 0] as string[];
  let out = '';
  for (const byte of buffer) out += texts[byte];
  return out;
}

/** Decodes a text; null if it is invalid. */
export function decode(encoding: Encoding, text: string): Uint8Array | null {
  switch (encoding) {
    case 'IDENTITY':
      return Buffer.from(text, 'latin1');
    case 'HEX':
      if (/[^0-9A-Fa-f]/.test(text)) return null;
      return Buffer.from((text.length & 1) === 1 ? `0${text}` : text, 'hex');
    case 'URL':
      return decodeUrl(text);
    default:
      return decodeBase64(text, ALPHABETS[encoding] as Alphabet);
  }
}

function decodeUrl(text: string): Uint8Array | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null;
  const out = Buffer.allocUnsafe(text.length);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 37) {
      out[n++] = Number.parseInt(text.slice(i + 1, i + 3), 16);
      i += 2;
    } else out[n++] = code;
  }
  return out.subarray(0, n);
}

function decodeBase64(text: string, { padding, values }: Alphabet): Uint8Array | null {
  let length = text.length;
  if (padding !== '') while (length > 0 && text[length - 1] === padding) length--;
  const pads = text.length - length;
  const left = length & 3;
  if (pads > (left < 2 ? 0 : 4 - left) || (left === 1 && length > 1)) return null;
  const out = Buffer.allocUnsafe(Math.floor((length * 3) / 4));
  let n = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const value = code < 256 ? (values[code] as number) : 255;
    if (value === 255) return null;
    bits = ((bits << 6) | value) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out[n++] = (bits >> held) & 255;
    }
  }
  return out;
}
