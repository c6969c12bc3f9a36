// Places in the compiler's words, and a source with the words put at their places: what an operator sees when a
// program does not compile.

import type { ToneLine } from '../../model/panel.ts';

export interface SourceRemark {
  message: string;
  /** From 1. */
  line: number;
  column: number;
  /** Cells that the mark is wide. */
  length: number;
  tone: 'bad' | 'warn';
}

const PLACE = /^\('(.*)' Line (\d+) Pos (\d+)\)(?:\s*--\s*\(Pos (\d+)\))?/;

/** The errors of a failed vcl.load or vcl.inline, in the order of the reply. */
export function compileErrors(body: string): SourceRemark[] {
  const lines = body.split('\n');
  const out: SourceRemark[] = [];
  let message: string[] = [];
  for (const [i, line] of lines.entries()) {
    const place = PLACE.exec(line.trim());
    if (place === null) {
      if (/^Message from|^Running |failed|^\s*$/.test(line)) message = [];
      else if (!/^-*#+-*$/.test(line) && !line.startsWith('(')) message.push(line.trim());
      continue;
    }
    const marks = /#+/.exec(lines.slice(i + 1, i + 4).find((l) => /^-*#+-*$/.test(l)) ?? '')?.[0].length ?? 1;
    out.push({
      message: message.join(' '),
      line: Number(place[2]),
      column: Number(place[3]),
      length: marks,
      tone: 'bad',
    });
    message = [];
  }
  return out;
}

/** The source with numbered lines and each remark below its line. */
export function annotatedSource(source: string, remarks: readonly SourceRemark[]): ToneLine[] {
  const out: ToneLine[] = [];
  const lines = source.replace(/\n$/, '').split('\n');
  for (const [i, text] of lines.entries()) {
    const here = remarks.filter((r) => r.line === i + 1);
    // A tab is as wide as one cell here, so that the marks stand below what they mean.
    out.push([
      { text: `${String(i + 1).padStart(5)} `, tone: here.length > 0 ? 'warn' : 'faint' },
      { text: text.replaceAll('\t', ' '), tone: here.length > 0 ? 'strong' : 'text' },
    ]);
    for (const r of here) {
      const mark = '^'.repeat(Math.max(1, Math.min(r.length, 40)));
      out.push([
        { text: `      ${' '.repeat(Math.max(0, r.column - 1))}${mark} ${r.message}`, tone: r.tone },
      ]);
    }
  }
  return out;
}

/** Where a panel of `height` lines is to begin so that the first remark is well inside it. */
export function remarkScroll(remarks: readonly SourceRemark[], height: number): number {
  const first = remarks[0];
  return first === undefined ? 0 : Math.max(0, first.line - Math.floor(height / 2));
}
