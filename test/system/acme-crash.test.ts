// A process that obtains a certificate is killed before each of its calls of the file system and before each request.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AcmeCa } from '../harness/acme-ca.ts';
import { freePort } from '../harness/origin.ts';

const CHILD = new URL('../harness/acme-child.js', import.meta.url).pathname;

interface Ended {
  readonly signal: string | null;
  readonly result: {
    readonly calls: number;
    readonly requests: readonly number[];
    readonly chain: string;
  } | null;
  readonly problems: string;
}

// Some eighty starts of a process.
describe('a process that obtains a certificate', { timeout: 600_000 }, () => {
  let ca: AcmeCa;
  let root: string;
  let port: number;
  let made = 0;
  beforeAll(async () => {
    ca = await new AcmeCa().start();
    root = mkdtempSync(join(tmpdir(), 'acme-crash-'));
    port = await freePort();
    ca.targets = { http: port, tls: 1 };
  });
  afterAll(async () => {
    await ca.close();
    rmSync(root, { recursive: true, force: true });
  });

  const run = (name: string, killAt: number): Promise<Ended> =>
    new Promise((resolve) => {
      const path = join(root, name);
      const wishes = { directory: ca.directory, root: ca.issuer.root, path, names: [name], port, killAt };
      const child = spawn(process.execPath, [CHILD, JSON.stringify(wishes)]);
      let out = '';
      let problems = '';
      child.stdout.on('data', (bytes: Buffer) => (out += bytes));
      child.stderr.on('data', (bytes: Buffer) => (problems += bytes));
      child.on('close', (_, signal) =>
        resolve({ signal, problems, result: out === '' ? null : (JSON.parse(out) as Ended['result']) }),
      );
    });
  const newName = () => `n${made++}.example`;
  const ordersFor = (name: string) => ca.orders.filter(({ names }) => names.includes(name));

  /** Killed before a call, it obtains the certificate when it is started again, by the same order. */
  const survives = async (killAt: number): Promise<void> => {
    const name = newName();
    const { length } = ca.accounts;
    expect((await run(name, killAt)).signal).toBe('SIGKILL');
    const { result, problems } = await run(name, 0);
    expect({ killAt, problems }).toEqual({ killAt, problems: expect.not.stringContaining('No certificate') });
    expect([killAt, ordersFor(name).length]).toEqual([killAt, 1]);
    expect(result?.chain).toBe(ordersFor(name)[0]?.certificate);
    expect(ca.accounts.length - length).toBe(1);
    expect(readdirSync(join(root, name)).filter((file) => file.endsWith('.new'))).toEqual([]);
  };

  test('and is killed at any call', async () => {
    const calls = (await run(newName(), 0)).result?.calls ?? 0;
    expect(calls).toBeGreaterThan(30);
    for (let killAt = 1; killAt <= calls; killAt++) await survives(killAt);
  });

  test('and is killed at any request, where the authority has no list of orders, and no order twice', async () => {
    ca.listsOrders = false;
    ca.reusesOrders = true;
    const requests = (await run(newName(), 0)).result?.requests ?? [];
    expect(requests.length).toBeGreaterThan(8);
    // Before it, and once it is answered.
    for (const killAt of new Set(requests.slice(0, -1).flatMap((call) => [call, call + 1])))
      await survives(killAt);
  });

  test('and is killed again and again, each time one call later', async () => {
    ca.listsOrders = true;
    ca.reusesOrders = false;
    const name = newName();
    let ended: Ended;
    let killAt = 0;
    do ended = await run(name, ++killAt);
    while (ended.signal === 'SIGKILL');
    expect(killAt).toBeGreaterThan(5);
    expect(ordersFor(name)).toHaveLength(1);
    expect(ended.result?.chain).toBe(ordersFor(name)[0]?.certificate);
  });
});
