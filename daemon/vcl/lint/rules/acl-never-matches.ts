// Access lists that no address is on, and entries that an earlier one decides already.

import type { AclEntry } from '../../ast.ts';
import { readAclEntry } from '../../check/acl-notation.ts';
import { familyBytes } from '../../runtime/ip.ts';
import type { LintRule } from '../rule.ts';

/** An address as bits after its family, with how many of them count. */
function bitsOf(entry: AclEntry): { bits: string; length: number } | null {
  const n = readAclEntry(entry);
  const bytes = 'fault' in n ? null : familyBytes(n.host);
  if ('fault' in n || bytes === null) return null;
  const bits = bytes.map((b) => b.toString(2).padStart(8, '0')).join('');
  const family = bytes.length === 4 ? '4' : '6';
  return { bits: family + bits, length: Math.min(n.bits ?? bits.length, bits.length) + 1 };
}

export const aclNeverMatches: LintRule = {
  slug: 'acl-never-matches',
  severity: 'warning',
  explanation:
    'An access list matches addresses that an entry without "!" names. One without such entries matches nobody. Of entries that overlap the most exact one decides, so one that repeats another decides nothing.',
  check(view, report) {
    for (const acl of view.all('acl')) {
      if (acl.entries.every((e) => e.negate)) {
        report(
          acl.name.span,
          `No address is on acl ${acl.name.text}: it has ${acl.entries.length === 0 ? 'no entries' : 'only negated entries'}.`,
        );
        continue;
      }
      const seen: { bits: string; length: number; entry: AclEntry }[] = [];
      for (const entry of acl.entries) {
        const own = bitsOf(entry);
        if (own === null) continue;
        const covers = (a: { bits: string; length: number }): boolean =>
          a.length <= own.length && own.bits.startsWith(a.bits.slice(0, a.length));
        // Between a wider entry and this one another may turn the decision round.
        const decider = seen.filter(covers).sort((a, b) => b.length - a.length)[0];
        if (decider !== undefined && decider.entry.negate === entry.negate) {
          report(
            entry.span,
            `This entry of acl ${acl.name.text} changes nothing: "${decider.entry.host}" decides the same.`,
          );
        }
        seen.push({ ...own, entry });
      }
    }
  },
};
