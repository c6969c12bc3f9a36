// Makes external bytes safe for a terminal. Client and origin data appears in logs, replies and errors; control
// characters, including C1, and bidirectional formatting characters would control the terminal. Those, and invalid
// UTF-8, become %xx byte by byte. Newlines and tabs are kept.

/** One character of valid UTF-8, or one byte, in latin1 text. */
const CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|[\s\S]/g;
const PLAIN = /^[\t\n\x20-\x7e]*$/;
const HARMFUL =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

/** UTF-8 bytes with unsafe characters escaped. */
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

/** From now on terminals get escaped text only; files and pipes get every byte unchanged. Not for tools that draw
 * screens, which need control characters. */
export function guardTerminal(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    if (!stream.isTTY) continue;
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (chunk: Uint8Array | string, ...rest: unknown[]) =>
      write(terminalText(typeof chunk === 'string' ? Buffer.from(chunk) : chunk), ...rest);
  }
}
