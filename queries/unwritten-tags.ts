// Tags named by a subscription that proxyd never writes: without a warning an operator would wait in vain. Recordings
// are exempt, because another daemon may have made them.

import type { LogSubscription } from '../protocol/messages.ts';
import { isWritten, TAGS } from '../protocol/tables/tags.ts';
import type { CheckedQuery } from './check-query.ts';
import { parseQuery } from './parse-query.ts';
import { markTagList } from './tag-list.ts';

/** Names of tags; globs and lists that include a written tag are fine. Assumes valid texts. */
export function unwrittenTags(sub: Pick<LogSubscription, 'query' | 'filters'>): string[] {
  const names = new Set<string>();
  const collect = (tags: Uint8Array): void => {
    const asked = TAGS.filter((_row, i) => tags[i + 1] === 1);
    if (asked.some(isWritten)) return;
    for (const { name } of asked) names.add(name);
  };
  const visit = (query: CheckedQuery): void => {
    if (query.kind === 'record') collect(query.tags);
    else if (query.kind === 'not') visit(query.query);
    else if (query.kind !== 'vxid') {
      visit(query.left);
      visit(query.right);
    }
  };
  const parsed = sub.query === undefined ? null : parseQuery(sub.query);
  if (parsed?.ok === true) visit(parsed.query);
  for (const filter of sub.filters ?? []) {
    if (!filter.kind.startsWith('include')) continue;
    for (const one of filter.tags.split(',')) {
      const tags = new Uint8Array(256);
      if (markTagList(one, tags) === null) collect(tags);
    }
  }
  return [...names];
}

/** A sentence about them; null if there are none. */
export function unwrittenText(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `${names.join(', ')}: proxyd never writes ${names.length === 1 ? 'this tag' : 'these tags'} (proxy-log(7) lists those it writes)`;
}
