// Findings as text, laid out like the compiler's messages, and as JSON for tools.

import type { Finding } from './lint.ts';

const WIDTH = 100;

/** `file:line:column: severity: message [name]`, the marked source line, then explanation and hint. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings.map(formatFinding).join('\n');
}

function formatFinding(f: Finding): string {
  let out = `${f.file}:${f.line}:${f.column}: ${f.severity}: ${f.message} [${f.code}]\n`;
  out += `${f.source}\n${marks(f)}\n`;
  for (const i of f.includedFrom) out += `Included from ${i.file}:${i.line}:${i.column}\n`;
  for (const r of f.related) out += `${r.message} ${r.file}:${r.line}:${r.column}\n`;
  if (f.hint !== undefined) out += wrap(f.hint);
  if (f.explanation !== null) out += wrap(f.explanation);
  return out;
}

/** A line of # marks below the source; tabs are kept for alignment. */
function marks({ source, column, endColumn }: Finding): string {
  let out = '';
  for (let i = 1; i <= Math.max(source.length, column); i++) {
    out += i >= column && i <= endColumn ? '#' : source[i - 1] === '\t' ? '\t' : '-';
  }
  return out;
}

function wrap(text: string): string {
  let out = '';
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 3 > WIDTH) {
      out += `  ${line}\n`;
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return `${out}  ${line}\n`;
}

export interface Totals {
  errors: number;
  warnings: number;
  infos: number;
}

export function totals(findings: readonly Finding[]): Totals {
  const count = (severity: Finding['severity']): number =>
    findings.filter((f) => f.severity === severity).length;
  return { errors: count('error'), warnings: count('warning'), infos: count('info') };
}

/** One line with the number of findings. */
export function formatTotals(t: Totals): string {
  const part = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
  return `${part(t.errors, 'error')}, ${part(t.warnings, 'warning')}, ${part(t.infos, 'note')}\n`;
}

export function findingsJson(files: readonly string[], findings: readonly Finding[]): string {
  const rows = findings.map((f) => ({
    severity: f.severity,
    rule: f.code,
    message: f.message,
    explanation: f.explanation,
    hint: f.hint ?? null,
    file: f.file,
    line: f.line,
    column: f.column,
    endColumn: f.endColumn,
    source: f.source,
    includedFrom: f.includedFrom,
    related: f.related.map(({ message, file, line, column }) => ({ message, file, line, column })),
  }));
  return `${JSON.stringify({ version: 1, files, ...totals(findings), findings: rows }, null, 2)}\n`;
}
