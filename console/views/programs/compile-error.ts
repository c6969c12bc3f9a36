// Remarks on source lines: parsed from the compiler's reply for a program that fails to compile, which counts columns
// in cells, and from the findings of the program check, which counts in characters.

import type { LintFinding } from '../../model/ui/console-host.ts';
import { inCells, type SourceRemark } from './source-remarks.ts';

const PLACE = /^(?:At: )?\('(.*)' Line (\d+) Pos (\d+)\)(?:\s*--\s*\(Pos (\d+)\))?$/;
const INCLUDED = /^Included from: \('(.*)' Line (\d+) Pos \d+\)$/;
const MARKS = /^-*(#+)-*$/;
/** Lines without a source position. */
const FRAME = /^Message from |^Running .* failed|^VCL compilation failed$|^Hint: |^\s*$/;

/** The compiler's name for an inline program. */
const INLINE = '<vcl.inline>';

/** Errors of a failed vcl.load or vcl.inline, in the order of the reply. `main` is the name of the inline program. */
export function compileErrors(body: string, main = INLINE): SourceRemark[] {
  const named = (file = ''): string => (file === INLINE ? main : file);
  const lines = body.split('\n');
  const out: SourceRemark[] = [];
  let message: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    const place = PLACE.exec(line.trim());
    const included = INCLUDED.exec(line);
    const last = out.at(-1);
    if (place !== null) {
      const file = named(place[1]);
      out.push({ file, ...placed(place, lines[i + 1] ?? '', lines[i + 2] ?? ''), ...messageOf(message) });
      // Skip the quoted source line and its markers.
      if (MARKS.test(lines[i + 2] ?? '')) i += 2;
      message = [];
    } else if (included !== null && last !== undefined) {
      // The innermost include comes first.
      last.includedFrom ||= `${named(included[1])} line ${included[2]}`;
    } else if (FRAME.test(line)) message = [];
    else message.push(line.trim());
  }
  return out;
}

function messageOf(message: readonly string[]): Pick<SourceRemark, 'message' | 'tone'> {
  const text = message.join(' ');
  return { message: text, tone: text.startsWith('Warning: ') ? 'warn' : 'bad' };
}

/** Columns are in cells, and long lines are cut around the position. */
function placed(
  place: RegExpExecArray,
  source: string,
  marks: string,
): Omit<SourceRemark, 'message' | 'tone' | 'file'> {
  const column = Number(place[3]);
  const quoted = MARKS.exec(marks);
  return {
    line: Number(place[2]),
    column,
    length: quoted?.[1]?.length ?? 1,
    quote: quoted === null ? '' : source,
    quoteFrom: quoted === null ? 1 : column - marks.indexOf('#'),
    includedFrom: '',
  };
}

export function lintRemark(f: LintFinding): SourceRemark {
  const cellsBefore = (column: number): number => inCells(f.source.slice(0, column)).length;
  const [from] = f.includedFrom;
  return {
    message: `${f.severity}: ${f.message} [${f.rule}]`,
    tone: f.severity === 'error' ? 'bad' : 'warn',
    file: f.file,
    line: f.line,
    column: cellsBefore(f.column - 1) + 1,
    length: Math.max(1, cellsBefore(f.endColumn) - cellsBefore(f.column - 1)),
    quote: inCells(f.source),
    quoteFrom: 1,
    includedFrom: from === undefined ? '' : `${from.file} line ${from.line}`,
  };
}
