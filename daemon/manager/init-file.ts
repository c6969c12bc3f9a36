// The commands of -I, run before the worker starts. The first that fails ends the start, unless a '-' stands before it.
//
// Never starts the worker itself: whoever calls it looks for an active program afterwards. Caution: `quit` is a
// failure like any other, since there is no connection that it could end.

import { readFileSync } from 'node:fs';
import { CommandLines } from '../../protocol/cli-quoting.ts';
import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { OptionError } from './option-error.ts';

/** Runs the file's commands; `note` hears each with its status. Throws OptionError. */
export async function runInitFile(
  file: string,
  run: (line: string) => Promise<CommandReply>,
  note: (text: string) => void,
): Promise<void> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OptionError(`Can't open -I file ${file}: ${systemText(cause)}`);
  }
  const lines = new CommandLines();
  for (const line of [...lines.push(text), ...lines.end()]) {
    const mayFail = line.startsWith('-');
    const reply = await run(mayFail ? line.slice(1) : line);
    const [shown = ''] = line.split('\n', 1);
    note(`-I ${file}: ${shown} -> ${reply.status}`);
    if (reply.status === CLI.OK || reply.status === CLI.TRUNCATED || mayFail) continue;
    throw new OptionError(`-I file CLI command failed (${reply.status})\n> ${shown}\n${reply.body}`);
  }
}
