// Includes of another host, which come to the page's own.

import { esiPages } from '../esi-pages.ts';
import type { LintRule } from '../rule.ts';
import { constantText, nameOf } from '../walk.ts';

export const esiIncludeHost: LintRule = {
  slug: 'esi-include-host',
  severity: 'info',
  explanation:
    'An include of http://other.example/part is a request with that Host, which goes through vcl_recv like any other: no connection is made to a host because a page names it. The program chooses the backend, and the default one answers for hosts that it does not know. Ask for req.http.Host where req.esi_level > 0: set req.backend_hint, or refuse with synth(404).',
  check(view, report) {
    const [page] = esiPages(view);
    if (page === undefined || view.mentions('recv', 'req.esi_level')) return;
    for (const { statement, guards } of view.statements('recv')) {
      if (statement.k !== 'set' || guards.length > 0 || nameOf(statement.target) !== 'req.http.host')
        continue;
      if (constantText(statement.value) === null) continue;
      report(
        statement.span,
        'An include of another host is asked of this one.',
        'Do it where req.esi_level is 0.',
        'warning',
      );
      return;
    }
    if (view.all('backend').length < 2 || view.mentions('recv', 'req.http.host')) return;
    report(
      page.statement.span,
      'vcl_recv never asks for the host, so includes of other hosts go where the URL says.',
    );
  },
};
