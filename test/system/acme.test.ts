// Certificates that a real daemon obtains by itself, from an authority of this machine that connects to its listeners.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AcmeStatus } from '../../daemon/acme/acme-interface.ts';
import { AcmeCa } from '../harness/acme-ca.ts';
import { NATS_MISSING, NatsServer } from '../harness/nats-server.ts';
import { freePort } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-acme');
let ca: AcmeCa;
let root: string;
let made = 0;

beforeAll(async () => {
  ca = await new AcmeCa().start();
  root = box.path('root.pem');
  writeFileSync(root, ca.issuer.root);
});
afterAll(async () => {
  await box.dispose();
  await ca.close();
});

/** Answers everything, so that a challenge that reached it would be refused. */
const PROGRAM = `vcl 4.1;
backend default none;
sub vcl_recv { return (synth(204)); }
`;

interface Node {
  readonly proxy: RunningProxy;
  readonly ports: { readonly http: number; readonly tls: number };
  readonly state: string;
}

async function start(args: readonly string[], former?: Node): Promise<Node> {
  const ports = former?.ports ?? { http: await freePort(), tls: await freePort() };
  const state = former?.state ?? box.path(`state-${made++}`);
  const proxy = await startProxy(box, {
    program: PROGRAM,
    port: ports.http,
    ...(former === undefined ? {} : { dir: former.proxy.dir }),
    args: ['-a', `tls=127.0.0.1:${ports.tls},HTTPS`, ...args],
    env: { XDG_STATE_HOME: state, STATE_DIRECTORY: state },
  });
  return { proxy, ports, state };
}

const acme = (): string[] => ['--acme', 'ops@a.example', '--acme-directory', ca.directory, '--acme-ca', root];

/** The certificate for a name; null if the handshake fails. */
function presented({ ports }: Node, name: string): Promise<PeerCertificate | null> {
  return new Promise((resolve) => {
    const socket = connect(
      { host: '127.0.0.1', port: ports.tls, servername: name, ca: ca.issuer.root },
      () => {
        resolve(socket.getPeerCertificate());
        socket.destroy();
      },
    );
    socket.on('error', () => resolve(null));
  });
}

async function list({ proxy }: Node): Promise<AcmeStatus[]> {
  const { stdout } = await proxy.adm('tls.acme.list', '-j');
  return (JSON.parse(stdout) as unknown[]).slice(3) as AcmeStatus[];
}

const obtained = (node: Node): Promise<unknown> =>
  until('the certificate is obtained', async () =>
    (await list(node)).every(({ state }) => state === 'valid'),
  );

describe.each(['http-01', 'tls-alpn-01'])('by %s', (type) => {
  it('a daemon obtains a certificate, presents it, keeps it, and has it after a kill', async () => {
    ca.offers = [type];
    const name = `${type}.example`;
    const orders = ca.orders.length;
    const ports = { http: await freePort(), tls: await freePort() };
    ca.targets = ports;
    const state = box.path(`state-${type}`);
    const args = [...acme(), '--cert', `auto:${name},www.${name}`];
    const proxy = await startProxy(box, {
      program: PROGRAM,
      port: ports.http,
      args: ['-a', `tls=127.0.0.1:${ports.tls},HTTPS`, ...args],
      env: { STATE_DIRECTORY: state },
    });
    const first = { proxy, ports, state };
    await obtained(first);
    const certificate = await presented(first, `www.${name}`);
    expect(certificate?.subjectaltname).toBe(`DNS:${name}, DNS:www.${name}`);
    expect(ca.orders.length - orders).toBe(1);
    expect((await proxy.adm('event.list')).stdout).toContain(`Certificate for ${name}, www.${name} obtained`);
    expect((await proxy.adm('tls.cert.list')).stdout).toContain(`auto:${name}`);

    // A validation is no error of a client.
    if (type === 'tls-alpn-01') await proxy.logged('acme-tls/1 validated', '-g', 'raw');
    expect(await proxy.log('-g', 'raw', '-i', 'SessClose')).not.toContain('RX_JUNK');

    const directory = join(state, 'acme');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const files = readdirSync(directory).filter((file) => file.endsWith('.json'));
    expect(files).toHaveLength(2);
    for (const file of files) expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    const entry = files.find((file) => file.startsWith('entry-')) ?? '';
    const { certificate: stored } = JSON.parse(readFileSync(join(directory, entry), 'utf8'));
    const bytes = stored.key.split('\n')[1];
    expect(bytes).toHaveLength(64);
    expect(proxy.daemon.stderr).not.toContain(bytes);

    process.kill(proxy.pid, 'SIGKILL');
    await until('it is gone', async () => !proxy.daemon.running);
    const second = await start(args, first);
    expect((await presented(second, name))?.fingerprint).toBe(certificate?.fingerprint);
    expect(ca.orders.length - orders).toBe(1);
    await second.proxy.stop();
  });
});

it('what the authority refuses is an event in its words, and is asked for again on demand', async () => {
  ca.offers = ['http-01'];
  ca.targets = { http: 1, tls: 1 };
  const node = await start([...acme(), '--cert', 'auto:refused.example']);
  await until('it is refused', async () => (await list(node))[0]?.state === 'refused');
  const words = /refused.example: http-01: unauthorized: refused.example: .*ECONNREFUSED/;
  expect((await list(node))[0]?.problem).toMatch(words);
  expect((await node.proxy.adm('event.list')).stdout).toMatch(words);
  expect((await node.proxy.adm('tls.acme.list')).stdout).toMatch(words);
  expect((await node.proxy.get('/.well-known/acme-challenge/none')).status).toBe(204);
  expect(await presented(node, 'refused.example')).toBeNull();
  ca.targets = node.ports;
  expect((await node.proxy.adm('tls.acme.retry', 'auto:refused.example')).code).toBe(0);
  await obtained(node);
  expect(await presented(node, 'refused.example')).not.toBeNull();
  await node.proxy.stop();
});

it('the file of -A names certificates, too, for one listener', async () => {
  const file = box.path('auto.conf');
  writeFileSync(file, 'pem-file = { cert = "auto" names = file.example }\n');
  const node = await start([...acme(), '-A', file]);
  ca.targets = node.ports;
  await node.proxy.adm('tls.acme.retry', 'all');
  await obtained(node);
  expect((await presented(node, 'file.example'))?.subjectaltname).toBe('DNS:file.example');
  await node.proxy.stop();
});

it.each([
  [['--cert', 'auto:a.example'], /needs --acme/],
  [['--acme', 'ops@a.example', '--cert', 'auto:*.a.example'], /"\*\.a\.example" cannot be had automatically/],
])('%j ends the start with words', async (args, words) => {
  await expect(start(args)).rejects.toThrow(words);
});

describe.skipIf(NATS_MISSING !== null)(
  `a fleet${NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`}`,
  () => {
    it('of two has one certificate by one order, also when a node is killed within it', async () => {
      const nats = await NatsServer.start(box);
      const secret = box.path('secret');
      writeFileSync(secret, 'one secret for all nodes\n', { mode: 0o600 });
      const args = (node: string): string[] => [
        ...acme(),
        '--cert',
        'auto:fleet.example',
        ...['--fleet', nats.url, '--fleet-name', 'shop', '--node', node, '--fleet-secret', secret],
      ];
      ca.targets = null;
      let finalized = (): void => {};
      const first = new Promise<void>((resolve) => (finalized = resolve));
      const orders = ca.orders.length;
      let isKilled = false;
      ca.fault = (resource) => {
        if (resource !== 'finalize' || isKilled) return undefined;
        isKilled = true;
        finalized();
        return { kind: 'hang' };
      };
      const one = await start(args('web-1'));
      await first;
      process.kill(one.proxy.pid, 'SIGKILL');
      const two = await start(args('web-2'));
      await obtained(two);
      const again = await start(args('web-1'), one);
      await obtained(again);
      const [a, b] = await Promise.all([two, again].map((node) => presented(node, 'fleet.example')));
      expect(a?.fingerprint).toBe(b?.fingerprint);
      expect(ca.orders.length - orders).toBe(1);
      await two.proxy.stop();
      await again.proxy.stop();
    });
  },
);
