// The header of transaction ids by a name that it does not have here.

import type { LintRule } from '../rule.ts';
import { expressions, nameOf, ownExpressions } from '../walk.ts';

/** The names by which programs know it, in Varnish and here. */
const KNOWN = ['X-Varnish', 'X-Proxy-Id'];

export const idHeaderName: LintRule = {
  slug: 'id-header-name',
  severity: 'warning',
  explanation:
    'X-Varnish is the header of transaction ids in Varnish; here it has the name that the parameter id_header gives it, X-Proxy-Id by default. An unset of the other name takes nothing away, and a test of it is never true. Write the name that it has here, or start the daemon with -p id_header=X-Varnish.',
  check(view, report) {
    const wrong = KNOWN.filter((name) => name.toLowerCase() !== view.idHeader.toLowerCase());
    for (const { statement } of view.statements()) {
      for (const own of ownExpressions(statement)) {
        for (const e of expressions(own)) {
          if (e.k !== 'path') continue;
          const field = /^\w+\.http\.(.+)$/.exec(nameOf(e))?.[1];
          const name = wrong.find((w) => w.toLowerCase() === field);
          if (name === undefined) continue;
          report(
            e.span,
            `The header of transaction ids is called ${view.idHeader} here, not ${name}.`,
            `Write ${view.idHeader}, or set the parameter id_header to ${name}.`,
          );
        }
      }
    }
  },
};
