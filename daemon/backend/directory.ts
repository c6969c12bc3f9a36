// The backends of one loaded program: declarations to Backend objects, host names to addresses, once, at load.
// The caller decides what a name without an address means; its backend exists and fails every fetch.

import type { BackendDecl } from '../contract/program.ts';
import type { VbeCounters } from '../stats/counter-fields.ts';
import { turns as ownTurns } from '../turns/turns.ts';
import type { OriginAddress } from './address.ts';
import { Backend, type BackendEnvironment } from './backend.ts';
import { loadAddresses } from './resolve.ts';
import type { BackendRow } from './shared-backends.ts';

export interface BuiltBackends {
  /** By name, in the order of declaration. */
  readonly backends: ReadonlyMap<string, Backend>;
  /** One line for each name that could not be resolved. */
  readonly problems: readonly string[];
}

/**
 * Makes the backends of a program, many over as many turns of the event loop as it takes.
 * @param counters the VBE counters of a backend, by its display name ("<program>.<name>")
 * @param now epoch seconds
 * @param rowOf what threads have in common for a backend, by its name in the program; null with one thread
 */
export async function buildBackends(
  programName: string,
  decls: readonly BackendDecl[],
  env: BackendEnvironment,
  counters: (displayName: string) => VbeCounters,
  now: number,
  rowOf: (name: string) => BackendRow | null = () => null,
  turns = ownTurns,
): Promise<BuiltBackends> {
  const problems: string[] = [];
  const resolve = async (decl: BackendDecl): Promise<readonly OriginAddress[]> => {
    const found = await loadAddresses(decl, env.params.prefer_ipv6 !== 0, env.names);
    if (typeof found !== 'string') return found;
    problems.push(found);
    return [];
  };
  const asked: Promise<readonly OriginAddress[]>[] = [];
  await turns.over(decls, (decl) => void asked.push(resolve(decl)));
  const addresses = await Promise.all(asked);
  const backends = new Map<string, Backend>();
  await turns.over(decls.entries(), ([i, decl]) => {
    const vbe = counters(`${programName}.${decl.name}`);
    const row = decl.none === true ? null : rowOf(decl.name);
    backends.set(decl.name, new Backend(decl, programName, addresses[i] ?? [], vbe, env, now, row));
  });
  return { backends, problems };
}
