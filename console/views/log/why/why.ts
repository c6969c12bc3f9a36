// Why a request went as it went: one plain sentence with the records that prove it. A pure function over a group of
// the log, what the log holds of the same URL before it, and the bans in force; the rules are a table, asked in
// order. A rule says nothing that its evidence does not show: where the log cannot tell, the sentence says so.

import type { LogTransaction } from '../../../../protocol/messages.ts';
import { ERROR_RULES } from './error-rules.ts';
import { FRAGMENT_RULES } from './fragment-rules.ts';
import { LOOKUP_RULES } from './lookup-rules.ts';
import { MISS_RULES, STORAGE_RULES } from './miss-rules.ts';
import { type Reason, type Rule, readCase, type WhyContext } from './why-case.ts';

/** In each table the first rule that applies speaks. Those of fragments do not exclude each other. */
const TABLES: readonly (readonly Rule[])[] = [
  ERROR_RULES,
  LOOKUP_RULES,
  MISS_RULES,
  STORAGE_RULES,
  ...FRAGMENT_RULES.map((rule) => [rule]),
];

export const WHY_RULES: readonly Rule[] = TABLES.flat();

/** At least one reason for every group that has a request; [] for others. */
export function why(group: readonly LogTransaction[], context: WhyContext): Reason[] {
  const found = readCase(group, context);
  if (found === null) return [];
  const reasons: Reason[] = [];
  for (const rules of TABLES) {
    // A miss is explained by its history; what the lookup rules explained needs no second word on that.
    if (rules === MISS_RULES && reasons.some((r) => LOOKUP_RULES.some((l) => l.name === r.rule))) continue;
    for (const rule of rules) {
      const said = rule.try(found);
      if (said === null) continue;
      reasons.push({ rule: rule.name, ...said });
      break;
    }
  }
  return reasons;
}

/** Of the reasons of a request that was no hit the one that says why. */
export function lookupReason(reasons: readonly Reason[]): Reason | null {
  const rules = [...LOOKUP_RULES, ...MISS_RULES];
  return reasons.find((reason) => rules.some((rule) => rule.name === reason.rule)) ?? null;
}
