// return (restart) and return (retry) that nothing ends but the limit.

import type { LintRule } from '../rule.ts';
import { asksFor, nameOf } from '../walk.ts';

const COUNTERS: Readonly<Record<string, string>> = { restart: 'req.restarts', retry: 'bereq.retries' };
const STATES = ['recv', 'miss', 'hit', 'pass', 'deliver', 'synth', 'backend_response', 'backend_error'];

export const restartUnguarded: LintRule = {
  slug: 'restart-unguarded',
  severity: 'warning',
  explanation:
    'A request that begins again meets the same condition again, until max_restarts (or max_retries) makes a 503 of it. Ask for req.restarts (bereq.retries) in the condition, or change what it asks.',
  check(view, report) {
    const changed = new Set<string>();
    for (const { statement } of view.statements()) {
      if (statement.k === 'set' || statement.k === 'unset')
        changed.add(nameOf(statement.target).toLowerCase());
    }
    const told = new Set<unknown>();
    for (const state of STATES) {
      for (const { statement, guards, block, index } of view.statements(state)) {
        const action = statement.k === 'return' ? (statement.action?.text ?? '') : '';
        const counter = COUNTERS[action];
        if (counter === undefined || told.has(statement) || view.mentions(state, counter)) continue;
        // Something is changed on the way, or the condition asks what the program itself sets.
        if (
          block
            .slice(0, index)
            .some((s) => s.k === 'set' || s.k === 'unset' || s.k === 'action' || s.k === 'call')
        )
          continue;
        if ([...changed].some((name) => guards.some((guard) => asksFor(guard, name)))) continue;
        told.add(statement);
        report(statement.span, `return (${action}) without a look at ${counter}.`);
      }
    }
  },
};
