// Relations between the transactions of a group: the requests that a client sent, and their children. A restart is
// another transaction of the same request, which ends as its last life did. A fragment of a page is a request that no
// client sent.

import type { LogTransaction } from '../../../protocol/messages.ts';

/** Compiles a query into a test of groups. */
export type GroupMatcher = (query: string) => (group: readonly LogTransaction[]) => boolean;

/** Splits a batch into its groups, at the transactions that are marked as first. Without marks it is split at the
 * outermost level: a group may begin deeper, and restarts have the level of their first life. */
export function splitGroups(transactions: readonly LogTransaction[]): LogTransaction[][] {
  const groups: LogTransaction[][] = [];
  for (const tx of transactions) {
    if ((tx.first ?? tx.level <= 1) || groups.length === 0) groups.push([]);
    groups.at(-1)?.push(tx);
  }
  return groups;
}

/** A request for a fragment of a page. */
export function isFragment(tx: LogTransaction): boolean {
  return tx.type === 'request' && tx.reason === 'esi';
}

export function isRestart(tx: LogTransaction): boolean {
  return tx.type === 'request' && tx.reason.startsWith('restart');
}

/** The lives of a request and what they fetched, without the fragments of a page. */
export function withoutFragments(group: readonly LogTransaction[]): LogTransaction[] {
  const first = group.find((tx) => tx.type === 'request');
  if (first === undefined) return [...group];
  const lives = livesOf(group, first);
  const ids = new Set(lives.map((tx) => tx.vxid));
  return group.filter((tx) => {
    if (tx.type === 'bereq' && ids.has(tx.parent)) ids.add(tx.vxid);
    return ids.has(tx.vxid);
  });
}

/** A request and its restarts, in order: the last has the outcome. */
export function livesOf(group: readonly LogTransaction[], first: LogTransaction): LogTransaction[] {
  const lives = [first];
  for (const tx of group) if (isRestart(tx) && tx.parent === lives.at(-1)?.vxid) lives.push(tx);
  return lives;
}
