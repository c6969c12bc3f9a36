// return (hash) that skips the builtin program's care for Host and Authorization.

import type { LintRule } from '../rule.ts';
import { nameOf } from '../walk.ts';

export const hashBeforeHost: LintRule = {
  slug: 'hash-before-host',
  severity: 'warning',
  explanation:
    'return (hash) skips the builtin vcl_recv, which writes Host in lower case and refuses requests without one. WWW.example.com and www.example.com then are two objects. Set req.http.Host before (std.tolower, without its port), or call vcl_req_host.',
  check(view, report) {
    let done = false;
    for (const { statement, guards } of view.statements('recv')) {
      if (statement.k === 'set' && nameOf(statement.target) === 'req.http.host') done = true;
      if (statement.k === 'call' && /^vcl_(?:req_host|builtin_recv)$/.test(nameOf(statement.target)))
        done = true;
      if (statement.k !== 'return' || statement.action?.text !== 'hash' || done) continue;
      // A decision for static files and the like still sends some requests past the builtin program.
      report(
        statement.span,
        `return (hash) before Host was normalised.${guards.length > 0 ? '' : ' Every request takes it.'}`,
      );
      return;
    }
  },
};
