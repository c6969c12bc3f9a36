// Whether a command line changes anything, by the table of commands: for read-only connections and tools. Lines are
// parsed exactly as by the daemon, so that no spelling evades the check.

import { CommandLines, commandWords } from './cli-quoting.ts';
import { CLI } from './errors.ts';
import type { CommandReply } from './messages.ts';
import { commandRow } from './tables/commands.ts';

/** The command of a line, if it changes something. Null for read-only commands, and for lines that are no command of
 * this daemon, which it rejects itself. */
export function changingCommand(line: string): string | null {
  const row = commandRow(nameOf(line));
  return row === undefined || row.reads === true ? null : row.name;
}

/** Whether a command that is not for read-only connections changes nothing nevertheless. */
export function isTrial(line: string): boolean {
  return commandRow(nameOf(line))?.tries === true;
}

/** For a text sent to another product's daemon, which splits it into lines and may have more commands: the first
 * command not known to be read-only ('' if it cannot be parsed), or null. */
export function notOnlyReading(text: string): string | null {
  const lines = new CommandLines();
  for (const line of [...lines.push(text), ...lines.end()]) {
    const name = nameOf(line);
    if (commandRow(name)?.reads !== true) return name;
  }
  return null;
}

/** Error for write commands on a read-only connection. */
export function refusedChange(name: string): CommandReply {
  const what = name === '' ? 'A line that cannot be read' : name;
  return {
    status: CLI.CANT,
    body: `${what} is refused: this connection is only for reading (--readonly).\n`,
  };
}

/** '' for an empty or invalid line. */
export function nameOf(line: string): string {
  const words = commandWords(line);
  return Array.isArray(words) ? (words[0] ?? '') : '';
}
