// File extensions looked for at the very end of the URL, where a query may stand.

import type { LintRule } from '../rule.ts';
import { variable } from '../walk.ts';

const EXTENSION_AT_END = /\\\.(?:\((?:\?:|\?i\)?)?)?[a-z0-9|?]{2,}\)?\$$/i;

export const extensionIgnoresQuery: LintRule = {
  slug: 'extension-ignores-query',
  severity: 'info',
  explanation:
    'req.url includes the query: "\\.(css|js)$" does not match "/site.css?v=2". End it with (\\?.*)?$ or (\\?|$), or take the query off before.',
  check(view, report) {
    for (const { pattern, span, subject, by } of view.matches()) {
      if (!/^(?:req|bereq)\.url$/.test(variable(subject) ?? '') || by.startsWith('regsub')) continue;
      if (EXTENSION_AT_END.test(pattern)) report(span, 'A URL with a query does not match this.');
    }
  },
};
