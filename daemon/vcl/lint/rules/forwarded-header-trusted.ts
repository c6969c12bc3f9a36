// Access decided by a header that clients write themselves.

import type { LintRule } from '../rule.ts';
import { expressions, nameOf, variable } from '../walk.ts';

export const forwardedTrust: LintRule = {
  slug: 'forwarded-header-trusted',
  severity: 'warning',
  explanation:
    'X-Forwarded-For and its like hold what the client wrote, with the address of the connection behind it. An acl asked with it lets everyone in who writes the right address. Use client.ip, with the PROXY protocol where a balancer stands before this proxy.',
  check(view, report) {
    const acls = new Set(view.all('acl').map((a) => a.name.text));
    for (const e of view.expressions()) {
      if (e.k !== 'binary' || (e.op !== '~' && e.op !== '!~')) continue;
      const right = variable(e.right);
      if (right === null || !acls.has(right)) continue;
      for (const x of expressions(e.left)) {
        if (
          x.k === 'path' &&
          /^req\.http\.(?:x-forwarded-for|x-real-ip|forwarded|true-client-ip)$/.test(nameOf(x))
        ) {
          report(e.span, `The acl ${right} is asked with ${nameOf(x)}, which the client can write.`);
        }
      }
    }
  },
};
