// The extension goto: backends without a declaration, by a host name that is resolved while the request waits. An acl
// lists the permitted addresses: without one there are none.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Director, VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { programPriv } from '../../contract/priv.ts';
import { awaited, CALL_TIMEOUT, type Waiting } from '../../contract/waiting.ts';
import type { VclAcl } from '../../vcl/runtime/acl.ts';
import { addressBytes, formatAddress, VclIp } from '../../vcl/runtime/ip.ts';
import { tlsBackend } from '../declared-backend.ts';
import { byName, row } from '../extension-rows.ts';

// A resolver cache for names from requests. Each name has at most one pending query; the number of cached names and
// of pending queries is bounded. Queries occupy at most half of the worker's thread pool.

type Resolver = (name: string) => Promise<readonly string[]>;

/** The system's resolver. */
const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/** Cached names, and concurrent queries (chosen). */
const MOST = 1000;
const AT_ONCE = 16;

interface Known {
  addresses: readonly string[];
  /** Milliseconds since the epoch. */
  askedAt: number;
}

class FreshNames {
  private readonly resolver: Resolver;
  /** Least recently queried first. */
  private readonly known = new Map<string, Known>();
  private readonly asked = new Map<string, Promise<readonly string[]>>();

  constructor(resolver: Resolver) {
    this.resolver = resolver;
  }

  /**
   * The addresses of a name; after a failed query the previous ones.
   * @param seconds maximum age of an answer
   * @throws ExtensionError if there are none, or too many queries are pending
   */
  addresses(name: string, seconds: number): readonly string[] | Promise<readonly string[]> {
    const known = this.known.get(name);
    if (known !== undefined && Date.now() - known.askedAt < seconds * 1000) return known.addresses;
    return this.asked.get(name) ?? this.ask(name, known);
  }

  private ask(name: string, known: Known | undefined): Promise<readonly string[]> {
    if (this.asked.size >= AT_ONCE)
      throw new ExtensionError(`too many lookups (${AT_ONCE}): no look-up of "${name}"`);
    const answer = this.resolver(name)
      .catch((error: NodeJS.ErrnoException) => {
        if (known !== undefined) return known.addresses;
        throw new ExtensionError(`"${name}" has no address (${error.code ?? error.message})`);
      })
      .then((addresses) => {
        this.keep(name, addresses);
        return addresses;
      })
      .finally(() => this.asked.delete(name));
    this.asked.set(name, answer);
    return answer;
  }

  private keep(name: string, addresses: readonly string[]): void {
    this.known.delete(name);
    this.known.set(name, { addresses, askedAt: Date.now() });
    if (this.known.size <= MOST) return;
    for (const oldest of this.known.keys()) {
      this.known.delete(oldest);
      return;
    }
  }
}

const HOST_NAME = /^[0-9A-Za-z_.-]{1,253}$/;

/** The extension with the given resolver. */
export function gotoExtension(resolver: Resolver): Extension {
  /** Key of the private data with a program's names. */
  const names = {};
  const namesOf = (ctx: VclContext): FreshNames => {
    const cell = programPriv(ctx, names);
    cell.value ??= new FreshNames(resolver);
    return cell.value as FreshNames;
  };
  return {
    name: 'goto',
    help: 'backends found by a name while a request waits',
    functions: byName(
      row(
        'BACKEND dns_backend(STRING host, ACL allow, STRING port="80", DURATION ttl=10s, BACKEND tls=NULL)',
        (ctx, host: string | null, allow: VclAcl, port: string | null, ttl: number, tls: Director | null) =>
          dnsBackend(ctx, namesOf(ctx), host ?? '', allow, port ?? '', ttl, tls),
        'The backend at the first address of a host, a name or an address, that the acl allows, and at this port. A name ' +
          'is looked up again after ttl; while that fails, the previous addresses are used. With tls it is spoken to over TLS as that backend of the program is by its .ssl attributes, and its certificate must have the name of the host. Fails the transaction when there is no address that is allowed.',
        { waits: true },
      ),
    ),
  };
}

export const goto = gotoExtension(systemResolver);

function dnsBackend(
  ctx: VclContext,
  names: FreshNames,
  host: string,
  allow: VclAcl,
  port: string,
  ttl: number,
  tls: Director | null,
): Director | Waiting {
  const hostHeader = host.toLowerCase();
  const backend = tlsBackend(ctx, 'goto.dns_backend()', tls, port);
  const tlsAs = backend === null ? {} : { tlsAs: { backend, name: hostHeader } };
  const found = (addresses: readonly string[]): Director => {
    const allowed = addresses.find((address) => isAllowed(allow, address));
    if (allowed === undefined) throw new ExtensionError(`"${host}" has no address that ${allow.name} allows`);
    if (ctx.vcl.makeBackend === null) throw new ExtensionError('backends cannot be created here');
    return ctx.vcl.makeBackend({ host: allowed, port, hostHeader, ...tlsAs }, false);
  };
  if (!/^\d{1,5}$/.test(port)) throw new ExtensionError(`"${port}" is not a valid port`);
  if (isIP(host) !== 0) return found([host]);
  if (!HOST_NAME.test(host)) throw new ExtensionError(`"${host}" is not a valid host name`);
  const addresses = names.addresses(hostHeader, ttl);
  if (!(addresses instanceof Promise)) return found(addresses);
  return awaited('goto.dns_backend', addresses.then(found), CALL_TIMEOUT);
}

/** An IPv4-mapped IPv6 address is checked as the IPv4 address that is reached. */
function isAllowed(allow: VclAcl, address: string): boolean {
  const bytes = addressBytes(address);
  return bytes !== null && allow.allows(new VclIp(formatAddress(bytes), 0));
}
