// bereq changed when the request to the backend has been sent.

import type { LintRule } from '../rule.ts';
import { expressions, nameOf, ownExpressions } from '../walk.ts';

export const bereqAfterFetch: LintRule = {
  slug: 'bereq-after-fetch',
  severity: 'warning',
  explanation:
    'In vcl_backend_response and vcl_backend_error the request has been sent already: a change of bereq reaches the backend only if the fetch is tried again with return (retry). Set it in vcl_backend_fetch.',
  check(view, report) {
    for (const state of ['backend_response', 'backend_error']) {
      let retries = false;
      for (const { statement } of view.statements(state)) {
        if (statement.k === 'return' && statement.action?.text === 'retry') retries = true;
      }
      if (retries) continue;
      const read = new Set<string>();
      for (const { statement } of view.statements(state)) {
        const values =
          statement.k === 'set'
            ? [statement.value]
            : statement.k === 'unset'
              ? []
              : ownExpressions(statement);
        for (const e of values.flatMap((v) => [...expressions(v)])) if (e.k === 'path') read.add(nameOf(e));
      }
      for (const { statement } of view.statements(state)) {
        if (statement.k !== 'set' && statement.k !== 'unset') continue;
        const name = nameOf(statement.target);
        if (!/^bereq\.(?:http\.|url$|method$|backend$)/.test(name)) continue;
        // A note that the state itself reads again is no message to the backend.
        if (!read.has(name)) report(statement.target.span, `${name} is changed after the request was sent.`);
      }
    }
  },
};
