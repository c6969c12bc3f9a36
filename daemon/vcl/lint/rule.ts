// What a lint rule is: one thing that operators get wrong in programs that compile, found in the syntax tree.
//
// A rule never changes anything and knows no other rule. It reports places of the operator's own text; whether a
// finding is shown (comments can silence it) is not its business.

import type { Span } from '../errors.ts';
import type { ProgramView } from './program-view.ts';

/** `warning`: it will very likely not do what was meant. `info`: worth a look. */
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
  /** Why it matters and what to do, for somebody who meets it the first time. */
  explanation: string;
  check(view: ProgramView, report: Report): void;
}
