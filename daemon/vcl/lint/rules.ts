// The table of lint rules, by name. A finding's slug is a name in this table.

import type { LintRule } from './rule.ts';
import {
  aclNeverMatches,
  authorizationCached,
  cookiesPass,
  forwardedTrust,
  openPurge,
  setCookieCached,
} from './rules/access.ts';
import {
  acceptEncodingTouched,
  hashBeforeHost,
  hashFallsThrough,
  hashWithoutUrl,
  keyChangedLate,
  varySplitsCache,
} from './rules/cache-key.ts';
import { caseOfText, constantCondition, emptyStringCompare, repeatedCondition } from './rules/conditions.ts';
import {
  esiAnyType,
  esiIncludeHost,
  esiPagesPassed,
  esiSetCookie,
  esiSwitchedOff,
} from './rules/esi-pages.ts';
import { peerNotVerified, plainHttpsPort } from './rules/https-backends.ts';
import {
  doubleUnset,
  emptyBranch,
  overwrittenSet,
  selfAssignment,
  unreachableCode,
  unusedImport,
} from './rules/needless-code.ts';
import {
  banNotLurkable,
  graceUnused,
  ttlIgnoresPrivate,
  zeroTtlDelivered,
} from './rules/object-lifetimes.ts';
import {
  extensionIgnoresQuery,
  regexNeverMatches,
  shadowedAlternative,
  unescapedDot,
} from './rules/patterns.ts';
import {
  looseGlob,
  markerElsewhere,
  oldName,
  protectedHeader,
  removedFunction,
  removedVariable,
} from './rules/releases.ts';
import {
  bereqAfterFetch,
  idHeaderName,
  overwrittenByBuiltin,
  restartUnguarded,
  stateInParts,
} from './rules/steps.ts';

export const RULES: readonly LintRule[] = [
  acceptEncodingTouched,
  aclNeverMatches,
  authorizationCached,
  banNotLurkable,
  bereqAfterFetch,
  caseOfText,
  constantCondition,
  cookiesPass,
  doubleUnset,
  emptyBranch,
  emptyStringCompare,
  esiAnyType,
  esiIncludeHost,
  esiPagesPassed,
  esiSetCookie,
  esiSwitchedOff,
  extensionIgnoresQuery,
  forwardedTrust,
  graceUnused,
  hashBeforeHost,
  hashWithoutUrl,
  hashFallsThrough,
  idHeaderName,
  keyChangedLate,
  looseGlob,
  markerElsewhere,
  oldName,
  openPurge,
  overwrittenByBuiltin,
  overwrittenSet,
  peerNotVerified,
  plainHttpsPort,
  protectedHeader,
  regexNeverMatches,
  removedFunction,
  removedVariable,
  repeatedCondition,
  restartUnguarded,
  selfAssignment,
  setCookieCached,
  shadowedAlternative,
  stateInParts,
  ttlIgnoresPrivate,
  unescapedDot,
  unreachableCode,
  unusedImport,
  varySplitsCache,
  zeroTtlDelivered,
];
