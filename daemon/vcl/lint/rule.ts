// The interface of a lint rule: it finds one kind of mistake in the syntax tree.
//
// Rules are independent and change nothing. They report positions in the operator's files; comments that silence
// findings are applied elsewhere.

import type { Span } from '../diagnostics.ts';
import type { ProgramView } from './program-view.ts';

/** `warning`: the program very likely does not do what was meant. `info`: worth checking. */
export type Severity = 'warning' | 'info';

/**
 * @param hint what to write instead, unless the explanation says it
 * @param severity overrides the rule's, for a milder case
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
