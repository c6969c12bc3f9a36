// Vary on headers that hardly two clients share.

import type { LintRule } from '../rule.ts';
import { constantText, nameOf } from '../walk.ts';

export const varySplitsCache: LintRule = {
  slug: 'vary-splits-cache',
  severity: 'warning',
  explanation:
    'With Vary on User-Agent, Cookie or Accept there is one object for every value of that header, so nearly every request is a miss. Make a header of few values in vcl_recv (a class of devices, a language) and vary on that.',
  check(view, report) {
    for (const { statement } of view.statements('backend_response')) {
      if (statement.k !== 'set' || nameOf(statement.target) !== 'beresp.http.vary') continue;
      for (const part of [
        statement.value,
        ...(statement.value.k === 'binary' ? [statement.value.right] : []),
      ]) {
        const m = /\b(user-agent|cookie|accept|referer)\b(?!-)/i.exec(constantText(part) ?? '');
        if (m === null) continue;
        report(statement.span, `Vary on ${m[1]} makes an object of nearly every request.`);
        break;
      }
    }
  },
};
