import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Bench, type Running } from '../daemon/acme/fixture.ts';
import type { Fault, Resource } from '../harness/acme-ca.ts';

const HOUR = 3_600_000;
const RESOURCES: readonly Resource[] = [
  'directory',
  'nonce',
  'new-account',
  'new-order',
  'order',
  'authz',
  'challenge',
  'finalize',
  'certificate',
];
const FAULTS: readonly Fault[] = [
  { kind: 'drop' },
  { kind: 'drop-after' },
  { kind: 'garbage' },
  { kind: 'problem', status: 503, type: 'serverInternal', detail: 'later', headers: { 'Retry-After': '30' } },
];

describe('an authority that', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.start();
  });
  afterEach(() => bench.close());

  /** Lets time pass until there is a certificate. */
  const obtained = async ({ worker }: Running): Promise<void> => {
    for (let i = 0; i < 400 && worker.installed.size === 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      bench.time.skip(HOUR / 4);
    }
    expect(worker.installed.size).toBe(1);
  };

  test.each(RESOURCES)(
    'fails once at %s, in each way: the order is carried out all the same',
    async (resource) => {
      const { ca } = bench;
      for (const fault of FAULTS) {
        const made = ca.orders.length;
        const first = ca.count(resource) + 1;
        ca.fault = (which, count) => (which === resource && count === first ? fault : undefined);
        const running = await bench.run({ names: [`n${made}.example`] });
        await obtained(running);
        await running.close();
        expect([JSON.stringify(fault), ca.orders.length - made]).toEqual([JSON.stringify(fault), 1]);
      }
    },
  );

  test('refuses nonces is asked again with the fresh one, five times', async () => {
    const { ca } = bench;
    let left = 4;
    ca.fault = (resource) => (resource === 'new-order' && left-- > 0 ? { kind: 'bad-nonce' } : undefined);
    const running = await bench.run();
    await expect.poll(() => running.worker.installed.size).toBe(1);
    expect(running.events).toHaveLength(1);
    expect(ca.count('new-order')).toBe(5);
    ca.fault = (resource) => (resource === 'new-order' ? { kind: 'bad-nonce' } : undefined);
    const other = await bench.run({ names: ['b.example'] });
    await expect.poll(() => other.events[0]).toContain('5 nonces were refused: badNonce: a nonce of no use');
  });

  test('limits the rate is left alone until it wants to be asked', async () => {
    const { ca, time } = bench;
    const headers = { 'Retry-After': String((5 * HOUR) / 1000) };
    const detail = 'too many certificates already issued for "a.example"';
    ca.fault = (resource, count) =>
      resource === 'new-order' && count === 1
        ? { kind: 'problem', status: 429, type: 'rateLimited', detail, headers }
        : undefined;
    const { events, worker, manager } = await bench.run();
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]).toContain(`rateLimited: ${detail}; next attempt at 2030-01-01T05:0`);
    const [row] = manager.status();
    expect([row?.state, (row?.next ?? 0) * 1000 - time.now() > 4 * HOUR]).toEqual(['waiting', true]);
    time.skip(4.5 * HOUR);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(ca.count('new-order')).toBe(1);
    time.skip(HOUR / 2);
    await expect.poll(() => worker.installed.size).toBe(1);
  });

  test('does not answer is given up, and the order is continued later', async () => {
    const { ca, time } = bench;
    let isSilent = true;
    ca.fault = (resource) => (resource === 'finalize' && isSilent ? { kind: 'hang' } : undefined);
    const running = await bench.run();
    await expect.poll(() => ca.count('finalize')).toBe(1);
    time.skip(HOUR);
    await expect.poll(() => running.events.join()).toContain('no answer within 2 s');
    isSilent = false;
    await obtained(running);
    expect(ca.orders).toHaveLength(1);
  });

  test('is slow to issue is waited for', async () => {
    const { ca } = bench;
    ca.processing = 12;
    const running = await bench.run();
    await expect.poll(() => running.worker.installed.size).toBe(1);
    expect(ca.orders).toHaveLength(1);
  });

  test('issues for another key or other names is refused', async () => {
    const { ca } = bench;
    const first = await bench.run({ names: ['b.example'] });
    await obtained(first);
    const foreign = first.worker.installed.get('auto:b.example')!.chain;
    ca.tamper = () => foreign;
    const other = await bench.run({ names: ['a.example'] });
    await expect.poll(() => other.events[0]).toContain('the certificate that was issued is for another key');
    ca.tamper = () => 'Congratulations!';
    const none = await bench.run({ names: ['c.example'] });
    await expect.poll(() => ca.count('certificate')).toBeGreaterThan(2);
    bench.time.skip(HOUR);
    await expect.poll(() => none.events[0]).toContain('the certificate that was issued is not PEM');
    expect(other.worker.installed.size + none.worker.installed.size).toBe(0);
  });

  test('forgets its accounts gets the key again', async () => {
    const { ca, time } = bench;
    const running = await bench.run();
    await expect.poll(() => running.worker.installed.size).toBe(1);
    ca.accounts.length = 0;
    const { chain } = running.worker.installed.get('auto:a.example')!;
    time.skip(61 * 24 * HOUR);
    await expect.poll(() => running.events.join()).toContain('accountDoesNotExist');
    time.skip(HOUR);
    await expect.poll(() => running.worker.installed.get('auto:a.example')?.chain).not.toBe(chain);
    expect(ca.accounts).toHaveLength(1);
  });

  test('does not know the certificate that an order replaces gets the order without it', async () => {
    const { ca, time } = bench;
    const running = await bench.run();
    await expect.poll(() => running.worker.installed.size).toBe(1);
    ca.fault = (resource, count) =>
      resource === 'new-order' && count === 2
        ? { kind: 'problem', status: 409, type: 'alreadyReplaced', detail: 'replaced' }
        : undefined;
    time.skip(61 * 24 * HOUR);
    await expect.poll(() => ca.orders.length).toBe(2);
    expect(ca.orders[1]?.replaces).toBeNull();
  });

  test('sends control characters and endless words: events have neither', async () => {
    const { ca } = bench;
    const detail = `\u001b[31mred\r\n${'x'.repeat(5000)}`;
    ca.fault = (resource) =>
      resource === 'new-order'
        ? { kind: 'problem', status: 403, type: 'rejectedIdentifier', detail }
        : undefined;
    const { events } = await bench.run();
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]).toMatch(/^No certificate for a.example: rejectedIdentifier: \[31mred x+…; next/);
    expect(events[0]!.length).toBeLessThan(1200);
  });

  test('answers without end is cut off', async () => {
    const { ca } = bench;
    ca.tamper = () => 'x'.repeat(3 << 20);
    const { events } = await bench.run();
    await expect.poll(() => ca.count('certificate')).toBeGreaterThan(0);
    bench.time.skip(HOUR);
    await expect.poll(() => events.join()).toContain('an answer of more than 1048576 bytes');
  });
});
