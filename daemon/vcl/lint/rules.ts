// The table of lint rules, by name. A finding's slug is a name in this table and the name of the rule's file.

import type { LintRule } from './rule.ts';
import { acceptEncodingTouched } from './rules/accept-encoding-touched.ts';
import { aclNeverMatches } from './rules/acl-never-matches.ts';
import { authorizationCached } from './rules/authorization-cached.ts';
import { banNotLurkable } from './rules/ban-not-lurkable.ts';
import { bereqAfterFetch } from './rules/bereq-after-fetch.ts';
import { caseOfText } from './rules/case-never-equal.ts';
import { constantCondition } from './rules/constant-condition.ts';
import { cookiesPass } from './rules/cookies-pass-everything.ts';
import { doubleUnset } from './rules/double-unset.ts';
import { emptyBranch } from './rules/empty-branch.ts';
import { emptyStringCompare } from './rules/empty-string-compare.ts';
import { esiAnyType } from './rules/esi-any-type.ts';
import { esiIncludeHost } from './rules/esi-include-host.ts';
import { esiPagesPassed } from './rules/esi-pages-passed.ts';
import { esiSetCookie } from './rules/esi-set-cookie.ts';
import { esiSwitchedOff } from './rules/esi-switched-off.ts';
import { extensionIgnoresQuery } from './rules/extension-ignores-query.ts';
import { forwardedTrust } from './rules/forwarded-header-trusted.ts';
import { graceUnused } from './rules/grace-never-used.ts';
import { hashBeforeHost } from './rules/hash-before-host.ts';
import { hashWithoutUrl } from './rules/hash-incomplete.ts';
import { hashFallsThrough } from './rules/hash-missing-return.ts';
import { idHeaderName } from './rules/id-header-name.ts';
import { keyChangedLate } from './rules/key-changed-late.ts';
import { openPurge } from './rules/open-purge.ts';
import { overwrittenByBuiltin } from './rules/overwritten-by-builtin.ts';
import { overwrittenSet } from './rules/overwritten-set.ts';
import { regexNeverMatches } from './rules/regex-never-matches.ts';
import { repeatedCondition } from './rules/repeated-condition.ts';
import { restartUnguarded } from './rules/restart-unguarded.ts';
import { selfAssignment } from './rules/self-assignment.ts';
import { setCookieCached } from './rules/set-cookie-cached.ts';
import { shadowedAlternative } from './rules/shadowed-alternative.ts';
import { stateInParts } from './rules/state-in-parts.ts';
import { ttlIgnoresPrivate } from './rules/ttl-ignores-private.ts';
import { unescapedDot } from './rules/unescaped-dot.ts';
import { unreachableCode } from './rules/unreachable-code.ts';
import { unusedImport } from './rules/unused-import.ts';
import { varySplitsCache } from './rules/vary-splits-cache.ts';
import { zeroTtlDelivered } from './rules/zero-ttl-delivered.ts';

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
  openPurge,
  overwrittenByBuiltin,
  overwrittenSet,
  regexNeverMatches,
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
