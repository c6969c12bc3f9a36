// Access lists that no address is on, and entries that an earlier one decides already.

import { isIP } from 'node:net';
import type { AclEntry } from '../../ast.ts';
import type { LintRule } from '../rule.ts';

/** An address as bits, with how many of them count. */
function bitsOf(entry: AclEntry): { bits: string; length: number } | null {
  const { host } = entry;
  const version = isIP(host);
  if (version === 0) return null;
  const bits = version === 4 ? v4Bits(host) : v6Bits(host);
  const length = entry.mask === null ? bits.length : Number(entry.mask.text);
  return { bits: `${version}${bits}`, length: Math.min(length, bits.length) + 1 };
}

function v4Bits(host: string): string {
  return host
    .split('.')
    .map((n) => Number(n).toString(2).padStart(8, '0'))
    .join('');
}

function v6Bits(host: string): string {
  const [head = '', tail] = host.split('::');
  const groups = (t: string): string[] =>
    (t === '' ? [] : t.split(':')).flatMap((g) => (g.includes('.') ? v4Groups(g) : [g]));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const fill = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...fill, ...right]
    .map((g) => Number.parseInt(g, 16).toString(2).padStart(16, '0'))
    .join('');
}

function v4Groups(host: string): string[] {
  const bits = v4Bits(host);
  return [
    Number.parseInt(bits.slice(0, 16), 2).toString(16),
    Number.parseInt(bits.slice(16), 2).toString(16),
  ];
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
