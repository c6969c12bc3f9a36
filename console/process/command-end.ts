// Output for command lines that need no further work: help, version, or an error followed by the help text, as
// Varnish's tools do.

import { type Ending, helpText } from '../../protocol/command-line.ts';
import type { ToolRow } from '../../protocol/tables/tool-row.ts';

/** Resolves with the exit status once the output is flushed. */
export async function printEnding(tool: ToolRow, end: Ending): Promise<number> {
  const [stream, text] =
    end.kind === 'answer'
      ? [process[end.stream], end.text]
      : [process.stderr, `${tool.name}: ${end.message}\n${helpText(tool)}`];
  await new Promise<void>((done) => stream.write(text, () => done()));
  return end.kind === 'answer' ? 0 : 1;
}
