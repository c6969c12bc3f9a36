// TLS of the manager with a stand-in for its supervisor.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { WorkerCall, WorkerState } from '../../../../daemon/link.ts';
import { type Options, parseOptions } from '../../../../daemon/manager/options/options.ts';
import { TlsService } from '../../../../daemon/manager/tls/tls-service.ts';
import type { CommandReply } from '../../../../protocol/messages.ts';
import { type MadeCertificate, makeCertificate } from '../../../harness/made-certificates.ts';

let dir: string;
let a: MadeCertificate;
let made: TlsService[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-tls-'));
  a = makeCertificate(dir, 'a.example');
});
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(() => {
  vi.useRealTimers();
  for (const service of made) service.close();
  made = [];
});

class StandIn {
  state: WorkerState = 'running';
  reply: CommandReply = { status: 200, body: '' };
  readonly calls: WorkerCall[] = [];
  starting: Promise<void> = Promise.resolve();
  settled(): Promise<void> {
    return this.starting;
  }
  async call(call: WorkerCall): Promise<CommandReply> {
    this.calls.push(call);
    return this.reply;
  }
}

const events: string[] = [];

async function service(...argv: string[]): Promise<{ tls: TlsService; worker: StandIn }> {
  const { options } = parseOptions(['-d', ...argv]) as { options: Options };
  const tls = await TlsService.create(options);
  const worker = new StandIn();
  tls.open(
    dir,
    worker,
    () => {},
    (text) => events.push(text),
  );
  made.push(tls);
  return { tls, worker };
}
const request = (id: string, frontend: string | null) => ({
  id,
  frontend,
  files: { cert: a.pem, key: null, ocsp: null },
  policy: {},
  isDefault: false,
});

it('updates a worker once it serves: it may have started with older certificates', async () => {
  const { tls, worker } = await service('-a', ':443,HTTPS');
  worker.state = 'starting';
  let started = (): void => {};
  worker.starting = new Promise((resolve) => {
    started = resolve;
  });
  await tls.store.stage(request('x', null));
  const committing = tls.store.commit();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(worker.calls).toEqual([]);
  worker.state = 'running';
  started();
  await committing;
  expect(worker.calls).toMatchObject([{ op: 'tls.set', settings: { certificates: [{ id: 'x' }] } }]);
});

it('takes the death of a worker for a refusal', async () => {
  const { tls, worker } = await service('-a', ':443,HTTPS');
  await tls.store.stage(request('x', null));
  worker.reply = { status: 400, body: 'CLI communication error (hdr)' };
  await expect(tls.store.commit()).rejects.toThrow('CLI communication error');
  expect(tls.state?.settings.certificates).toEqual([]);
});

it('presents global certificates where the file says nothing else and there are no others', async () => {
  const config = join(dir, 'tls.conf');
  writeFileSync(
    config,
    `frontend = { name = plain port = 1 }
     frontend = { name = both port = 2 match-global-certs = on }
     frontend = { name = own port = 3 match-global-certs = off }`,
  );
  const { tls } = await service('-A', config, '-a', 'a=:4,HTTPS');
  const matches = (): boolean[] => tls.state?.settings.frontends.map((one) => one.matchGlobalCerts) ?? [];
  const names = tls.state?.settings.frontends.map(({ name }) => name);
  expect(names).toEqual(['a', 'plain', 'both', 'own']);
  expect(matches()).toEqual([true, true, true, false]);
  for (const [i, name] of (names ?? []).entries()) await tls.store.stage(request(`x${i}`, name));
  await tls.store.commit();
  expect(matches()).toEqual([true, false, true, false]);
});

it.each([
  ['frontend = {\n  port = 1\n  pem-file = "DIR/none.pem" }', '3:3: DIR/none.pem: No such file or directory'],
  ['frontend = ":1"\npem-file = {\n cert = "CERT" }', '2:1: CERT: it has no private key; '],
  ['ciphers = "NONE"\nfrontend = ":1"', '1:1: ciphers "NONE": OpenSSL refuses it: '],
  ['frontend = { port = 1\n ecdh-curve = "none" }', '2:2: ecdh-curve "none": OpenSSL refuses it: '],
  ['frontend = ":1"\npem-file = { cert = "PEM"\n ciphersuites = "X" }', '3:2: ciphersuites "X": OpenSSL'],
  ['frontend = ":1"\n dhparam = "DIR/none"', '2:2: DIR/none: No such file or directory'],
  [
    'client-verify = optional client-verify-ca = "KEY" frontend = ":1"',
    '1:26: KEY: no certificate of an authority but ',
  ],
])('says where the file has what cannot be loaded: %j', async (text, message) => {
  const config = join(dir, 'tls.conf');
  const filled = (template: string): string =>
    template.replace('DIR', dir).replace('CERT', a.cert).replace('PEM', a.pem).replace('KEY', a.key);
  writeFileSync(config, filled(text));
  await expect(service('-A', config)).rejects.toThrow(`-A ${config}:${filled(message)}`);
});

it('has a default listener only where no other is named', async () => {
  const config = join(dir, 'tls.conf');
  writeFileSync(config, 'frontend = ":1"');
  expect((await service('-A', config)).tls.listeners.map(({ port }) => port)).toEqual([1]);
  expect((await service()).tls.listeners.map(({ port }) => port)).toEqual([80]);
  expect((await service()).tls.state).toBeUndefined();
});

it('has challenges also for a daemon without TLS', async () => {
  const { tls, worker } = await service('-a', ':80');
  await tls.setChallenges({ http: { t: 'x' }, alpn: {} });
  expect(worker.calls).toEqual([{ op: 'tls.challenges', challenges: { http: { t: 'x' }, alpn: {} } }]);
  expect(tls.state?.challenges.http).toEqual({ t: 'x' });
});

it('changes tickets every hour, and reports what expires every day', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const { tls, worker } = await service('-a', ':443,HTTPS', '--cert', a.pem);
  const first = tls.state?.tickets[0];
  vi.advanceTimersByTime(59 * 60_000);
  await Promise.resolve();
  expect(worker.calls).toEqual([]);
  vi.advanceTimersByTime(2 * 60_000);
  await vi.waitUntil(() => worker.calls.length > 0);
  expect(worker.calls).toEqual([{ op: 'tls.tickets', keys: tls.state?.tickets }]);
  expect(tls.state?.tickets[1]).toEqual(first);
  events.length = 0;
  vi.setSystemTime(Date.now() + 20 * 86_400_000);
  vi.advanceTimersByTime(2 * 60_000);
  expect(events).toEqual([expect.stringMatching(/^Certificate cert0 \(a\.example\) expires in 9 days/)]);
  tls.sample();
  expect(tls.groups[0]?.values).toMatchObject({ certs: 1, certs_expiring: 1, days_left: 9 });
});
