// Diagnostics of the VCL compiler: position, error, and how to fix it.
//
// A span points into a SourceFile, which knows the file that included it; formatting prints the source line with a
// caret under the span, as Varnish's compiler does. The compiler reports several in one run and throws nothing else:
// CompileStop is internal and ends one declaration or statement.

import type { Message } from './error-texts.ts';

/** One source file of the program. `parent` is the include statement that brought it in. */
export class SourceFile {
  readonly name: string;
  readonly text: string;
  readonly index: number;
  readonly parent: Span | null;
  #lines: number[] | null = null;

  constructor(name: string, text: string, index: number, parent: Span | null) {
    this.name = name;
    this.text = text;
    this.index = index;
    this.parent = parent;
  }

  /** 1-based line and column (in characters) of an offset. */
  locate(offset: number): { line: number; column: number } {
    if (this.#lines === null) {
      const lines = [0];
      for (let i = this.text.indexOf('\n'); i >= 0; i = this.text.indexOf('\n', i + 1)) lines.push(i + 1);
      this.#lines = lines;
    }
    let lo = 0;
    let hi = this.#lines.length - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if ((this.#lines[mid] as number) <= offset) lo = mid;
      else hi = mid - 1;
    }
    return { line: lo + 1, column: offset - (this.#lines[lo] as number) + 1 };
  }

  /** Text of a 1-based line, without its end. */
  line(n: number): string {
    const at = this.locate(0) && (this.#lines as number[])[n - 1];
    if (at === undefined) return '';
    const end = this.text.indexOf('\n', at);
    return this.text.slice(at, end < 0 ? undefined : end).replace(/\r$/, '');
  }
}

const TAB = 8;

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line;
  let out = '';
  for (const part of line.split(/(\t)/)) out += part === '\t' ? ' '.repeat(TAB - (out.length % TAB)) : part;
  return out;
}

/** The visual column, as counted by Varnish's compiler and most terminals: tabs advance to multiples of 8. */
export function shownColumn(source: string, column: number): number {
  return expandTabs(source.slice(0, column - 1)).length + 1;
}

export interface Span {
  file: SourceFile;
  start: number;
  end: number;
}

/** One finding. Lines and columns count from 1; `endColumn` is the last column of the span on its line. */
export interface Diagnostic {
  severity: 'error' | 'warning';
  /** Stable slug, for tests and tools. */
  code: string;
  message: string;
  file: string;
  line: number;
  column: number;
  endColumn: number;
  source: string;
  hint?: string;
  /** Related positions (first definition, call chain), nearest first. */
  related: {
    message: string;
    file: string;
    line: number;
    column: number;
    source: string;
    endColumn: number;
  }[];
  /** The chain of includes, innermost first. */
  includedFrom: { file: string; line: number; column: number }[];
}

function place(span: Span): {
  file: string;
  line: number;
  column: number;
  endColumn: number;
  source: string;
} {
  const { line, column } = span.file.locate(span.start);
  const source = span.file.line(line);
  const width = Math.max(1, Math.min(span.end - span.start, source.length - column + 1));
  return { file: span.file.name, line, column, endColumn: column + width - 1, source };
}

export interface Note {
  message: string;
  span: Span;
}

export function makeDiagnostic(
  severity: 'error' | 'warning',
  code: string,
  message: string,
  span: Span,
  hint?: string,
  notes: Note[] = [],
): Diagnostic {
  const includedFrom: Diagnostic['includedFrom'] = [];
  for (let p = span.file.parent; p !== null; p = p.file.parent) {
    includedFrom.push({ file: p.file.name, ...p.file.locate(p.start) });
  }
  const d: Diagnostic = {
    severity,
    code,
    message,
    ...place(span),
    related: notes.map((n) => ({ message: n.message, ...place(n.span) })),
    includedFrom,
  };
  if (hint !== undefined) d.hint = hint;
  return d;
}

/** Ends the current statement or declaration after its error was reported. */
export class CompileStop extends Error {
  constructor() {
    super('compile stop');
    this.name = 'CompileStop';
  }
}

const MAX_REPORTED = 50;

/** Collects the findings of one compilation. */
export class Reporter {
  readonly errors: Diagnostic[] = [];
  readonly warnings: Diagnostic[] = [];

  error({ code, text }: Message, span: Span, hint?: string, notes?: Note[]): void {
    if (this.errors.length >= MAX_REPORTED) return;
    const d = makeDiagnostic('error', code, text, span, hint, notes);
    const twice = this.errors.some((e) => e.file === d.file && e.line === d.line && e.column === d.column);
    if (!twice) this.errors.push(d);
  }

  warn({ code, text }: Message, span: Span, hint?: string, notes?: Note[]): void {
    this.warnings.push(makeDiagnostic('warning', code, text, span, hint, notes));
  }

  /** Reports and abandons the current construct. */
  fail(message: Message, span: Span, hint?: string, notes?: Note[]): never {
    this.error(message, span, hint, notes);
    throw new CompileStop();
  }
}

/** Characters shown on each side of the position (chosen): a generated program may be one line of a megabyte. */
const SIDE = 300;

interface Shown {
  file: string;
  line: number;
  column: number;
  endColumn: number;
  source: string;
}

/** A position for printing: tabs expanded, and columns adjusted. */
function shown(p: Shown): Shown {
  if (!p.source.includes('\t')) return p;
  const column = shownColumn(p.source, p.column);
  const endColumn = Math.max(column, shownColumn(p.source, p.endColumn + 1) - 1);
  return { ...p, column, endColumn, source: expandTabs(p.source) };
}

/** The source line and a line of markers below it. */
function excerpt({ source, column, endColumn }: Shown): string {
  const from = Math.max(0, column - 1 - SIDE);
  const to = Math.min(source.length, endColumn + SIDE);
  let marks = '';
  for (let i = from + 1; i <= to; i++) marks += i >= column && i <= endColumn ? '#' : '-';
  if (column > source.length) marks += '#';
  return `${source.slice(from, to)}\n${marks}\n`;
}

function header(p: Shown): string {
  const to = p.endColumn > p.column ? ` -- (Pos ${p.endColumn})` : '';
  return `('${p.file}' Line ${p.line} Pos ${p.column})${to}\n`;
}

/** The message for operators: every finding with position, caret, hint and include chain. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[]): string {
  if (diagnostics.length === 0) return '';
  let out = 'Message from VCC-compiler:\n';
  for (const d of diagnostics) {
    out += `${d.severity === 'warning' ? 'Warning: ' : ''}${d.message}\n`;
    const at = shown(d);
    out += header(at) + excerpt(at);
    for (const i of d.includedFrom) out += `Included from: ('${i.file}' Line ${i.line} Pos ${i.column})\n`;
    for (const r of d.related) {
      const there = shown(r);
      out += `\n${r.message}\n${header(there)}${excerpt(there)}`;
    }
    if (d.hint !== undefined) out += `Hint: ${d.hint}\n`;
    out += '\n';
  }
  return out;
}

/** The nearest of `names` to a misspelt one, or null: at most a third of the letters may differ. */
export function nearest(name: string, names: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const d = distance(name.toLowerCase(), candidate.toLowerCase());
    if (d < bestDistance) {
      best = candidate;
      bestDistance = d;
    }
  }
  return best;
}

/** Edit distance with transpositions. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let prev = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let v = Math.min((prev[j] as number) + 1, (row[j - 1] as number) + 1, (prev[j - 1] as number) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        v = Math.min(v, (before[j - 2] as number) + 1);
      }
      row.push(v);
    }
    before = prev;
    prev = row;
  }
  return prev[b.length] as number;
}
