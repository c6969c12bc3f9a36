// PURGE and BAN for anybody who asks.

import type { LintRule } from '../rule.ts';
import { calledName, constantText, expressions, variable } from '../walk.ts';

export const openPurge: LintRule = {
  slug: 'open-purge',
  severity: 'warning',
  explanation:
    'Whoever may empty the cache can put the whole load on the backends. Compare client.ip with an acl, or a header with a secret, and answer the others with return (synth(403)).',
  check(view, report) {
    const acls = new Set(view.all('acl').map((a) => a.name.text));
    for (const e of view.expressions('recv')) {
      if (e.k !== 'binary') continue;
      const right = variable(e.right);
      if ((e.op === '~' || e.op === '!~') && right !== null && acls.has(right)) return;
      const secret = variable(e.left)?.startsWith('req.http.') === true && e.op !== '~';
      if (secret && (constantText(e.right) ?? '').length >= 8) return;
    }
    for (const { statement } of view.statements('recv')) {
      if (statement.k === 'return' && statement.action?.text === 'purge') {
        report(statement.span, 'Every client may purge.');
      }
      if (statement.k !== 'action') continue;
      for (const e of expressions(statement.call)) {
        const name = calledName(e);
        if (name === 'ban' || name === 'std.ban') report(statement.span, 'Every client may ban.');
      }
    }
  },
};
