// Which lines of a program its tests have run, out of what the runtime counts in the generated code.

import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import type { VclProgram } from '../contract/context.ts';
import { scriptName } from '../vcl/runtime/run-state.ts';

export interface FileCoverage {
  readonly file: string;
  /** How often each line with code has run. */
  readonly lines: ReadonlyMap<number, number>;
}

/** Counts from its construction on: before the program is loaded. */
export class CoverageCounter {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** @param isCounted which files of the program belong to it */
  async take(program: VclProgram, isCounted: (file: string) => boolean): Promise<FileCoverage[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    this.#session.disconnect();
    const scripts = result.filter(({ url }) => url === scriptName(program.name));
    const byFile = new Map<string, Map<number, number>>();
    for (const [i, { text, line }] of program.compiled.pieces.entries())
      countPiece(program, text, line, scripts[i], isCounted, byFile);
    return [...byFile].map(([file, lines]) => ({
      file,
      lines: new Map([...lines].sort(([a], [b]) => a - b)),
    }));
  }
}

/** Offsets at which the lines of a text begin. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Of the innermost range that covers an offset; ranges of inner blocks come after those around them. */
function countAt(functions: readonly Profiler.FunctionCoverage[], offset: number): number {
  let count = 0;
  let length = Number.POSITIVE_INFINITY;
  for (const { ranges } of functions)
    for (const range of ranges) {
      const size = range.endOffset - range.startOffset;
      if (range.startOffset > offset || range.endOffset <= offset || size > length) continue;
      ({ count } = range);
      length = size;
    }
  return count;
}

function countPiece(
  program: VclProgram,
  text: string,
  firstLine: number,
  script: Profiler.ScriptCoverage | undefined,
  isCounted: (file: string) => boolean,
  byFile: Map<string, Map<number, number>>,
): void {
  const starts = lineStarts(text);
  const { positions } = program;
  for (let i = 0; i < positions.length; i += 4) {
    const [line = 0, index = 0, row = 0] = positions.subarray(i, i + 3);
    const at = line - 1 - firstLine;
    const start = starts[at];
    const file = program.compiled.files[index]?.name ?? '';
    if (start === undefined || at < 0 || !isCounted(file)) continue;
    const indent = /^\s*/.exec(text.slice(start, start + 200))?.[0].length ?? 0;
    const lines = byFile.get(file) ?? new Map<number, number>();
    byFile.set(file, lines);
    lines.set(
      row,
      Math.max(lines.get(row) ?? 0, script === undefined ? 0 : countAt(script.functions, start + indent)),
    );
  }
}

/** A share of lines as text, and the lines that never ran, as ranges. */
export function coverageText(files: readonly FileCoverage[]): string {
  return files
    .map(({ file, lines }) => {
      const missed = [...lines].filter(([, count]) => count === 0).map(([line]) => line);
      const share = lines.size === 0 ? 100 : (100 * (lines.size - missed.length)) / lines.size;
      const which = missed.length === 0 ? '' : `, not run: ${ranges(missed)}`;
      return `# ${file}: ${lines.size - missed.length} of ${lines.size} lines (${share.toFixed(0)} %)${which}\n`;
    })
    .join('');
}

function ranges(lines: readonly number[]): string {
  const out: [number, number][] = [];
  for (const line of lines) {
    const last = out.at(-1);
    if (last !== undefined && last[1] === line - 1) last[1] = line;
    else out.push([line, line]);
  }
  return out.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(', ');
}

/** The format of lcov's geninfo(1). */
export function lcovText(files: readonly FileCoverage[]): string {
  return files
    .map(({ file, lines }) => {
      const data = [...lines].map(([line, count]) => `DA:${line},${count}\n`).join('');
      const hit = [...lines.values()].filter((count) => count > 0).length;
      return `TN:\nSF:${file}\n${data}LF:${lines.size}\nLH:${hit}\nend_of_record\n`;
    })
    .join('');
}
