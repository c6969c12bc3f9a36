// The ranges of an acl against a search through all its networks.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Network, NetworkRanges, packedRanges } from '../../../daemon/vcl/runtime/acl.ts';
import { runs } from '../../harness/runs.ts';

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
        const numbered = networks.map((network, i) => ({ ...network, number: i + 1 }));
        // As the worker gets them.
        const sent = JSON.parse(JSON.stringify(packedRanges(numbered, length)));
        const ranges = new NetworkRanges(sent, length);
        for (const one of [...addresses, ...networks.map(({ bytes }) => bytes)])
          expect(numbered[ranges.find(one) - 1] ?? null).toBe(scan(numbered, one));
      },
    ),
    { numRuns: runs(400) },
  );
});
