// Access control lists: the most specific network that holds the address decides. With +log the outcome is
// recorded as Varnish does.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import { familyBytes, type VclIp } from './ip.ts';

interface Network {
  bytes: readonly number[];
  bits: number;
  negate: boolean;
  shown: string;
}

export class VclAcl {
  readonly name: string;
  readonly log: boolean;
  readonly #networks: Network[];

  constructor(name: string, log: boolean, networks: readonly (readonly [string, number, boolean, string])[]) {
    this.name = name;
    this.log = log;
    this.#networks = networks
      .map(([text, bits, negate, shown]) => ({ bytes: familyBytes(text) ?? [], bits, negate, shown }))
      .sort((a, b) => b.bits - a.bits);
  }

  find(ip: VclIp): Network | null {
    const bytes = ip.bytes;
    for (const n of this.#networks) {
      if (n.bytes.length === bytes.length && covers(n, bytes)) return n;
    }
    return null;
  }
}

function covers(n: Network, bytes: readonly number[]): boolean {
  const whole = n.bits >> 3;
  for (let i = 0; i < whole; i++) if (n.bytes[i] !== bytes[i]) return false;
  const rest = n.bits & 7;
  if (rest === 0) return true;
  const mask = (0xff00 >> rest) & 0xff;
  return ((n.bytes[whole] as number) & mask) === ((bytes[whole] as number) & mask);
}

export function aclMatch(ctx: VclContext, acl: VclAcl, ip: VclIp): boolean {
  const n = acl.find(ip);
  if (acl.log) {
    if (n === null) ctx.log.put(Tag.VCL_acl, `NO_MATCH ${acl.name}`);
    else ctx.log.put(Tag.VCL_acl, `${n.negate ? 'NEG_MATCH' : 'MATCH'} ${acl.name} ${n.shown}`);
  }
  return n !== null && !n.negate;
}
