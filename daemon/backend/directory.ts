// The backends of one loaded program: declarations to Backend objects, host names to addresses, once, at load.
// A name without an address is an error for the caller to judge; its backend exists and fails every fetch.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { VbeCounters } from '../stats/counters.ts';
import type { BackendDecl } from '../vcl/program.ts';
import { Backend, type BackendEnvironment } from './backend.ts';
import type { OriginAddress } from './connect.ts';

export interface BuiltBackends {
  /** By name, in the order of declaration. */
  readonly backends: ReadonlyMap<string, Backend>;
  /** One line for each name that could not be resolved. */
  readonly problems: readonly string[];
}

/**
 * Makes the backends of a program.
 * @param counters the VBE counters of a backend, by its display name ("<program>.<name>")
 * @param now epoch seconds
 */
export async function buildBackends(
  programName: string,
  decls: readonly BackendDecl[],
  env: BackendEnvironment,
  counters: (displayName: string) => VbeCounters,
  now: number,
): Promise<BuiltBackends> {
  const problems: string[] = [];
  const addresses = await Promise.all(decls.map((decl) => resolveBackend(decl, problems)));
  const backends = new Map<string, Backend>();
  decls.forEach((decl, i) => {
    const vbe = counters(`${programName}.${decl.name}`);
    backends.set(decl.name, new Backend(decl, programName, addresses[i] ?? [], vbe, env, now));
  });
  return { backends, problems };
}

const DEFAULT_PORT = 80;
const PORT_NAMES: { readonly [name: string]: number } = { http: 80, https: 443, 'http-alt': 8080 };

async function resolveBackend(decl: BackendDecl, problems: string[]): Promise<OriginAddress[]> {
  if (decl.none === true) return [];
  if (decl.path !== undefined) return [{ kind: 'unix', path: decl.path }];
  const host = decl.host ?? '';
  const port = decl.port === undefined ? DEFAULT_PORT : (PORT_NAMES[decl.port] ?? Number(decl.port));
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    problems.push(`Backend ${decl.name}: port "${decl.port}" is none`);
    return [];
  }
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return [{ kind: 'tcp', address: bare, port }];
  try {
    const found = await lookup(bare, { all: true });
    // As the field: one address of each family, IPv4 first.
    const picked = [found.find((a) => a.family === 4), found.find((a) => a.family === 6)];
    return picked.filter((a) => a !== undefined).map(({ address }) => ({ kind: 'tcp', address, port }));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    problems.push(`Backend ${decl.name}: host "${host}" has no address (${code})`);
    return [];
  }
}
