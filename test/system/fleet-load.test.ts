// The guarantees of a fleet, small: test/harness/fleet/prove.js does the same at full size. Every body is checked
// against acknowledgements, and every acknowledgement against the stream.
import { describe, expect, it } from 'vitest';
import { PROOFS } from '../harness/fleet/proofs.ts';
import { NATS_MISSING } from '../harness/nats-server.ts';

const missing = NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`;
describe.skipIf(NATS_MISSING !== null)(`under load${missing}`, () => {
  it('nobody gets an older body after an acknowledged purge', async () => {
    const { broken } = await PROOFS.load({ clients: 4, objects: 60, edits: 200 });
    expect(broken).toEqual([]);
  });

  it('nor while servers of the bus, a manager and a worker are killed, and a node is cut off', async () => {
    const { broken } = await PROOFS.faults({ clients: 4, objects: 60, seconds: 24, every: 4 });
    expect(broken).toEqual([]);
  });

  it('a flood is applied by every node, in order', async () => {
    // Costs are measured at full size only.
    const { broken } = await PROOFS.flood({ seconds: 2, rate: 2000, most: Number.POSITIVE_INFINITY });
    expect(broken).toEqual([]);
  });

  it('noise does nothing, and is counted', async () => {
    const { broken } = await PROOFS.noise({ seconds: 4 });
    expect(broken).toEqual([]);
  });
});
