// From the words of a backend declaration to addresses. Names are asked of the system's resolver in another thread,
// so nothing waits for a name server. The preferred family comes first.

import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { BackendDecl } from '../contract/program.ts';
import type { OriginAddress } from './address.ts';

/** Gives the addresses of a name, or throws. */
export type NameLookup = (name: string) => Promise<readonly { address: string; family: number }[]>;

export const systemLookup: NameLookup = (name) => lookup(name, { all: true });

const DEFAULT_PORT = 80;

/**
 * The addresses of a backend when its program is loaded: those that its name had when it was compiled.
 * @param preferIpv6 puts the IPv6 address first
 */
export function loadAddresses(
  decl: BackendDecl,
  preferIpv6: boolean,
  names?: NameLookup,
): Promise<readonly OriginAddress[] | string> {
  const known = decl.addresses?.map((address) => ({ address, family: isIP(address) }));
  return resolveBackend(decl, preferIpv6, known === undefined ? names : async () => known);
}

/**
 * The addresses of a backend as its name has them now; a text says why there are none.
 * @param preferIpv6 puts the IPv6 address first
 */
export async function resolveBackend(
  decl: BackendDecl,
  preferIpv6: boolean,
  names: NameLookup = systemLookup,
): Promise<readonly OriginAddress[] | string> {
  if (decl.none === true) return [];
  if (decl.path !== undefined) return [{ kind: 'unix', path: decl.path }];
  const port = decl.port === undefined ? DEFAULT_PORT : portNumber(decl.port);
  if (port === null) return `Backend ${decl.name}: port "${decl.port}" is none`;
  const host = hostName(decl);
  if (isIP(host) !== 0) return [{ kind: 'tcp', address: host, port }];
  try {
    const found = await names(host);
    // One of each kind, as Varnish; a name that is asked for again may stand for many.
    const most = decl.resolve === undefined ? 1 : found.length;
    const kinds = preferIpv6 ? [6, 4] : [4, 6];
    const picked = kinds.flatMap((kind) => found.filter((a) => a.family === kind).slice(0, most));
    const addresses = picked.map(({ address }) => ({ kind: 'tcp', address, port }) as const);
    return addresses.length > 0 ? addresses : `Backend ${decl.name}: host "${decl.host}" has no address`;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return `Backend ${decl.name}: host "${decl.host}" has no address (${code})`;
  }
}

/** Whether there is a name to resolve again. */
export function isNamed(decl: BackendDecl): boolean {
  return decl.none !== true && decl.path === undefined && isIP(hostName(decl)) === 0;
}

function hostName(decl: BackendDecl): string {
  const host = decl.host ?? '';
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** A number or a service that this system knows. */
function portNumber(text: string): number | null {
  const n = /^\d+$/.test(text) ? Number(text) : (WELL_KNOWN[text] ?? service(text));
  return n >= 1 && n <= 65535 ? n : null;
}

const WELL_KNOWN: { readonly [name: string]: number } = { http: 80, https: 443, 'http-alt': 8080 };

function service(name: string): number {
  try {
    for (const line of readFileSync('/etc/services', 'latin1').split('\n')) {
      const [first, port, ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
      const known = first === name || aliases.includes(name);
      if (known && port?.endsWith('/tcp') === true) return Number(port.slice(0, -4));
    }
  } catch {
    // No such table: only numbers are known.
  }
  return -1;
}
