// Encodes long texts, such as a list of a hundred thousand entries, in pieces over several turns of the event loop.

import type { ServerMessage } from '../../../protocol/messages.ts';
import { turns } from '../../turns/turns.ts';

type Reply = Extract<ServerMessage, { t: 'reply' }>;

/** Characters encoded at once (chosen): takes less than a millisecond. */
const PIECE = 128 * 1024;

export const isLong = (text: string): boolean => text.length > PIECE;

/** Splits a text; never inside a surrogate pair. */
export function* pieces(text: string): Generator<string> {
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = Math.min(text.length, at + PIECE);
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last < 0xdc00 && end < text.length) end++;
    yield text.slice(at, end);
  }
}

/** The bytes of JSON.stringify() for a reply; null if it is no longer wanted. */
export async function encodeLong(reply: Reply, isWanted: () => boolean): Promise<Buffer | null> {
  const [head, tail] = JSON.stringify({ ...reply, body: ' ' }).split('"body":" "') as [string, string];
  const bytes = [Buffer.from(`${head}"body":"`)];
  for (const piece of pieces(reply.body)) {
    bytes.push(Buffer.from(JSON.stringify(piece).slice(1, -1)));
    turns.tookLong();
    if (!turns.mayContinue()) await turns.next();
    if (!isWanted()) return null;
  }
  bytes.push(Buffer.from(`"${tail}`));
  return Buffer.concat(bytes);
}
