// How many terminal cells a text takes, and cutting it to a width. Text is printable already (no control
// bytes). A cluster is a base character with what combines with it; the tables are coarse on purpose:
// East Asian wide and emoji blocks take two cells, combining marks none, all else one.

const ASCII = /^[\x20-\x7e]*$/;

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += charWidth(char.codePointAt(0) as number);
  return width;
}

export function charWidth(code: number): 0 | 1 | 2 {
  if (code < 0x300) return 1;
  if (
    (code >= 0x300 && code <= 0x36f) ||
    (code >= 0x483 && code <= 0x489) ||
    (code >= 0x591 && code <= 0x5bd) ||
    (code >= 0x610 && code <= 0x61a) ||
    (code >= 0x64b && code <= 0x65f) ||
    (code >= 0x1ab0 && code <= 0x1aff) ||
    (code >= 0x1dc0 && code <= 0x1dff) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x20d0 && code <= 0x20ff) ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    (code >= 0xfe20 && code <= 0xfe2f) ||
    (code >= 0xe0100 && code <= 0xe01ef)
  )
    return 0;
  if (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0x303e) ||
    (code >= 0x3041 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1f64f) ||
    (code >= 0x1f680 && code <= 0x1f6ff) ||
    (code >= 0x1f900 && code <= 0x1f9ff) ||
    (code >= 0x1fa70 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  )
    return 2;
  return 1;
}

/** The longest beginning of `text` that fits in `width` cells. */
export function clip(text: string, width: number): string {
  if (ASCII.test(text)) return text.length <= width ? text : text.slice(0, Math.max(0, width));
  let used = 0;
  let end = 0;
  for (const char of text) {
    used += charWidth(char.codePointAt(0) as number);
    if (used > width) return text.slice(0, end);
    end += char.length;
  }
  return text;
}

/** As `clip`, with a mark in the last cell when something was cut. */
export function ellipsis(text: string, width: number, mark = '…'): string {
  if (widthOf(text) <= width) return text;
  return width <= 0 ? '' : clip(text, width - 1) + mark;
}

export function padEnd(text: string, width: number): string {
  const w = widthOf(text);
  return w >= width ? text : text + ' '.repeat(width - w);
}

export function padStart(text: string, width: number): string {
  const w = widthOf(text);
  return w >= width ? text : ' '.repeat(width - w) + text;
}

const LOOKALIKES: Readonly<Record<string, string>> = {
  µ: 'u',
  '–': '-',
  '…': '~',
  '●': '*',
  '·': '.',
  '’': "'",
  '→': '>',
  '↑': '^',
  '↓': 'v',
};

/** The text in ASCII, as many cells wide: what looks alike, or a question mark a cell. */
export function toAscii(text: string): string {
  if (ASCII.test(text)) return text;
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    out += code < 0x7f ? char : (LOOKALIKES[char] ?? '?'.repeat(charWidth(code)));
  }
  return out;
}
