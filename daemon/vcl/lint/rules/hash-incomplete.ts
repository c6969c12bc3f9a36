// A key that forgets the URL or the Host.

import type { LintRule } from '../rule.ts';

export const hashWithoutUrl: LintRule = {
  slug: 'hash-incomplete',
  severity: 'warning',
  explanation:
    'vcl_hash returns before the builtin program, so the key holds only what it hashes itself. Without req.url all pages of a site are one object, without Host those of all sites.',
  check(view, report) {
    const sub = view.subs.get('vcl_hash');
    if (sub === undefined || view.fallsThrough('hash')) return;
    const reads = (name: string): boolean => view.mentions('hash', name);
    const missing = [
      ...(reads('req.url') ? [] : ['req.url']),
      ...(reads('req.http.host') || reads('server.ip') ? [] : ['req.http.host']),
    ];
    // A header of the program's own may hold what takes their place.
    const own = reads('req.http.') && missing.length < 2;
    if (missing.length > 0 && !own)
      report(sub.at.span, `The cache key does not hold ${missing.join(' and ')}.`);
  },
};
