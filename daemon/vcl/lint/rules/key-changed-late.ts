// URL or Host changed after the cache key was made from them.

import type { LintRule } from '../rule.ts';
import { expressions, nameOf } from '../walk.ts';

export const keyChangedLate: LintRule = {
  slug: 'key-changed-late',
  severity: 'warning',
  explanation:
    'The cache key was made in vcl_hash. When URL or Host change afterwards, the backend is asked for another page than the one it is stored as, and clients get what they did not ask for. Change them in vcl_recv, or hash what they depend on too.',
  check(view, report) {
    const hashed = (name: string): boolean => view.mentions('hash', name.replace('bereq.', 'req.'));
    for (const state of ['miss', 'hit']) {
      for (const { statement } of view.statements(state)) {
        if (statement.k !== 'set' && statement.k !== 'unset') continue;
        const name = nameOf(statement.target);
        if (name !== 'req.url' && name !== 'req.http.host') continue;
        report(statement.target.span, `${name} changes after the cache key was made.`);
      }
    }
    for (const { statement } of view.statements('backend_fetch')) {
      if (statement.k !== 'set' || nameOf(statement.target) !== 'bereq.url') continue;
      // A URL made of the URL is as good a key as the other; one made of a header is not.
      const header = [...expressions(statement.value)].find(
        (e) => e.k === 'path' && /^bereq\.http\.(?!host$)/.test(nameOf(e)),
      );
      if (header?.k !== 'path' || hashed(nameOf(header))) continue;
      report(
        statement.target.span,
        `bereq.url depends on ${nameOf(header)}, which the cache key does not hold.`,
      );
    }
  },
};
