// Accept-Encoding normalised by hand.

import type { LintRule } from '../rule.ts';
import { nameOf } from '../walk.ts';

export const acceptEncodingTouched: LintRule = {
  slug: 'accept-encoding-touched',
  severity: 'info',
  explanation:
    'The proxy asks for gzip itself, keeps one object and unpacks it for clients that cannot take it. Changing req.http.Accept-Encoding is a habit of old programs; without it objects are packed or not as it happens. To fetch unpacked, unset bereq.http.Accept-Encoding.',
  check(view, report) {
    for (const { statement } of view.statements('recv')) {
      if (statement.k !== 'set' && statement.k !== 'unset') continue;
      if (nameOf(statement.target) !== 'req.http.accept-encoding') continue;
      report(statement.span, 'Accept-Encoding is looked after by the proxy.');
      return;
    }
  },
};
