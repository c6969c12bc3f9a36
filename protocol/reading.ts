// Whether a command line changes anything, by the table of commands: for connections and tools that may only read.
//
// Lines are taken apart as the daemon takes them apart, so that no way of writing a command gets past.

import { CommandLines, commandWords } from './cli-quoting.ts';
import { CLI } from './errors.ts';
import type { CommandReply } from './messages.ts';
import { commandRow } from './tables/commands.ts';

/** The command of a line that changes something. Null for those that only read, and for lines that are no command of this
 * daemon, which it refuses by itself. */
export function changingCommand(line: string): string | null {
  const row = commandRow(nameOf(line));
  return row === undefined || row.reads === true ? null : row.name;
}

/** Of a text for somebody else's daemon, who cuts it into lines and may know more commands: the first command, '' if it
 * cannot be read, of which it is not known that it only reads; null without one. */
export function notOnlyReading(text: string): string | null {
  const lines = new CommandLines();
  for (const line of [...lines.push(text), ...lines.end()]) {
    const name = nameOf(line);
    if (commandRow(name)?.reads !== true) return name;
  }
  return null;
}

/** The answer to a command that changes something, or might, where a client has asked for no more than reading. */
export function refusedChange(name: string): CommandReply {
  const what = name === '' ? 'A line that cannot be read' : name;
  return {
    status: CLI.CANT,
    body: `${what} is refused: this connection is only for reading (--readonly).\n`,
  };
}

/** '' for a line that is empty or cannot be read. */
export function nameOf(line: string): string {
  const words = commandWords(line);
  return Array.isArray(words) ? (words[0] ?? '') : '';
}
