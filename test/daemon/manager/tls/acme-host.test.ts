// Automatic certificates as the manager has them.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AcmeOptions } from '../../../../daemon/manager/options/acme-option.ts';
import {
  type AcmeHostParts,
  type AutomaticCertificates,
  challengeTypes,
  openAutomaticCertificates,
} from '../../../../daemon/manager/tls/acme-host.ts';
import { AcmeCa } from '../../../harness/acme-ca.ts';

interface Policy {
  readonly ciphers: string;
}

describe('automatic certificates', () => {
  let ca: AcmeCa;
  let root: string;
  const opened: AutomaticCertificates[] = [];
  const { STATE_DIRECTORY } = process.env;
  beforeEach(async () => {
    ca = await new AcmeCa().start();
    root = mkdtempSync(join(tmpdir(), 'acme-host-'));
    process.env.STATE_DIRECTORY = join(root, 'state');
    mkdirSync(join(root, 'state'), { mode: 0o700 });
    writeFileSync(join(root, 'ca.pem'), ca.issuer.root);
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    await ca.close();
    if (STATE_DIRECTORY === undefined) delete process.env.STATE_DIRECTORY;
    else process.env.STATE_DIRECTORY = STATE_DIRECTORY;
    rmSync(root, { recursive: true, force: true });
  });

  const open = async (
    names: readonly string[] = ['a.example'],
    options: Partial<AcmeOptions> = {},
    more: Partial<AcmeHostParts<Policy>> = {},
  ) => {
    const installed: unknown[] = [];
    const notes: string[] = [];
    const events: string[] = [];
    const certificates = await openAutomaticCertificates<Policy>(
      { email: 'ops@a.example', directory: ca.directory, eab: null, ca: join(root, 'ca.pem'), ...options },
      {
        dir: join(root, 'workdir'),
        version: '1.2.3',
        wanted: [{ id: null, frontend: null, names, policy: { ciphers: 'x' } }],
        fleet: null,
        store: {
          install: async (certificate) => {
            installed.push(certificate);
            return null;
          },
          setChallenges: async () => {},
        },
        listeners: () => [],
        isServing: () => true,
        log: (level, text) => void notes.push(`${level} ${text}`),
        happened: (text) => void events.push(text),
        ...more,
      },
    );
    opened.push(certificates);
    return { certificates, installed, notes, events };
  };

  test('are obtained from a private authority, kept in the state directory, and given to the store', async () => {
    writeFileSync(join(root, 'eab'), 'kid-1:c2VjcmV0IG9mIHRoZSBhY2NvdW50\n', { mode: 0o600 });
    ca.external = new Map([['kid-1', Buffer.from('secret of the account')]]);
    const first = await open(['A.example'], { eab: { file: join(root, 'eab') } });
    expect(first.installed).toEqual([]);
    first.certificates.start(null);
    await expect.poll(() => first.installed.length).toBe(1);
    expect(first.installed[0]).toEqual({
      id: 'auto:a.example',
      frontend: null,
      names: ['a.example'],
      policy: { ciphers: 'x' },
      chain: expect.stringMatching(/^-----BEGIN CERTIFICATE-----/),
      key: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----/),
    });
    await expect
      .poll(() => first.events)
      .toEqual([expect.stringMatching(/^Certificate for a.example obtained/)]);
    await first.certificates.close();
    expect(
      readdirSync(join(root, 'state/acme'))
        .map((name) => name.replace(/-.*/, ''))
        .sort(),
    ).toEqual(['account', 'entry']);
    const second = await open();
    expect(second.installed).toEqual(first.installed);
  });

  test('a directory that another daemon has, and files that are not what they should be', async () => {
    await open();
    await expect(open()).rejects.toThrow(
      `--acme: cannot keep keys in ${root}/state/acme: Another daemon (process ${process.pid}) uses it: give each a working directory of its own (or set STATE_DIRECTORY)`,
    );
    await expect(open(['a.example'], { ca: join(root, 'none') })).rejects.toThrow(
      /--acme-ca .*none: No such file/,
    );
    await expect(open(['*.a.example'])).rejects.toThrow('"*.a.example" cannot be had automatically');
    writeFileSync(join(root, 'eab'), 'nothing', { mode: 0o600 });
    await expect(open(['a.example'], { eab: { file: join(root, 'eab') } })).rejects.toThrow(
      `--acme-eab ${root}/eab: its first line is not kid:key`,
    );
  });

  test('a directory that others can read is refused', async () => {
    mkdirSync(join(root, 'state/acme'), { mode: 0o755 });
    await expect(open()).rejects.toThrow(/Others have access to it \(mode 755\): chmod 700/);
  });

  test('say why not, and try again when they are asked to', async () => {
    ca.offers = ['dns-01'];
    const { certificates, events, installed, notes } = await open();
    certificates.start(null);
    await expect.poll(() => events.length).toBe(1);
    expect(notes.at(-1)).toMatch(
      /^warning No certificate for a.example: a.example: the authority offers dns-01/,
    );
    expect(certificates.status()[0]).toMatchObject({
      id: 'auto:a.example',
      state: 'refused',
      notAfter: null,
      problem: expect.stringContaining('the authority offers dns-01'),
    });
    ca.offers = ['http-01'];
    expect(await certificates.retry('auto:b.example')).toBe(false);
    expect(await certificates.retry('auto:a.example')).toBe(true);
    await expect.poll(() => installed.length).toBe(1);
  });

  test('wait for a worker', async () => {
    let isServing = false;
    const { certificates, installed } = await open(undefined, undefined, { isServing: () => isServing });
    certificates.start(null);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(ca.requests).toEqual([]);
    isServing = true;
    certificates.workerServes();
    await expect.poll(() => installed.length).toBe(1);
  });

  test('without a secret of the fleet a warning says who can read the keys', async () => {
    const fleet = {
      servers: [],
      name: 'shop',
      node: null,
      creds: null,
      user: null,
      ca: null,
      secret: null,
      accept: 'all' as const,
    };
    const { notes } = await open(undefined, undefined, { fleet });
    expect(notes.join()).toContain('whoever can read the bus of the fleet can read the keys of certificates');
  });
});

test.each([
  [[], ['http-01']],
  [[{ port: 80 }], ['http-01']],
  [
    [{ port: 80 }, { port: 443, tls: true }],
    ['http-01', 'tls-alpn-01'],
  ],
  [[{ port: 443, tls: true }], ['tls-alpn-01', 'http-01']],
  [
    [{ port: 8080 }, { port: 8443, tls: true }],
    ['http-01', 'tls-alpn-01'],
  ],
])('of listeners %j the challenges are %j', (listeners, types) => {
  expect(challengeTypes(listeners)).toEqual(types);
});
