// The backends of one loaded program: makes Backend objects from declarations and resolves host names, once, at load.
// The caller decides whether a name without an address is an error; its backend exists and fails every fetch.

import type { BackendDecl, CompiledProgram } from '../contract/program.ts';
import type { VbeCounters } from '../stats/counter-fields.ts';
import { turns as ownTurns } from '../turns/turns.ts';
import type { OriginAddress } from './address.ts';
import { Backend } from './backend.ts';
import type { BackendEnvironment } from './backend-surroundings.ts';
import { loadAddresses } from './resolve.ts';
import type { BackendRow } from './shared-backends.ts';
import type { TlsClient } from './tls-client.ts';
import { tlsError } from './tls-failures.ts';

export interface BuiltBackends {
  /** By name, in order of declaration. */
  readonly backends: ReadonlyMap<string, Backend>;
  /** One line for each name that could not be resolved. */
  readonly problems: readonly string[];
}

/**
 * Makes the backends of a program, over as many turns of the event loop as needed.
 * @param counters returns the VBE counters of a backend, by its display name ("<program>.<name>")
 * @param now epoch seconds
 * @param rowOf returns the shared row of a backend, by its name in the program; null with one thread
 * @param pem certificates and keys of the program, by digest
 */
export async function buildBackends(
  programName: string,
  decls: readonly BackendDecl[],
  env: BackendEnvironment,
  counters: (displayName: string) => VbeCounters,
  now: number,
  rowOf: (name: string) => BackendRow | null = () => null,
  turns = ownTurns,
  pem: CompiledProgram['pem'] = {},
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
  const clients = new Map<string, TlsClient>();
  for (const { name, tls } of decls) {
    if (tls === undefined) continue;
    try {
      clients.set(name, await env.tlsClients.of(tls, pem, turns));
    } catch (error) {
      problems.push(`Backend ${name}: TLS cannot be used: ${tlsError(error as Error).words}`);
    }
  }
  const backends = new Map<string, Backend>();
  await turns.over(decls.entries(), ([i, decl]) => {
    const vbe = counters(`${programName}.${decl.name}`);
    const row = decl.none === true ? null : rowOf(decl.name);
    // Declared ahead of those that use it.
    const via = decl.via === undefined ? null : (backends.get(decl.via) ?? null);
    const tls = clients.get(decl.name) ?? clients.get(decl.via ?? '') ?? null;
    const backend = new Backend(decl, programName, addresses[i] ?? [], vbe, env, now, row, tls, via);
    backends.set(decl.name, backend);
  });
  return { backends, problems };
}
