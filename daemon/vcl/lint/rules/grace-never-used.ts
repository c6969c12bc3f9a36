// grace and keep for objects that no request will ever find.

import type { Block } from '../../ast.ts';
import type { LintRule } from '../rule.ts';
import { isNought, nameOf, variable } from '../walk.ts';

/** Whether a block makes its response uncacheable. */
function forgets(block: Block): boolean {
  return block.some(
    (s) => s.k === 'set' && nameOf(s.target) === 'beresp.uncacheable' && variable(s.value) === 'true',
  );
}

export const graceUnused: LintRule = {
  slug: 'grace-never-used',
  severity: 'warning',
  explanation:
    'grace and keep prolong the life of an object that can be found. A response that is not cached has none, and keep needs something to ask the backend with: an ETag or Last-Modified to make the request conditional.',
  check(view, report) {
    const unsets = new Set<string>();
    for (const { statement, guards } of view.statements()) {
      if (statement.k === 'unset' && guards.length === 0) unsets.add(nameOf(statement.target));
    }
    const unconditional =
      (unsets.has('beresp.http.etag') && unsets.has('beresp.http.last-modified')) ||
      (unsets.has('bereq.http.if-none-match') && unsets.has('bereq.http.if-modified-since'));
    for (const { statement, block } of view.statements('backend_response')) {
      if (statement.k !== 'set') continue;
      const name = nameOf(statement.target);
      if (name !== 'beresp.grace' && name !== 'beresp.keep') continue;
      if (isNought(statement.value)) continue;
      if (forgets(block)) report(statement.span, `${name} has no effect on a response that is not cached.`);
      else if (name === 'beresp.keep' && unconditional) {
        report(statement.span, 'beresp.keep has no effect: no request to the backend is ever conditional.');
      }
    }
  },
};
