// Access control lists: the most specific network that holds the address decides. With +log the outcome is
// recorded as Varnish does.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { VclIp } from './ip.ts';
import { type Network, NetworkRanges, type PackedRanges, packedRanges } from './network-ranges.ts';

export interface AclNetwork extends Network {
  readonly negate: boolean;
  /** As the log shows it. */
  readonly shown: string;
}

/** A list as the compiler hands it to the worker. */
export interface PackedAcl {
  readonly log: boolean;
  readonly v4: PackedRanges;
  readonly v6: PackedRanges;
  /** How the log shows the networks, as a list in JSON that is read when the first is logged; '' without +log. */
  readonly shown: string;
}

/** A network's number is twice its place from 1, and odd where it is negated. */
const NUMBERS = 2;

export function packedAcl(log: boolean, networks: readonly AclNetwork[]): PackedAcl {
  const numbered = networks.map(({ bytes, bits, negate }, i) => ({
    bytes,
    bits,
    number: NUMBERS * (i + 1) + (negate ? 1 : 0),
  }));
  const family = (length: 4 | 16): PackedRanges =>
    packedRanges(
      numbered.filter(({ bytes }) => bytes.length === length),
      length,
    );
  return {
    log,
    v4: family(4),
    v6: family(16),
    shown: log ? JSON.stringify(networks.map(({ shown }) => shown)) : '',
  };
}

export class VclAcl {
  readonly name: string;
  readonly log: boolean;
  readonly #v4: NetworkRanges;
  readonly #v6: NetworkRanges;
  readonly #text: string;
  #shown: readonly string[] | null = null;

  constructor(name: string, { log, v4, v6, shown }: PackedAcl) {
    this.name = name;
    this.log = log;
    this.#v4 = new NetworkRanges(v4, 4);
    this.#v6 = new NetworkRanges(v6, 16);
    this.#text = shown;
  }

  /** Whether the network that decides, if there is one, lets the address in. */
  allows(ip: VclIp): boolean {
    const network = this.find(ip);
    return network !== 0 && !isNegated(network);
  }

  /** The number of the network that decides; 0 for none. */
  find(ip: VclIp): number {
    const { bytes } = ip;
    return (bytes.length === 4 ? this.#v4 : this.#v6).find(bytes);
  }

  /** How the log shows a network. */
  shown(network: number): string {
    this.#shown ??= JSON.parse(this.#text) as string[];
    return this.#shown[Math.floor(network / NUMBERS) - 1] ?? '';
  }
}

export function aclMatch(ctx: VclContext, acl: VclAcl, ip: VclIp): boolean {
  const network = acl.find(ip);
  if (acl.log) {
    const word = isNegated(network) ? 'NEG_MATCH' : 'MATCH';
    if (network === 0) ctx.log.put(Tag.VCL_acl, `NO_MATCH ${acl.name}`);
    else ctx.log.put(Tag.VCL_acl, `${word} ${acl.name} ${acl.shown(network)}`);
  }
  return network !== 0 && !isNegated(network);
}

function isNegated(network: number): boolean {
  return network % NUMBERS === 1;
}
