// Pages of edge-side includes that a cookie keeps out of the cache.

import { esiPages } from '../esi-pages.ts';
import type { LintRule } from '../rule.ts';

export const esiSetCookie: LintRule = {
  slug: 'esi-set-cookie',
  severity: 'info',
  explanation:
    'A page is cut into fragments so that it can be cached while a part of it is somebody’s own. With a Set-Cookie the builtin program does not cache it, so it is fetched and parsed for every visitor. Unset beresp.http.Set-Cookie of pages. A fragment cannot set it instead: headers of fragments never reach the client.',
  check(view, report) {
    const [first] = esiPages(view);
    // Where the builtin program is skipped such a page is cached, which set-cookie-cached is about.
    if (first === undefined || !view.fallsThrough('backend_response')) return;
    if (view.mentions('backend_response', 'beresp.http.set-cookie')) return;
    report(first.statement.span, 'A page that comes with Set-Cookie is not cached.');
  },
};
