// Access control lists: the most specific network that holds the address decides. With +log the outcome is
// recorded as Varnish does.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import { familyBytes, type VclIp } from './ip.ts';
import { type Network, NetworkRanges } from './network-ranges.ts';

interface AclEntry extends Network {
  readonly negate: boolean;
  readonly shown: string;
}

export class VclAcl {
  readonly name: string;
  readonly log: boolean;
  readonly #v4: NetworkRanges<AclEntry>;
  readonly #v6: NetworkRanges<AclEntry>;

  constructor(name: string, log: boolean, networks: readonly (readonly [string, number, boolean, string])[]) {
    this.name = name;
    this.log = log;
    const entries = networks.map(([text, bits, negate, shown]) => ({
      bytes: familyBytes(text) ?? [],
      bits,
      negate,
      shown,
    }));
    const family = (length: 4 | 16): NetworkRanges<AclEntry> =>
      new NetworkRanges(
        entries.filter(({ bytes }) => bytes.length === length),
        length,
      );
    this.#v4 = family(4);
    this.#v6 = family(16);
  }

  find(ip: VclIp): AclEntry | null {
    const { bytes } = ip;
    return (bytes.length === 4 ? this.#v4 : this.#v6).find(bytes);
  }
}

export function aclMatch(ctx: VclContext, acl: VclAcl, ip: VclIp): boolean {
  const n = acl.find(ip);
  if (acl.log) {
    if (n === null) ctx.log.put(Tag.VCL_acl, `NO_MATCH ${acl.name}`);
    else ctx.log.put(Tag.VCL_acl, `${n.negate ? 'NEG_MATCH' : 'MATCH'} ${acl.name} ${n.shown}`);
  }
  return n !== null && !n.negate;
}
