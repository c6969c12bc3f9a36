// vcl_hash without its return: the builtin program adds URL and Host once more, or against the intention.

import type { LintRule } from '../rule.ts';
import { asksFor, calledName } from '../walk.ts';

export const hashFallsThrough: LintRule = {
  slug: 'hash-missing-return',
  severity: 'warning',
  explanation:
    'Without return (lookup) the builtin vcl_hash follows and adds req.url and Host to the key. Where the sub hashes a changed form of them itself, that undoes it: what was to share one object does not. Add return (lookup), or leave URL and Host to the builtin program.',
  check(view, report) {
    const sub = view.subs.get('vcl_hash');
    if (sub === undefined || !view.fallsThrough('hash')) return;
    for (const e of view.expressions('hash')) {
      if (e.k !== 'call' || calledName(e) !== 'hash_data') continue;
      if (!asksFor(e, 'req.url') && !asksFor(e, 'req.http.host')) continue;
      report(
        sub.at.span,
        'vcl_hash adds URL or Host itself, has no return (lookup), and so gets both once more.',
      );
      return;
    }
    // The usual way to add to the key: right, as long as it is meant.
    report(
      sub.at.span,
      'vcl_hash has no return: the builtin program adds URL and Host behind it.',
      undefined,
      'info',
    );
  },
};
