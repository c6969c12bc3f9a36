import { X509Certificate } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Bench } from './fixture.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('a manager of certificates', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.start();
  });
  afterEach(() => bench.close());

  test.each(['http-01', 'tls-alpn-01'] as const)('obtains one by %s', async (type) => {
    const { ca } = bench;
    const { worker, events, path, manager } = await bench.run({
      names: ['a.example', 'b.example'],
      types: [type],
    });
    await expect.poll(() => worker.installed.size).toBe(1);
    const { id, chain, key, entry } = worker.installed.get('auto:a.example')!;
    const leaf = new X509Certificate(chain);
    expect(leaf.subjectAltName).toBe('DNS:a.example, DNS:b.example');
    expect(key).toContain('PRIVATE KEY');
    expect([id, entry.names]).toEqual(['auto:a.example', ['a.example', 'b.example']]);
    expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(ca.orders).toHaveLength(1);
    expect(ca.accounts[0]?.contact).toEqual(['mailto:ops@a.example']);
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]).toMatch(/^Certificate for a.example, b.example obtained, valid until 2030-/);
    await expect.poll(() => worker.challenges).toEqual({ http: {}, alpn: {} });
    expect(manager.status()[0]).toMatchObject({ state: 'valid', problem: null });
    expect(statSync(path).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(path)) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  });

  test('presents what it has after a new start, and asks for nothing', async () => {
    const { ca } = bench;
    const first = await bench.run();
    await expect.poll(() => first.events.length).toBe(1);
    await first.close();
    const before = ca.requests.length;
    const second = await bench.run({ path: first.path });
    expect(second.worker.installed.get('auto:a.example')?.chain).toBe(
      first.worker.installed.get('auto:a.example')?.chain,
    );
    bench.time.skip(30 * DAY);
    await second.close();
    expect(ca.requests.slice(before).filter((text) => text.includes('new-'))).toEqual([]);
  });

  test('renews after two thirds of the life, and names what the order replaces', async () => {
    const { ca, time } = bench;
    const { worker, events } = await bench.run();
    await expect.poll(() => events.length).toBe(1);
    const { chain } = worker.installed.get('auto:a.example')!;
    time.skip(59 * DAY);
    await expect.poll(() => ca.count('renewal')).toBeGreaterThan(0);
    expect(ca.orders).toHaveLength(1);
    time.skip(1.5 * DAY);
    await expect.poll(() => events.length).toBe(2);
    expect(ca.orders.map(({ replaces }) => replaces)).toEqual([
      null,
      expect.stringMatching(/^[\w-]{27}\.[\w-]+$/),
    ]);
    expect(worker.installed.get('auto:a.example')?.chain).not.toBe(chain);
  });

  test('renews at once when the authority suggests it', async () => {
    const { ca, time } = bench;
    const { events } = await bench.run();
    await expect.poll(() => events.length).toBe(1);
    const start = new Date(time.now() - DAY).toISOString();
    const end = new Date(time.now()).toISOString();
    const { length } = ca.orders;
    ca.renewal = () =>
      ca.orders.length > length
        ? null
        : { suggestedWindow: { start, end }, explanationURL: 'https://ca.example/why' };
    // It may not have set the timer for its next question yet.
    await expect
      .poll(() => {
        if (ca.orders.length === length) time.skip(3_600_000);
        return ca.orders.length;
      })
      .toBe(length + 1);
    await expect.poll(() => events.length).toBe(3);
    expect(events[1]).toContain('https://ca.example/why');
  });

  test('reports a refusal in the words of the authority, waits, and tries the other challenge', async () => {
    const { ca, time } = bench;
    const { events, worker, manager } = await bench.run();
    ca.targets = { ...ca.targets!, http: 1 };
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]).toMatch(
      /^No certificate for a.example: a.example: http-01: unauthorized: .*ECONNREFUSED.*; next attempt at 2030-/,
    );
    expect(manager.status()[0]).toMatchObject({
      state: 'refused',
      problem: expect.stringContaining('ECONNREFUSED'),
    });
    expect(ca.orders).toHaveLength(1);
    time.skip(7 * MINUTE);
    await expect.poll(() => worker.installed.size).toBe(1);
    expect(ca.orders).toHaveLength(2);
    expect(manager.status()[0]).toMatchObject({ state: 'valid', problem: null });
  });

  test('asks for ten orders a day at most, whatever the authority answers', async () => {
    const { ca, time } = bench;
    ca.offers = ['dns-01'];
    const { events } = await bench.run();
    const first = time.now();
    for (let i = 1; time.now() - first < 3 * DAY; i++) {
      await expect.poll(() => events.length).toBeGreaterThanOrEqual(i);
      time.skip(Math.max(0, Date.parse(events[i - 1]!.split(' at ')[1]!) - time.now()));
    }
    expect(ca.orders.length).toBeLessThanOrEqual(30);
    expect(ca.orders.length).toBeGreaterThan(8);
    expect(events[0]).toContain('the authority offers dns-01, and neither http-01 nor tls-alpn-01');
  });

  test('binds the account to an external one, and reports a missing one', async () => {
    const { ca } = bench;
    const hmacKey = Buffer.from('secret of the external account');
    ca.external = new Map([['kid-1', hmacKey]]);
    const without = await bench.run();
    await expect.poll(() => without.events.length).toBe(1);
    expect(without.events[0]).toContain('externalAccountRequired: which account of ours?; give the account');
    const wrong = await bench.run({ settings: { external: { kid: 'kid-1', hmacKey: Buffer.from('x') } } });
    await expect.poll(() => wrong.events[0]).toContain('the binding is wrong');
    const bound = await bench.run({ settings: { external: { kid: 'kid-1', hmacKey } } });
    await expect.poll(() => bound.worker.installed.size).toBe(1);
  });

  test('one certificate of listeners that want the same names', async () => {
    const names = ['a.example'];
    const { worker } = await bench.run({
      entries: [
        { id: null, frontend: null, names },
        { id: 'mine', frontend: 'admin', names },
        { id: null, frontend: 'other', names },
        { id: null, frontend: null, names: ['b.example', 'c.example'] },
        { id: null, frontend: null, names: ['b.example'] },
      ],
    });
    await expect
      .poll(() => [...worker.installed.keys()].sort())
      .toEqual(['auto:a.example', 'auto:a.example@other', 'auto:b.example', 'auto:b.example+2', 'mine']);
    expect(bench.ca.orders).toHaveLength(3);
  });

  test('installs again what could not be installed', async () => {
    let left = 2;
    const { worker, events } = await bench.run({
      install: async () => {
        if (left-- > 0) throw new Error('the worker refuses it');
      },
    });
    await expect
      .poll(() => events.filter((text) => text.includes('is not presented: the worker refuses it')).length)
      .toBe(2);
    await expect.poll(() => worker.installed.size).toBe(1);
    expect(bench.ca.orders).toHaveLength(1);
  });
});
