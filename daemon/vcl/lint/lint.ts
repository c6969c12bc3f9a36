// The offline check of a program: the compiler's messages, and the findings of the rules in the operator's own files.
//
// Nothing is loaded and nothing runs. Rules also check programs that do not compile, as far as they could be parsed.
// A comment `lint: ignore NAME` on the line of a finding or the line above silences it there, `lint: ignore-file
// NAME` in its whole file; without a name, all.

import { type Diagnostic, makeDiagnostic, Reporter, type Span } from '../diagnostics.ts';
import { fileReader, type ReaderOptions } from '../include-path.ts';
import { Parser } from '../parser.ts';
import { TokenStream } from '../token-stream.ts';
import { ProgramView } from './program-view.ts';
import type { LintRule, Severity } from './rule.ts';
import { RULES } from './rules.ts';
import { statements } from './walk.ts';

export interface Finding extends Omit<Diagnostic, 'severity'> {
  severity: 'error' | Severity;
  explanation: string | null;
}

export interface LintOptions extends ReaderOptions {
  /** Parameter id_header. Default X-Proxy-Id. */
  idHeader?: string;
}

export interface ParsedProgram {
  view: ProgramView;
  /** Labels that the program switches to; offline, all are assumed to exist. */
  labels: string[];
}

/** Reads a program and its includes; the compiler reports their errors. */
export function parseForLint(source: { name: string; text: string }, options: LintOptions): ParsedProgram {
  const stream = new TokenStream(new Reporter(), fileReader(options));
  const parser = new Parser(stream);
  stream.open(source.name, source.text);
  parser.program(true);
  const labels = new Set<string>();
  for (const d of parser.declarations) {
    if (d.k !== 'sub') continue;
    for (const { statement } of statements(d.body)) {
      if (statement.k !== 'return' || statement.action?.text !== 'vcl') continue;
      const value = statement.args?.[0]?.value;
      if (value?.k === 'path' && value.parts.length === 1) labels.add(value.parts[0]?.text ?? '');
    }
  }
  const view = new ProgramView(
    stream.files,
    parser.declarations,
    options.idHeader ?? 'X-Proxy-Id',
    stream.looseGlobs,
  );
  return { view, labels: [...labels] };
}

/** Findings that no comment silences, in source order. */
export function runRules(view: ProgramView, rules: readonly LintRule[] = RULES): Finding[] {
  const found: { finding: Finding; span: Span }[] = [];
  for (const rule of rules) {
    rule.check(view, (span, message, hint, severity = rule.severity) => {
      if (isSilenced(span, rule.slug)) return;
      const d = makeDiagnostic('warning', rule.slug, message, span, hint);
      found.push({ finding: { ...d, severity, explanation: rule.explanation }, span });
    });
  }
  found.sort((a, b) => a.span.file.index - b.span.file.index || a.span.start - b.span.start);
  return found.map((f) => f.finding);
}

/** Converts a diagnostic of the compiler to a finding. */
export function compilerFinding(d: Diagnostic): Finding {
  return { ...d, explanation: null };
}

const COMMENT = /(?:#|\/\/|\/\*)\s*lint:\s*(ignore(?:-file)?)\b([^*\n]*)/g;

function isSilenced(span: Span, slug: string): boolean {
  const { file } = span;
  const { line } = file.locate(span.start);
  for (const m of file.text.matchAll(COMMENT)) {
    const names = (m[2] as string).split(/[\s,]+/).filter((n) => n !== '');
    if (names.length > 0 && !names.includes(slug)) continue;
    if (m[1] === 'ignore-file') return true;
    const at = file.locate(m.index).line;
    if (at === line || at === line - 1) return true;
  }
  return false;
}
