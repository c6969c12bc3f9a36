// Programs in which any cookie makes the request pass.

import type { LintRule } from '../rule.ts';
import { nameOf, variable } from '../walk.ts';

export const cookiesPass: LintRule = {
  slug: 'cookies-pass-everything',
  severity: 'warning',
  explanation:
    'The builtin vcl_recv passes every request that has a Cookie, and analytics set one for every visitor: after the first page hardly anything is served from the cache. Remove the cookies that do not change the page (unset req.http.Cookie, regsuball, or the cookie extension) before it, or decide with return (hash).',
  check(view, report) {
    for (const { statement } of view.statements('recv')) {
      if (statement.k !== 'set' && statement.k !== 'unset') continue;
      if (nameOf(statement.target) === 'req.http.cookie') return;
    }
    for (const e of view.expressions('recv')) {
      if (e.k === 'path' && /^(?:cookie|header)\./.test(nameOf(e))) return;
    }
    for (const { statement, guards } of view.statements('recv')) {
      if (statement.k !== 'if') continue;
      for (const b of statement.branches) {
        const passes = b.body.some((s) => s.k === 'return' && s.action?.text === 'pass');
        if (passes && guards.length === 0 && variable(b.cond) === 'req.http.cookie') {
          report(b.cond.span, 'Every request with any cookie is passed.');
          return;
        }
      }
    }
    const sub = view.subs.get('vcl_recv');
    if (sub === undefined || !view.fallsThrough('recv')) return;
    report(
      sub.at.span,
      'Cookies are left as they are, so the builtin program passes every request that has one.',
    );
  },
};
