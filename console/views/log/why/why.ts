// Why a request was handled the way it was: plain sentences with the records that prove them. A pure function of a
// log group, earlier groups of the same URL, and the bans in force; rules are a table, tried in order. A rule claims
// nothing beyond its evidence; if the log is inconclusive, the sentence says so.

import type { LogTransaction } from '../../../../protocol/messages.ts';
import { ERROR_RULES } from './error-rules.ts';
import { FRAGMENT_RULES } from './fragment-rules.ts';
import { LOOKUP_RULES } from './lookup-rules.ts';
import { MISS_RULES, STORAGE_RULES } from './miss-rules.ts';
import { type Reason, type Rule, readCase, type WhyContext } from './why-case.ts';

/** In each table the first rule that applies wins. Fragment rules do not exclude each other. */
const TABLES: readonly (readonly Rule[])[] = [
  ERROR_RULES,
  LOOKUP_RULES,
  MISS_RULES,
  STORAGE_RULES,
  ...FRAGMENT_RULES.map((rule) => [rule]),
];

export const WHY_RULES: readonly Rule[] = TABLES.flat();

/** At least one reason for groups with a request; [] for others. */
export function why(group: readonly LogTransaction[], context: WhyContext): Reason[] {
  const found = readCase(group, context);
  if (found === null) return [];
  const reasons: Reason[] = [];
  for (const rules of TABLES) {
    // A miss explained by a lookup rule needs no explanation by history.
    if (rules === MISS_RULES && reasons.some((r) => LOOKUP_RULES.some((l) => l.name === r.rule))) continue;
    for (const rule of rules) {
      const reason = rule.try(found);
      if (reason === null) continue;
      reasons.push({ rule: rule.name, ...reason });
      break;
    }
  }
  return reasons;
}

/** The reason for the lookup's outcome, of a request that was not a hit. */
export function lookupReason(reasons: readonly Reason[]): Reason | null {
  const rules = [...LOOKUP_RULES, ...MISS_RULES];
  return reasons.find((reason) => rules.some((rule) => rule.name === reason.rule)) ?? null;
}
