// Bytes from outside as a terminal may have them. What clients and origins send stands in logs, answers and errors;
// control characters, the C1 ones too, and marks that turn the direction of text would have the terminal do what they
// say. They become %xx, byte by byte, and so does what is no UTF-8. Lines and tabs stay.

/** One character of valid UTF-8, or else one byte; over latin1 text. */
const CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|[\s\S]/g;
const PLAIN = /^[\t\n\x20-\x7e]*$/;
const HARMFUL =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

/** UTF-8 bytes, as a terminal may have them. */
export function terminalText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (PLAIN.test(text)) return text;
  return text.replace(CHARACTER, (c) => {
    const shown = Buffer.from(c, 'latin1').toString('utf8');
    const broken = c.length === 1 && c >= '\x80';
    return broken || HARMFUL.test(shown) ? escaped(c) : shown;
  });
}

function escaped(bytes: string): string {
  return bytes.replace(/[\s\S]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** From here on a terminal gets harmless text only; files and pipes get every byte as it is. For tools that draw
 * nothing: what a screen is drawn with are control characters too. */
export function guardTerminal(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    if (!stream.isTTY) continue;
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (chunk: Uint8Array | string, ...rest: unknown[]) =>
      write(terminalText(typeof chunk === 'string' ? Buffer.from(chunk) : chunk), ...rest);
  }
}
