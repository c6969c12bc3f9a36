// A process that obtains a certificate is killed before each of its calls of the file system and before each request.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AcmeCa } from '../harness/acme-ca.ts';
import { freePort } from '../harness/origin.ts';

const CHILD = new URL('../harness/acme-child.js', import.meta.url).pathname;

interface Obtained {
  readonly calls: number;
  readonly requests: readonly number[];
  readonly chain: string;
}

interface Ended {
  readonly signal: string | null;
  readonly results: readonly Obtained[];
  readonly problems: string;
}

// Some hundred starts of a process.
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

  /** A process that obtains certificates for these names, one after another, and is killed at a call for the last one. */
  const run = (names: readonly string[], killAt: number): Promise<Ended> =>
    new Promise((resolve) => {
      const jobs = names.map((name, i) => ({
        path: join(root, name),
        names: [name],
        killAt: i === names.length - 1 ? killAt : 0,
      }));
      const wishes = { directory: ca.directory, root: ca.issuer.root, port, jobs };
      const child = spawn(process.execPath, [CHILD, JSON.stringify(wishes)]);
      let out = '';
      let problems = '';
      child.stdout.on('data', (bytes: Buffer) => (out += bytes));
      child.stderr.on('data', (bytes: Buffer) => (problems += bytes));
      child.on('close', (_, signal) => {
        const results = out.split('\n').slice(0, -1);
        resolve({ signal, problems, results: results.map((line) => JSON.parse(line) as Obtained) });
      });
    });
  const newName = () => `n${made++}.example`;
  const ordersFor = (name: string) => ca.orders.filter(({ names }) => names.includes(name));
  const accountsOf = (name: string) =>
    ca.accounts.filter(({ contact }) => String(contact) === `mailto:ops@${name}`);

  /** Killed before a call, it obtains the certificate when it is started again, by the same order. The process that does so
   * is the one that is killed next. */
  const survives = async (calls: Iterable<number>): Promise<void> => {
    let interrupted: { readonly name: string; readonly killAt: number } | null = null;
    for (const killAt of [...calls, 0]) {
      const name = newName();
      const names: string[] = interrupted === null ? [name] : [interrupted.name, name];
      const { signal, results, problems } = await run(names, killAt);
      expect([killAt, signal]).toEqual([killAt, killAt === 0 ? null : 'SIGKILL']);
      if (interrupted !== null) {
        const orders = ordersFor(interrupted.name);
        expect({ ...interrupted, problems }).toEqual({
          ...interrupted,
          problems: expect.not.stringContaining('No certificate'),
        });
        expect([interrupted.killAt, orders.length]).toEqual([interrupted.killAt, 1]);
        expect(accountsOf(interrupted.name)).toHaveLength(1);
        expect(results[0]?.chain).toBe(orders[0]?.certificate);
        expect(readdirSync(join(root, interrupted.name)).filter((file) => file.endsWith('.new'))).toEqual([]);
      }
      interrupted = { name, killAt };
    }
  };

  test('and is killed at any call', async () => {
    const calls = (await run([newName()], 0)).results[0]?.calls ?? 0;
    expect(calls).toBeGreaterThan(30);
    await survives(Array.from({ length: calls }, (_, i) => i + 1));
  });

  test('and is killed at any request, where the authority has no list of orders, and no order twice', async () => {
    ca.listsOrders = false;
    ca.reusesOrders = true;
    const requests = (await run([newName()], 0)).results[0]?.requests ?? [];
    expect(requests.length).toBeGreaterThan(8);
    // Before it, and once it is answered.
    await survives(new Set(requests.slice(0, -1).flatMap((call) => [call, call + 1])));
  });

  test('and is killed again and again, each time one call later', async () => {
    ca.listsOrders = true;
    ca.reusesOrders = false;
    const name = newName();
    let ended: Ended;
    let killAt = 0;
    do ended = await run([name], ++killAt);
    while (ended.signal === 'SIGKILL');
    expect(killAt).toBeGreaterThan(5);
    expect(ordersFor(name)).toHaveLength(1);
    expect(ended.results[0]?.chain).toBe(ordersFor(name)[0]?.certificate);
  });
});
