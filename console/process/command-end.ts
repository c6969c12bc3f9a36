// How a tool says what its command line alone decides: help, version, or a mistake with the help text after it, as
// Varnish's tools have it.

import { type Ending, helpText } from '../../protocol/command-line.ts';
import type { ToolRow } from '../../protocol/tables/tool-row.ts';

/** Resolves with the exit status once everything is said. */
export async function sayEnd(tool: ToolRow, end: Ending): Promise<number> {
  const [stream, text] =
    end.kind === 'answer'
      ? [process[end.stream], end.text]
      : [process.stderr, `${tool.name}: ${end.message}\n${helpText(tool)}`];
  await new Promise<void>((done) => stream.write(text, () => done()));
  return end.kind === 'answer' ? 0 : 1;
}
