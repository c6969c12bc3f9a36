// Bans on the request, which only requests can work off.

import type { LintRule } from '../rule.ts';
import { calledName, expressions } from '../walk.ts';

export const banNotLurkable: LintRule = {
  slug: 'ban-not-lurkable',
  severity: 'warning',
  explanation:
    'The ban lurker has objects but no request, so a ban on req.* waits until each object is asked for; such bans pile up and every lookup pays for them. Copy what is needed to the object in vcl_backend_response (set beresp.http.x-url = bereq.url) and ban on obj.http.x-url.',
  check(view, report) {
    for (const e of view.expressions()) {
      const name = calledName(e);
      if (e.k !== 'call' || (name !== 'ban' && name !== 'std.ban')) continue;
      for (const inner of e.args.flatMap((a) => [...expressions(a.value)])) {
        if (inner.k === 'string' && /(?:^|&&|\s)\s*req\.[a-z]/.test(inner.value)) {
          report(inner.span, 'The ban lurker cannot work a ban on req.*.');
          break;
        }
      }
    }
  },
};
