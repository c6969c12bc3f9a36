// Resolves a backend declaration to addresses. The system's resolver looks up names in another thread, so the event
// loop never waits for a name server. The preferred family comes first.

import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { BackendDecl } from '../contract/program.ts';
import type { OriginAddress } from './address.ts';

/** Returns the addresses of a name, or throws. */
export type NameLookup = (name: string) => Promise<readonly { address: string; family: number }[]>;

export const systemLookup: NameLookup = (name) => lookup(name, { all: true });

const DEFAULT_PORT = 80;
const DEFAULT_TLS_PORT = 443;

/** A declaration of a program, or one made at run time. */
type AnyDecl = Pick<BackendDecl, 'host' | 'port' | 'path' | 'tls'>;

/**
 * The addresses of a backend when its program is loaded: those that were resolved when it was compiled.
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
 * The current addresses of a backend; a string is the reason why there are none.
 * @param preferIpv6 puts the IPv6 address first
 */
export async function resolveBackend(
  decl: BackendDecl,
  preferIpv6: boolean,
  names: NameLookup = systemLookup,
): Promise<readonly OriginAddress[] | string> {
  if (decl.none === true) return [];
  const literal = literalAddress(decl);
  if (typeof literal === 'string') return `Backend ${decl.name}: ${literal}`;
  if (literal !== null) return [literal];
  const port = portOf(decl) as number;
  const host = hostName(decl);
  try {
    const found = await names(host);
    // One of each family, as in Varnish; a name that is resolved repeatedly may have many.
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

/** The address of a declaration that needs no resolver; null for a name, a string for an invalid port. */
export function literalAddress(decl: AnyDecl): OriginAddress | string | null {
  // The system's name of an abstract socket, `@name`, begins with NUL.
  if (decl.path !== undefined) return { kind: 'unix', path: decl.path.replace(/^@/, '\0') };
  const port = portOf(decl);
  if (port === null) return `port "${decl.port}" is not valid`;
  const address = hostName(decl);
  return isIP(address) === 0 ? null : { kind: 'tcp', address, port };
}

/** Whether the declaration has a name that can be resolved again. */
export function isNamed(decl: BackendDecl): boolean {
  return decl.none !== true && decl.path === undefined && isIP(hostName(decl)) === 0;
}

function portOf({ port, tls }: AnyDecl): number | null {
  if (port !== undefined) return portNumber(port);
  return tls === undefined ? DEFAULT_PORT : DEFAULT_TLS_PORT;
}

function hostName(decl: AnyDecl): string {
  const host = decl.host ?? '';
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** Parses a port number, or looks up a service that this system knows. */
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
    // Without /etc/services only numbers are accepted.
  }
  return -1;
}
