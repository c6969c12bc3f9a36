// Regular expressions of bans: those whose time can grow exponentially are refused before anything is applied,
// since a ban is matched against every object. An expression in a program, which matches one text at a time, may be
// of that kind.

import { compileRegex } from '../../queries/regex/bounded-regex.ts';
import type { BanRegex } from '../cache/ban/ban-expression.ts';

export function compileBanRegex(pattern: string): BanRegex {
  const regex = compileRegex(pattern);
  if (regex.prepare().safeLength === 0) {
    throw new Error('the time that this expression needs may grow exponentially');
  }
  return regex;
}
