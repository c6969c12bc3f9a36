// Command lines: the command, its effect, and the one of two merged instances that it is for. Names of things of one
// instance carry its name (`edge:boot.default`), and `@edge ` in front of a line sends it to that instance whatever it
// contains. Conditions of bans are text: no names are looked for in them.

import { changingCommand, isTrial, nameOf } from '../../../protocol/reading.ts';

export interface Addressed {
  /** Name of the instance. */
  part: string;
  /** The command in the names of that instance. */
  line: string;
}

const TEXT_COMMANDS: ReadonlySet<string> = new Set(['ban', 'ban.soft', 'ban.count']);

/** A name with its instance. */
export function placed(part: string, name: string): string {
  return `${part}:${name}`;
}

/** A name without its instance. */
export function bareName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The instance of a name with its colon, '' without one. */
export function placeOfName(name: string): string {
  return name.slice(0, name.indexOf(':') + 1);
}

export function addressTo(part: string, line: string): string {
  return part === '' ? line : `@${part} ${line}`;
}

/** The instance that a line is for; null when it names none, or things of several. */
export function addressOf(line: string, parts: readonly string[]): Addressed | null {
  const direct = /^\s*@(\S+)\s+([\s\S]*)$/.exec(line);
  if (direct !== null)
    return parts.includes(direct[1] as string)
      ? { part: direct[1] as string, line: direct[2] as string }
      : null;
  if (TEXT_COMMANDS.has(nameOf(line))) return null;
  const end = line.includes('\n') ? line.indexOf('\n') : line.length;
  const found = new Set<string>();
  const head = line
    .slice(0, end)
    .replace(/(\s"?)([^\s":]+):(?=[^\s"/:])/g, (all, before: string, name: string) => {
      if (!parts.includes(name)) return all;
      found.add(name);
      return before;
    });
  const [part] = found;
  return found.size === 1 && part !== undefined ? { part, line: head + line.slice(end) } : null;
}

/** The first word as typed; nameOf() is the command that the daemon takes it for. */
export function commandWord(line: string): string {
  return line.trimStart().split(/\s+/, 1)[0] ?? '';
}

/** Whether the command is refused when read-only. */
export function isChanging(line: string): boolean {
  // quit ends the connection that all views share.
  return nameOf(line) === 'quit' || changingCommand(line) !== null;
}

/** Whether the command changes or stops something. */
export function isChange(line: string): boolean {
  return isChanging(line) && !isTrial(line);
}

/** Whether the command stops traffic, drops objects or cannot be undone; it is confirmed before it runs. */
export function isDestructive(
  line: string,
  commands: readonly { name: string; destructive?: boolean }[],
): boolean {
  const name = nameOf(line);
  return commands.find((c) => c.name === name)?.destructive === true;
}
