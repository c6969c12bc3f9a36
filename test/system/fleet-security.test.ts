// Messages of the bus are untrusted input, and the connection is as safe as its operator makes it: hostile messages
// are counted and ignored, credentials come from files and appear nowhere, TLS is verified.
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FleetNames, LONGEST_MESSAGE } from '../../daemon/fleet/fleet-names.ts';
import { makeAccounts } from '../harness/nats-accounts.ts';
import { NATS_MISSING, NatsServer } from '../harness/nats-server.ts';
import { Origin, respond } from '../harness/origin.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-fleet-security');
const names = new FleetNames('shop');
/** Parts of bans. */
const WORDS = [
  'obj.status',
  'obj.http.x',
  'req.url',
  'obj.age',
  '==',
  '~',
  '!~',
  '>',
  '&&',
  '200',
  '1d',
  '(',
  '[a',
  '.*',
];
const running: RunningProxy[] = [];
let origin: Origin;

async function node(name: string, server: NatsServer, ...args: string[]): Promise<RunningProxy> {
  const proxy = await startProxy(box, {
    backend: `127.0.0.1:${origin.port}`,
    dir: box.path(name),
    args: [
      '--fleet',
      server.url.replace('127.0.0.1', 'localhost'),
      '--fleet-name',
      'shop',
      '--node',
      name,
      ...args,
    ],
    params: { fleet_timeout: '1' },
  });
  running.push(proxy);
  return proxy;
}
const ban = async (proxy: RunningProxy): Promise<string> =>
  (await proxy.adm('ban', 'obj.status', '==', '1')).stdout;

const missing = NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`;
describe.skipIf(NATS_MISSING !== null)(`the bus${missing}`, () => {
  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', () => respond('200 OK', { 'Cache-Control': 'max-age=3600' }, 'ok'));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((proxy) => proxy.stop()));
  });
  afterAll(async () => {
    await origin?.close();
    await box.dispose();
  });

  it('may bring what it likes: it is counted, and does nothing', async () => {
    const server = await NatsServer.start(box);
    const proxy = await node('a', server);
    await proxy.get('/');
    const client = await server.client();
    const js = jetstream(client);
    const hostile = [
      Buffer.alloc(0),
      randomBytes(1000),
      Buffer.alloc(60_000, '['),
      Buffer.from('{"v":2,"kind":"purge","url":"127.0.0.1/"}'),
      Buffer.from('{"v":1,"kind":"vcl.use","name":"boot"}'),
      Buffer.from('{"v":1,"kind":"ban","expression":"obj.status ~ ("}'),
      Buffer.from('{"v":1,"kind":"ban","expression":"obj.http.x ~ (a+)+$"}'),
      Buffer.from('{"v":1,"kind":"ban","expression":["obj.status"]}'),
      Buffer.from('{"v":1,"kind":"ban","expression":"client.ip == 1"}'),
      Buffer.from('{"__proto__":{"v":1},"kind":"purge","url":"x/"}'),
    ];
    for (const data of hostile) await js.publish(names.invalidate('evil'), data);
    for (let i = 0; i < 500; i++) await js.publish(names.invalidate('evil'), randomBytes(i));
    // Where nodes speak of themselves.
    for (const data of [randomBytes(20), Buffer.from('{"v":1,"seq":1e99}'), Buffer.alloc(9000, 'x')]) {
      client.publish(names.applied('a', 'evil'), data);
      client.publish(`$KV.${names.nodes}.evil`, data);
    }
    await client.flush();
    await proxy.counterReaches('FLEET.refused', 510);
    const counters = await proxy.counters();
    expect([counters['FLEET.applied'], counters['MGT.child_died'], counters['FLEET.nodes']]).toEqual([
      0, 0, 1,
    ]);
    expect(counters['MAIN.n_object']).toBe(1);
    const { stderr } = proxy.daemon;
    expect(stderr).toMatch(/Fleet: message 1 of evil refused: not JSON\n/);
    expect(stderr.match(/refused/g)?.length).toBeLessThan(3);
    // Of the right form, with anything in it.
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...WORDS),
      fc.string({ minLength: 5000 }),
    );
    const odd = fc.sample(
      fc.record({
        v: fc.constant(1),
        kind: fc.constantFrom('purge', 'keys', 'ban'),
        soft: fc.boolean(),
        url: text,
        keys: text,
        expression: fc.oneof(fc.array(text), text),
      }),
      300,
    );
    const sent = odd
      .map((message) => JSON.stringify(message))
      .filter((m) => Buffer.byteLength(m) <= LONGEST_MESSAGE);
    for (const message of sent) await js.publish(names.invalidate('evil'), message);
    await until('all are read', async () => {
      const { 'FLEET.applied': applied = 0, 'FLEET.refused': refused = 0 } = await proxy.counters();
      return applied + refused === 510 + sent.length || null;
    });
    expect((await proxy.counters())['MGT.child_died']).toBe(0);
    expect(await ban(proxy)).toMatch(/^Fleet: stored /);
    await client.close();
  });

  it('wants a name and a password, which come from a file and are shown nowhere', async () => {
    const server = await NatsServer.start(box, 'user', ['--user', 'shop', '--pass', 'hush-hush']);
    const file = (text: string): string => {
      const path = box.path('user');
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const good = await node('a', server, '--fleet-user', file('shop:hush-hush\n'));
    expect(await ban(good)).toMatch(/^Fleet: stored 1, /);
    const bad = await node('b', server, '--fleet-user', file('shop:hush-tush\n'));
    expect(await ban(bad)).toMatch(/^Applied here, not stored for the fleet\./);
    expect(bad.daemon.stderr).toMatch(/Fleet: cannot join the bus: .*[Aa]uthorization/);
    for (const { daemon } of [good, bad]) expect(daemon.stderr).not.toMatch(/hush|tush/);
  });

  it('wants credentials that its operator vouches for, which are shown nowhere', async () => {
    const { config, creds, stranger, secrets } = makeAccounts(box);
    const server = await NatsServer.start(box, 'accounts', ['-c', config]);
    const good = await node('a', server, '--fleet-creds', creds);
    expect(await ban(good)).toMatch(/^Fleet: stored 1, /);
    const program = box.path('site.vcl');
    writeFileSync(program, 'vcl 4.1; backend default none;');
    expect((await good.adm('fleet.load', 'site', program)).stdout).toMatch(
      /^Fleet: stored site, loaded by 1 of 1 node/,
    );
    const bad = await node('b', server, '--fleet-creds', stranger);
    expect(await ban(bad)).toMatch(/^Applied here, not stored for the fleet\./);
    expect(bad.daemon.stderr).toMatch(/Fleet: cannot join the bus: .*[Aa]uthorization/);
    const client = await server.client(readFileSync(creds));
    const kv = await new Kvm(client).open(names.nodes);
    const reported = (await kv.get('a'))?.string() ?? '';
    expect(JSON.parse(reported)).toMatchObject({ v: 1, current: true });
    await client.close();
    for (const secret of secrets)
      for (const text of [
        good.daemon.stderr,
        bad.daemon.stderr,
        reported,
        (await good.adm('fleet.nodes', '-j')).stdout,
      ])
        expect(text).not.toContain(secret);
  });

  it.each([
    ['writable by others', '--fleet-user', 'shop:x\n', 0o622, /--fleet-user .*: Others may write to it/],
    [
      'without a password',
      '--fleet-user',
      'shop\n',
      0o600,
      /--fleet-user .*: its first line is not name:password/,
    ],
    ['no creds file', '--fleet-creds', 'shop:x\n', 0o600, /--fleet-creds .*: not a creds file of NATS/],
  ])('refuses a file that is %s', async (_, option, text, mode, message) => {
    const path = box.path('user');
    writeFileSync(path, text);
    chmodSync(path, mode);
    const start = startProxy(box, {
      backend: '127.0.0.1:1',
      dir: box.path('refused'),
      args: ['--fleet', 'nats://127.0.0.1:1', '--fleet-name', 'shop', option, path],
    });
    await expect(start).rejects.toThrow(message);
  });

  it('is reached over TLS, and only if its certificate is signed by the authority', async () => {
    const [cert, key] = await certificate();
    const [other] = await certificate();
    const server = await NatsServer.start(box, 'tls', ['--tls', '--tlscert', cert, '--tlskey', key]);
    expect(await ban(await node('a', server, '--fleet-ca', cert))).toMatch(/^Fleet: stored 1, /);
    const stranger = await node('b', server, '--fleet-ca', other);
    expect(await ban(stranger)).toMatch(/^Applied here, not stored for the fleet\./);
    expect(stranger.daemon.stderr).toMatch(/Fleet: cannot join the bus: .*certificate/);
  });

  it('keeps a publisher to his subject: what he may not publish is certainly not stored', async () => {
    const config = box.path('permissions');
    writeFileSync(
      config,
      `authorization { users: [ { user: "a", password: "a", permissions: {
        publish: ["$JS.API.>", "proxyd.shop.applied.*.a", "$KV.proxyd_shop_nodes.a"],
        subscribe: ["_INBOX.>", "proxyd.shop.applied.a.*", "$KV.proxyd_shop_nodes.*"] } } ] }`,
    );
    const server = await NatsServer.start(box, 'permissions', ['-c', config]);
    const path = box.path('user');
    writeFileSync(path, 'a:a\n', { mode: 0o600 });
    const proxy = await node('a', server, '--fleet-user', path);
    expect(await ban(proxy)).toMatch(
      /^Applied here, not stored for the fleet\.\nFleet: not stored: .*[Pp]ermissions/,
    );
    // It reads programs, and gives none.
    const program = box.path('site.vcl');
    writeFileSync(program, 'vcl 4.1; backend default none;');
    expect((await proxy.adm('fleet.load', 'site', program)).stdout).toMatch(
      /^Nothing was changed: .*[Pp]ermissions/,
    );
    expect((await proxy.adm('fleet.list')).stdout).toBe('The fleet has no programs.\n\n');
  });
});

/** A certificate that signs itself, and its key. */
async function certificate(): Promise<[cert: string, key: string]> {
  const [cert, key] = [box.path('cert'), box.path('key')];
  const { code, stderr } = await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', key, '-out', cert, '-subj', '/CN=bus', '-addext', 'subjectAltName=DNS:localhost'],
  ]);
  if (code !== 0) throw new Error(stderr);
  return [cert, key];
}
