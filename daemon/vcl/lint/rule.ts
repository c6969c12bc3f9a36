// The interface of a lint rule: it finds one mistake in programs that compile, in the syntax tree.
//
// A rule never changes anything and knows no other rule. It reports places of the operator's own text; whether a
// finding is shown is decided elsewhere: comments can silence it.

import type { Span } from '../diagnostics.ts';
import type { ProgramView } from './program-view.ts';

/** `warning`: the program very likely does not do what was meant. `info`: worth a look. */
export type Severity = 'warning' | 'info';

/**
 * @param hint what to write instead, when the explanation does not say it
 * @param severity other than the rule's, for a milder case
 */
export type Report = (span: Span, message: string, hint?: string, severity?: Severity) => void;

export interface LintRule {
  /** Stable name, for comments that silence it and for tools. */
  slug: string;
  severity: Severity;
  /** Why it matters and what to do, for a reader who has never seen it. */
  explanation: string;
  check(view: ProgramView, report: Report): void;
}
