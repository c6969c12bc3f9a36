// Regular expressions of bans: those that may take exponential time are refused before anything is applied, because a
// ban is matched against every object. A program matches one text at a time, so its expressions are not restricted like
// this.

import { compileRegex } from '../../queries/regex/bounded-regex.ts';
import type { BanRegex } from '../cache/ban/ban-expression.ts';

export function compileBanRegex(pattern: string): BanRegex {
  const regex = compileRegex(pattern);
  if (regex.prepare().safeLength === 0) {
    throw new Error('the time that this expression needs may grow exponentially');
  }
  return regex;
}
