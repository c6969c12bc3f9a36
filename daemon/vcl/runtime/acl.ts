// Access control lists: the most specific network that contains the address decides. With +log the result is logged
// as in Varnish.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { VclIp } from './ip.ts';

export interface AclNetwork extends Network {
  readonly negate: boolean;
  /** Text in the log. */
  readonly shown: string;
}

/** An acl as passed from the compiler to the worker. */
export interface PackedAcl {
  readonly log: boolean;
  readonly v4: PackedRanges;
  readonly v6: PackedRanges;
  /** Texts of the networks in the log, as JSON that is parsed on first use; '' without +log. */
  readonly shown: string;
}

/** A network's number is twice its 1-based index, plus 1 if it is negated. */
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

  /** Whether a network contains the address, and the most specific one is not negated. */
  allows(ip: VclIp): boolean {
    const network = this.find(ip);
    return network !== 0 && !isNegated(network);
  }

  /** The number of the most specific network; 0 for none. */
  find(ip: VclIp): number {
    const { bytes } = ip;
    return (bytes.length === 4 ? this.#v4 : this.#v6).find(bytes);
  }

  /** Text of a network in the log. */
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

// The networks of an acl as disjoint address ranges, each with its most specific network: lookup is a binary search,
// whatever the number of networks and their nesting. Addresses are 32-bit words, one for IPv4 and four for IPv6.
//
// The compiler builds them, as sorting many networks takes long, and passes them to the worker as base64, so that a
// program with a hundred thousand networks loads quickly.

export interface Network {
  /** 4 or 16. */
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** 32-bit little-endian words in base64. */
interface PackedRanges {
  /** The first address of each range, ascending; a range ends where the next begins. */
  readonly starts: string;
  /** The number of each range's network, from 1; 0 between networks. */
  readonly owners: string;
}

/**
 * @param networks of one family with their numbers; of equal ones the first counts
 * @param length bytes of an address
 */
export function packedRanges<N extends Network & { readonly number: number }>(
  networks: readonly N[],
  length: 4 | 16,
): PackedRanges {
  const ranges = disjoint(networks, length);
  const words = length / 4;
  const starts = new Uint32Array(ranges.length * words);
  const owners = new Uint32Array(ranges.length);
  for (const [i, { start, owner }] of ranges.entries()) {
    starts.set(start, i * words);
    owners[i] = owner?.number ?? 0;
  }
  return { starts: packed(starts), owners: packed(owners) };
}

export class NetworkRanges {
  /** Words of an address. */
  readonly #words: number;
  readonly #starts: Uint32Array;
  readonly #owners: Uint32Array;

  /** @param length bytes of an address */
  constructor({ starts, owners }: PackedRanges, length: 4 | 16) {
    this.#words = length / 4;
    this.#starts = unpacked(starts);
    this.#owners = unpacked(owners);
  }

  /** The number of the most specific network that contains the address; 0 for none. */
  find(bytes: readonly number[]): number {
    let low = 0;
    let high = this.#owners.length;
    // Binary search for the number of ranges that begin at or before the address.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isAfter(middle, bytes)) high = middle;
      else low = middle + 1;
    }
    return low === 0 ? 0 : (this.#owners[low - 1] as number);
  }

  /** Whether a range begins after the address. */
  #isAfter(range: number, bytes: readonly number[]): boolean {
    const words = this.#words;
    for (let word = 0; word < words; word++) {
      const start = this.#starts[range * words + word] as number;
      const wanted = wordAt(bytes, 4 * word);
      if (start !== wanted) return start > wanted;
    }
    return false;
  }
}

function packed(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString('base64');
}

function unpacked(text: string): Uint32Array {
  const bytes = Buffer.from(text, 'base64');
  const words = new Uint32Array(bytes.length / 4);
  bytes.copy(new Uint8Array(words.buffer));
  return words;
}

/** An address as words, most significant first. */
type Words = readonly number[];

interface Range<N> {
  readonly start: Words;
  readonly owner: N | null;
}

interface Span<N> {
  readonly network: N;
  readonly first: Words;
  readonly last: Words;
}

const ALL = 0xffffffff;

function disjoint<N extends Network>(networks: readonly N[], length: number): Range<N>[] {
  const spans = networks
    .map((network) => spanOf(network, length))
    // Of networks with the same start the wider first, so that nested ones follow; the sort is stable.
    .sort((a, b) => compare(a.first, b.first) || a.network.bits - b.network.bits);
  const ranges: Range<N>[] = [];
  const begin = (start: Words, owner: N | null): void => {
    const before = ranges.at(-1);
    if (before !== undefined && compare(before.start, start) === 0) ranges.pop();
    ranges.push({ start, owner });
  };
  const open: Span<N>[] = [];
  /** Ends the networks before an address, or all of them. */
  const close = (until: Words | null): void => {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (until !== null && compare(top.last, until) >= 0) return;
      open.pop();
      const next = after(top.last);
      if (next !== null) begin(next, open.at(-1)?.network ?? null);
    }
  };
  for (const span of spans) {
    close(span.first);
    const around = open.at(-1);
    if (around?.network.bits === span.network.bits && compare(around.first, span.first) === 0) continue;
    begin(span.first, span.network);
    open.push(span);
  }
  close(null);
  return ranges;
}

function spanOf<N extends Network>(network: N, length: number): Span<N> {
  const { bytes, bits } = network;
  const first: number[] = [];
  const last: number[] = [];
  for (let at = 0; at < length; at += 4) {
    const word = wordAt(bytes, at);
    const kept = Math.max(0, Math.min(32, bits - 8 * at));
    const hosts = kept === 32 ? 0 : ALL >>> kept;
    first.push((word & ~hosts) >>> 0);
    last.push((word | hosts) >>> 0);
  }
  return { network, first, last };
}

function wordAt(bytes: readonly number[], at: number): number {
  return (
    (((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)) >>>
    0
  );
}

function compare(a: Words, b: Words): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The next address; null after the last of all. */
function after(address: Words): Words | null {
  const next = [...address];
  for (let i = next.length - 1; i >= 0; i--) {
    if (next[i] !== ALL) {
      next[i] = (next[i] as number) + 1;
      return next;
    }
    next[i] = 0;
  }
  return null;
}
