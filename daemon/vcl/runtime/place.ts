// Finds the line of the VCL program that an error came from, by the stack trace of the generated code.

import type { VclProgram } from '../../contract/context.ts';

/** Name of the generated script of a program, as stack traces show it. */
export function scriptName(program: string): string {
  return `vcl:${program}`;
}

/** "'file' Line 3 Pos 5", or null when the error did not pass through generated code. */
export function programPlace(program: VclProgram, error: Error): string | null {
  const { positions, files } = program.compiled;
  if (positions === undefined || error.stack === undefined) return null;
  const at = error.stack.indexOf(`${scriptName(program.name)}:`);
  if (at < 0) return null;
  const line = Number.parseInt(error.stack.slice(at + scriptName(program.name).length + 1), 10);
  let found: number | null = null;
  for (let i = 0; i + 3 < positions.length; i += 4) {
    if ((positions[i] as number) > line) break;
    found = i;
  }
  if (found === null) return null;
  const file = files[positions[found + 1] as number]?.name ?? '?';
  return `'${file}' Line ${positions[found + 2]} Pos ${positions[found + 3]}`;
}
