// What the transactions of a group have to do with each other: which of them a client sent, and which it began. A
// restart is another transaction and the same request: it ends as its last life did. A fragment of a page is a request
// that no client sent.

import type { LogTransaction } from '../../../protocol/messages.ts';

/** Compiles a query into a test of groups. */
export type GroupMatcher = (query: string) => (group: readonly LogTransaction[]) => boolean;

/** A batch as its groups, split where the daemon says that one begins. A batch that does not say it is split at the
 * outermost level: a group may begin deeper, and restarts stand at the level of their first. */
export function splitGroups(transactions: readonly LogTransaction[]): LogTransaction[][] {
  const groups: LogTransaction[][] = [];
  for (const tx of transactions) {
    if ((tx.first ?? tx.level <= 1) || groups.length === 0) groups.push([]);
    groups.at(-1)?.push(tx);
  }
  return groups;
}

/** Is it a request for a fragment of a page? */
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

/** A request and its restarts, in order: how it ended is said by the last. */
export function livesOf(group: readonly LogTransaction[], first: LogTransaction): LogTransaction[] {
  const lives = [first];
  for (const tx of group) if (isRestart(tx) && tx.parent === lives.at(-1)?.vxid) lives.push(tx);
  return lives;
}
