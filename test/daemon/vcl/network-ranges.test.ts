// The ranges of an acl against a search through all its networks.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Network, NetworkRanges } from '../../../daemon/vcl/runtime/network-ranges.ts';

function covers({ bytes, bits }: Network, address: readonly number[]): boolean {
  for (let bit = 0; bit < bits; bit++) {
    const mask = 0x80 >> (bit & 7);
    if (((bytes[bit >> 3] as number) & mask) !== ((address[bit >> 3] as number) & mask)) return false;
  }
  return true;
}

/** The most specific one; of equal ones the first. */
function scan(networks: readonly Network[], address: readonly number[]): Network | null {
  let best: Network | null = null;
  for (const network of networks)
    if (covers(network, address) && (best === null || network.bits > best.bits)) best = network;
  return best;
}

// Few different bytes, so that networks nest, touch and repeat.
const byte = fc.constantFrom(0, 1, 127, 128, 254, 255);

it.each([4, 16] as const)('finds what a search would, with addresses of %i bytes', (length) => {
  const address = fc.array(byte, { minLength: length, maxLength: length });
  const network = fc.record({ bytes: address, bits: fc.nat(length * 8) });
  fc.assert(
    fc.property(
      fc.array(network, { maxLength: 40 }),
      fc.array(address, { minLength: 1, maxLength: 20 }),
      (networks, addresses) => {
        const ranges = new NetworkRanges(networks, length);
        for (const one of [...addresses, ...networks.map(({ bytes }) => bytes)])
          expect(ranges.find(one)).toBe(scan(networks, one));
      },
    ),
    { numRuns: 400 },
  );
});
