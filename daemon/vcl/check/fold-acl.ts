// Folds the networks of an acl (`+fold`): one inside a wider one is left out, and two halves become their whole. The
// result for every address stays the same, only the log names other networks. Negated entries are never folded, and no
// network is folded into a wider one across a negated entry between them.

import type { Reporter, Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import type { AclNetwork } from '../runtime/acl.ts';
import { formatAddress } from '../runtime/ip.ts';

/** A network with its place in the program. */
export interface PlacedNetwork extends AclNetwork {
  readonly span: Span;
}

/** Reported one by one at most; large acls are often made by machines. */
const REPORTS = 20;

/**
 * The remaining networks, ordered by address.
 * @param reporter gets a warning for each fold; null for none
 */
export function folded(networks: readonly PlacedNetwork[], reporter: Reporter | null): PlacedNetwork[] {
  const reports = new Reports(reporter);
  const out = [4, 16].flatMap((length) => {
    const family = networks.filter(({ bytes }) => bytes.length === length);
    return merged(outermost(family, reports), length * 8, reports);
  });
  reports.end();
  return out;
}

/** Without networks whose closest wider network has the same result. */
function outermost(networks: readonly PlacedNetwork[], reports: Reports): PlacedNetwork[] {
  const out: PlacedNetwork[] = [];
  const around: PlacedNetwork[] = [];
  for (const one of [...networks].sort(byAddress)) {
    for (let top = around.at(-1); top !== undefined && !contains(top, one); top = around.at(-1)) around.pop();
    const closest = around.at(-1);
    if (closest !== undefined && !closest.negate && !one.negate) {
      reports.add(MESSAGES.aclContained(one.shown, closest.shown), one.span, closest.span);
      continue;
    }
    out.push(one);
    around.push(one);
  }
  return out;
}

/** Merges pairs of halves, from the narrowest to the widest. */
function merged(networks: readonly PlacedNetwork[], width: number, reports: Reports): PlacedNetwork[] {
  const left = new Map<string, PlacedNetwork>();
  const levels: PlacedNetwork[][] = Array.from({ length: width + 1 }, () => []);
  for (const one of networks) {
    left.set(keyOf(one.bytes, one.bits), one);
    levels[one.bits]?.push(one);
  }
  for (let bits = width; bits > 0; bits--) {
    for (const low of levels[bits] as PlacedNetwork[]) {
      if (low.negate || hasBit(low.bytes, bits - 1)) continue;
      const high = left.get(keyOf(withBit(low.bytes, bits - 1), bits));
      const whole = keyOf(low.bytes, bits - 1);
      if (high === undefined || high.negate || left.has(whole)) continue;
      reports.add(MESSAGES.aclHalves(low.shown, high.shown, bits - 1), low.span, high.span);
      left.delete(keyOf(low.bytes, bits));
      left.delete(keyOf(high.bytes, bits));
      const shown = `"${formatAddress([...low.bytes])}"/${bits - 1} fixed: folded`;
      const both = { ...low, bits: bits - 1, shown };
      left.set(whole, both);
      levels[bits - 1]?.push(both);
    }
  }
  return [...left.values()].sort(byAddress);
}

class Reports {
  private count = 0;
  private last: Span | null = null;
  private readonly reporter: Reporter | null;

  constructor(reporter: Reporter | null) {
    this.reporter = reporter;
  }

  add(message: ReturnType<(typeof MESSAGES)['aclContained']>, span: Span, other: Span): void {
    this.count++;
    this.last = span;
    if (this.count > REPORTS) return;
    this.reporter?.warn(message, span, undefined, [{ message: 'and:', span: other }]);
  }

  end(): void {
    if (this.last === null || this.count <= REPORTS) return;
    this.reporter?.warn(MESSAGES.aclMoreFolds(this.count - REPORTS), this.last);
  }
}

/** Orders by address, then wider networks first. */
function byAddress(a: PlacedNetwork, b: PlacedNetwork): number {
  for (let i = 0; i < a.bytes.length; i++) {
    const difference = (a.bytes[i] as number) - (b.bytes[i] as number);
    if (difference !== 0) return difference;
  }
  return a.bits - b.bits;
}

function contains(wide: PlacedNetwork, { bytes, bits }: PlacedNetwork): boolean {
  if (bits < wide.bits) return false;
  return wide.bytes.every((byte, i) => {
    const mask = 0xff & (0xff00 >> Math.min(8, Math.max(0, wide.bits - 8 * i)));
    return (byte & mask) === ((bytes[i] as number) & mask);
  });
}

function hasBit(bytes: readonly number[], bit: number): boolean {
  return ((bytes[bit >> 3] as number) & (0x80 >> (bit & 7))) !== 0;
}

function withBit(bytes: readonly number[], bit: number): number[] {
  return bytes.map((byte, i) => (i === bit >> 3 ? byte | (0x80 >> (bit & 7)) : byte));
}

function keyOf(bytes: readonly number[], bits: number): string {
  return `${bytes.join('.')}/${bits}`;
}
