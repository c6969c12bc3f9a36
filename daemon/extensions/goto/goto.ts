// The extension goto: backends that no declaration names, by a name that is looked up while a request waits. An acl says
// which addresses may be reached: without one there are none.

import { isIP } from 'node:net';
import type { Director, VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { programPriv } from '../../contract/priv.ts';
import { awaited, CALL_TIMEOUT, type Waiting } from '../../contract/waiting.ts';
import type { VclAcl } from '../../vcl/runtime/acl.ts';
import { addressBytes, formatAddress, VclIp } from '../../vcl/runtime/ip.ts';
import { byName, row } from '../extension-rows.ts';
import { FreshNames, type Resolver, systemResolver } from './fresh-names.ts';

const HOST_NAME = /^[0-9A-Za-z_.-]{1,253}$/;

/** The extension with a resolver of the caller's. */
export function gotoExtension(resolver: Resolver): Extension {
  /** Key of the cell that has the names of a program. */
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
        'BACKEND dns_backend(STRING host, ACL allow, STRING port="80", DURATION ttl=10s)',
        (ctx, host: string | null, allow: VclAcl, port: string | null, ttl: number) =>
          dnsBackend(ctx, namesOf(ctx), host ?? '', allow, port ?? '', ttl),
        'The backend at the first address of a host, a name or an address, that the acl allows, and at this port. A name ' +
          'is looked up again after ttl; while that fails, it has the addresses it had. Fails the transaction when there is no address that is allowed.',
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
): Director | Waiting {
  const hostHeader = host.toLowerCase();
  const found = (addresses: readonly string[]): Director => {
    const allowed = addresses.find((address) => isAllowed(allow, address));
    if (allowed === undefined) throw new ExtensionError(`"${host}" has no address that ${allow.name} allows`);
    if (ctx.vcl.makeBackend === null) throw new ExtensionError('no backends can be made here');
    return ctx.vcl.makeBackend({ host: allowed, port, hostHeader }, false);
  };
  if (!/^\d{1,5}$/.test(port)) throw new ExtensionError(`"${port}" is no number of a port`);
  if (isIP(host) !== 0) return found([host]);
  if (!HOST_NAME.test(host)) throw new ExtensionError(`"${host}" is no name of a host`);
  const addresses = names.addresses(hostHeader, ttl);
  if (!(addresses instanceof Promise)) return found(addresses);
  return awaited('goto.dns_backend', addresses.then(found), CALL_TIMEOUT);
}

/** An IPv4 address in an IPv6 one is reached as itself, and judged so. */
function isAllowed(allow: VclAcl, address: string): boolean {
  const bytes = addressBytes(address);
  return bytes !== null && allow.allows(new VclIp(formatAddress(bytes), 0));
}
