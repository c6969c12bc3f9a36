// The query that finds what a backend did: fetches that had a connection of it, and those that got none, of which only
// the error names it. Of a sick one those that went wrong; of a director what its backends did.

import { type BackendRow, memberNames, shortName } from '../../model/backends.ts';

export function backendQuery(b: BackendRow, all: ReadonlyMap<string, BackendRow>): string {
  const names = [...leaves(b, all, new Set())].map(shortName);
  const none = b.type === 'backend' ? [] : [`Director ${shortName(b.name)} `];
  const refused = [...names.map((name) => `backend ${name}: `), ...none];
  const failed = `FetchError ~ "^${oneOf(refused)}"`;
  if (names.length === 0) return failed;
  const opened =
    names.length === 1 ? `BackendOpen[2] eq "${names[0]}"` : `BackendOpen[2] ~ "^${oneOf(names)}$"`;
  return b.health === 'sick'
    ? `${failed} or (${opened} and (FetchError or BerespStatus >= 500))`
    : `${opened} or ${failed}`;
}

/** Identifiers of VCL have nothing that a regular expression would take for its own. */
function oneOf(words: readonly string[]): string {
  return words.length === 1 ? (words[0] as string) : `(${words.join('|')})`;
}

/** Full names of the backends below it, or its own. */
function leaves(b: BackendRow, all: ReadonlyMap<string, BackendRow>, seen: Set<string>): Set<string> {
  if (b.type === 'backend') return new Set([b.name]);
  // A director may be below itself.
  if (seen.has(b.name)) return new Set();
  seen.add(b.name);
  const members = memberNames(b).flatMap((name) => all.get(name) ?? []);
  return new Set(members.flatMap((member) => [...leaves(member, all, seen)]));
}
