// Replies to admin commands: their status (varnish-cli(7)) and body, which is text or, with -j, JSON in an envelope.

import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import type { CommandCall } from '../link.ts';
import { turns } from '../turns/turns.ts';

export const ok = (body = ''): CommandReply => ({ status: CLI.OK, body });
export const bad = (body: string): CommandReply => ({ status: CLI.PARAM, body });
export const cannot = (body: string): CommandReply => ({ status: CLI.CANT, body });

/** The JSON envelope: version, the words of the command, the time in seconds, then `elements` including their
 * leading white space. */
export function jsonReply(
  { words }: Pick<CommandCall, 'words'>,
  elements: string,
  version = 2,
): CommandReply {
  const command = words.map((word) => JSON.stringify(word)).join(', ');
  const rest = elements === '' ? '' : `,${elements}`;
  return ok(`[ ${version}, [${command}], ${(Date.now() / 1000).toFixed(3)}${rest}\n]\n`);
}

/** Pieces joined at once (chosen). */
const TOGETHER = 1000;

/** Joins pieces with a separator, up to the length at which the reply would be truncated; takes several turns if
 * necessary. */
export async function gathered(
  pieces: Iterable<string>,
  between: string,
  most = Number.POSITIVE_INFINITY,
): Promise<string> {
  let text = '';
  // Joined by the thousand: one large join of many small texts would take long, in a single turn.
  let some: string[] = [];
  let length = 0;
  let first = true;
  for (const piece of pieces) {
    const next = first ? piece : between + piece;
    some.push(next);
    length += next.length;
    first = false;
    if (some.length === TOGETHER) {
      text += some.join('');
      some = [];
    }
    if (length > most) break;
    if (!turns.mayContinue()) await turns.next();
  }
  return text + some.join('');
}

/** Pads each column to its widest cell; two spaces between columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, column) => width(column));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
