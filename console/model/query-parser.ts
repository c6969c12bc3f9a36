// The query bar's parser, until the query language's own is loaded: accepts everything.

import type { QueryChecker } from './query-check.ts';

export function queryChecker(): QueryChecker {
  return () => ({ ok: true });
}
