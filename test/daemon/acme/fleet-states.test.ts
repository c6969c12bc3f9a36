import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FleetStore } from '../../../daemon/acme/fleet-store.ts';
import { Leases } from '../../../daemon/acme/leases.ts';
import { BucketFollower } from '../../../daemon/fleet/bucket-follower.ts';
import type { StoreResult } from '../../../daemon/fleet/bus.ts';
import type { NodeRow } from '../../../daemon/fleet/fleet-rows.ts';
import { FakeBus } from '../fleet/fake-bus.ts';
import { AnsweringWorker, Bench, FastTime } from './fixture.ts';

/** A node's view of the bucket, which can be cut off. */
class Member implements FleetStore {
  cut = false;
  private readonly bucket: BucketFollower;
  private last: FleetStore['contents'] = null;

  constructor(bus: FakeBus, node: string, all: readonly string[]) {
    const nodes = () => all.map((name) => ({ node: name, self: name === node, state: 'current' }) as NodeRow);
    this.bucket = new BucketFollower({ bus, node, nodes, report: () => {} });
  }

  get node(): string {
    return this.bucket.node;
  }

  get contents(): FleetStore['contents'] {
    if (!this.cut) this.last = this.bucket.contents === null ? null : new Map(this.bucket.contents);
    return this.last;
  }

  others(): string[] {
    return this.bucket.others();
  }

  follow(changed: () => void): void {
    this.bucket.follow(() => {
      if (!this.cut) changed();
    });
  }

  async store(key: string, data: Uint8Array | null, revision: number): Promise<StoreResult> {
    return this.cut ? { state: 'unanswered', detail: 'timeout' } : this.bucket.store(key, data, revision);
  }
}

const NODES = ['web-1', 'web-2'];

describe('a fleet', () => {
  let bench: Bench;
  let bus: FakeBus;
  const member = (node: string) => ({ store: new Member(bus, node, NODES), secret: 'of the fleet' });
  beforeEach(async () => {
    bench = await Bench.start();
    bus = new FakeBus();
  });
  afterEach(() => bench.close());

  test('obtains one certificate, which all nodes present', async () => {
    const { ca } = bench;
    const one = await bench.run({ fleet: member('web-1') });
    const two = await bench.run({ fleet: member('web-2') });
    await expect.poll(() => [one.worker.installed.size, two.worker.installed.size]).toEqual([1, 1]);
    expect(one.worker.installed.get('auto:a.example')).toEqual(two.worker.installed.get('auto:a.example'));
    expect(ca.orders).toHaveLength(1);
    expect(ca.accounts).toHaveLength(1);
    await expect
      .poll(() => [...bus.certificates.keys()].map((key) => key.split('.')[0]).sort())
      .toEqual(['account', 'entry', 'seen', 'seen']);
    const stored = Buffer.concat([...bus.certificates.values()].map(({ data }) => Buffer.from(data)));
    expect(stored.includes('PRIVATE KEY')).toBe(false);
    bench.time.skip(61 * 86_400_000);
    await expect.poll(() => ca.orders.length).toBe(2);
    const chains = () => [one, two].map(({ worker }) => worker.installed.get('auto:a.example')?.chain);
    await expect.poll(() => new Set(chains()).size).toBe(1);
    await bench.time.skip(86_400_000);
    expect(ca.orders).toHaveLength(2);
  });

  test('answers challenges on every node before the authority looks', async () => {
    const { ca } = bench;
    const worker = new AnsweringWorker();
    const ports = await worker.start();
    const two = await bench.run({ fleet: member('web-2'), names: ['b.example'], worker });
    await expect.poll(() => bus.certificates.has('seen.web-2')).toBe(true);
    worker.delay = 100;
    const one = await bench.run({ fleet: member('web-1') });
    ca.targets = ports;
    await expect.poll(() => [one.worker.installed.size, two.worker.installed.size]).toEqual([1, 1]);
    expect(ca.orders).toHaveLength(2);
    await expect.poll(() => [worker.challenges.http, one.worker.challenges.http]).toEqual([{}, {}]);
    worker.close();
  });

  test('continues the order of a node that is gone', async () => {
    const { ca } = bench;
    const { store, secret } = member('web-1');
    let isHeld = true;
    ca.fault = (resource) => {
      if (resource !== 'finalize' || !isHeld) return undefined;
      isHeld = false;
      store.cut = true;
      return { kind: 'drop' };
    };
    const one = await bench.run({ fleet: { store, secret } });
    await expect.poll(() => isHeld).toBe(false);
    const two = await bench.run({ fleet: member('web-2') });
    await expect.poll(() => two.worker.installed.size).toBe(1);
    expect(ca.orders).toHaveLength(1);
    expect(ca.accounts).toHaveLength(1);
    expect(one.worker.installed.size).toBe(0);
  });

  test('a node with another secret neither disturbs nor orders', async () => {
    const one = await bench.run({ fleet: member('web-1') });
    await expect.poll(() => one.worker.installed.size).toBe(1);
    const two = await bench.run({ fleet: { store: member('web-2').store, secret: 'another' } });
    await expect.poll(() => two.events.join()).toContain('sealed with another secret');
    bench.time.skip(60_000);
    expect(two.worker.installed.size).toBe(0);
    expect(bench.ca.orders).toHaveLength(1);
  });
});

describe('a lease', () => {
  const time = new FastTime();
  const pair = async () => {
    const bus = new FakeBus();
    const stores = NODES.map((node) => new Member(bus, node, NODES));
    const leases = stores.map((store) => new Leases(store, time));
    for (const [i, store] of stores.entries()) store.follow(() => leases[i]?.observe());
    await new Promise(setImmediate);
    return { stores, leases: leases as [Leases, Leases] };
  };

  test('is had by one node at a time, and again when it is released', async () => {
    const { leases } = await pair();
    const first = await leases[0].take('x');
    expect(first).not.toBeNull();
    expect(await leases[1].take('x')).toBeNull();
    await first?.release();
    const second = await leases[1].take('x');
    expect(second).not.toBeNull();
    await second?.release();
  });

  test('lasts while its holder renews it', async () => {
    const { leases } = await pair();
    const first = await leases[0].take('x');
    const began = time.now();
    await expect.poll(() => time.now() - began).toBeGreaterThan(60_000);
    expect(await leases[1].take('x')).toBeNull();
    expect(first?.signal.aborted).toBe(false);
    await first?.release();
  });

  test('is lost by a node that is cut off before another takes over', async () => {
    const { leases, stores } = await pair();
    const first = await leases[0].take('x');
    await leases[1].take('x');
    stores[0]!.cut = true;
    let second = null;
    let lostFirst = false;
    for (let i = 0; second === null && i < 10_000; i++) {
      lostFirst = first?.signal.aborted ?? false;
      second = await leases[1].take('x');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(second).not.toBeNull();
    expect(lostFirst).toBe(true);
    await second?.release();
  });

  test('is lost by a holder that has slept as soon as it sees that another has it', async () => {
    const { leases, stores } = await pair();
    const first = await leases[0].take('x');
    const present = stores[1]!.contents!.get('lease.x')!;
    await stores[1]!.store('lease.x', Buffer.from('{"holder":"another"}'), present.revision);
    expect(first?.signal.aborted).toBe(true);
    await first?.release();
    expect(stores[1]!.contents!.has('lease.x')).toBe(true);
  });
});
