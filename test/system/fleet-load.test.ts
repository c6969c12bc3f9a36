// Clients on three proxies, and an editor who changes objects and purges them by key: once a purge is acknowledged, no proxy
// that the answer does not name as behind serves an older body, checked body by body. Also over a cluster of three servers
// of which one after another is killed. PROXYD_FLEET_SECONDS makes both longer.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { NATS_MISSING, type NatsServer, NatsServer as Server, startCluster } from '../harness/nats-server.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const SECONDS = Number(process.env.PROXYD_FLEET_SECONDS ?? 6);
const OBJECTS = 60;
const CLIENTS = 4;
const NODES = ['a', 'b', 'c'];
const box = new Sandbox('proxyd-fleet-load');
const running: RunningProxy[] = [];
let origin: Origin;

/** By object: what the origin has, and by node what it must have at least. */
const versions: number[] = Array(OBJECTS).fill(0);
const least = new Map(NODES.map((name) => [name, Array<number>(OBJECTS).fill(0)]));

async function nodes(servers: readonly NatsServer[], fleet: string): Promise<RunningProxy[]> {
  origin ??= await Origin.start();
  origin.on('*', ({ url }) => {
    const n = Number(url.slice(1));
    return respond('200 OK', { xkey: `o${n}` }, `${versions[n]}`);
  });
  const started = await Promise.all(
    NODES.map((name) =>
      startProxy(box, {
        program: `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
acl invalidators { "127.0.0.1"; }
include "invalidate.vcl";
sub vcl_backend_response { set beresp.ttl = 1h; }
`,
        dir: box.path(name),
        args: ['--fleet', servers.map(({ url }) => url).join(','), '--fleet-name', fleet, '--node', name],
        params: { fleet_timeout: '10', vsl_mask: '-VCL_call' },
      }),
    ),
  );
  running.push(...started);
  await Promise.all(started.map((proxy) => proxy.counterReaches('FLEET.nodes', 3)));
  return started;
}

/** Asks for one object after the other, and collects what is older than it may be. */
async function client(
  proxy: RunningProxy,
  name: string,
  until: () => boolean,
  old: string[],
): Promise<number> {
  const connection = await ClientConnection.open(proxy.port);
  let asked = 0;
  for (let n = Math.floor(Math.random() * OBJECTS); !until(); n = (n + 7) % OBJECTS) {
    const atLeast = least.get(name)?.[n] ?? 0;
    connection.send(requestText(`/${n}`));
    const { status, body } = await connection.response();
    if (status !== 200 || Number(body) < atLeast)
      old.push(`${name} /${n}: ${status} ${body}, at least ${atLeast}`);
    asked++;
  }
  connection.close();
  return asked;
}

interface Edits {
  stored: number;
  unconfirmed: number;
  behind: number;
}

async function editor(proxies: readonly RunningProxy[], until: () => boolean): Promise<Edits> {
  const edits = { stored: 0, unconfirmed: 0, behind: 0 };
  for (let n = 0; !until(); n = (n + 1) % OBJECTS) {
    const version = (versions[n] ?? 0) + 1;
    versions[n] = version;
    const proxy = proxies[n % proxies.length] as RunningProxy;
    const answer = await proxy.get('/', { method: 'PURGE', fields: { xkey: `o${n}` } });
    if (answer.status !== 200) {
      expect([answer.status, answer.reason]).toEqual([504, expect.stringMatching(/^Applied here, /)]);
      edits.unconfirmed++;
      continue;
    }
    edits.stored++;
    const [, missing = ''] = /not yet by (.*)$/.exec(field(answer, 'x-fleet') ?? '') ?? [];
    if (missing !== '') edits.behind++;
    for (const [name, held] of least) if (!missing.split(' ').includes(name)) held[n] = version;
  }
  return edits;
}

async function run(proxies: readonly RunningProxy[]): Promise<Edits> {
  const end = Date.now() + SECONDS * 1000;
  const until = (): boolean => Date.now() > end;
  const old: string[] = [];
  const [edits, ...asked] = await Promise.all([
    editor(proxies, until),
    ...proxies.flatMap((proxy, i) =>
      Array.from({ length: CLIENTS }, () => client(proxy, NODES[i] as string, until, old)),
    ),
  ]);
  expect(old.slice(0, 5)).toEqual([]);
  expect(asked.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(100 * SECONDS);
  return edits;
}

const missing = NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`;
describe.skipIf(NATS_MISSING !== null)(`under load${missing}`, () => {
  afterEach(async () => {
    await Promise.all(running.splice(0).map((proxy) => proxy.stop()));
  }, 60_000);
  afterAll(async () => {
    await origin?.close();
    await box.dispose();
  });

  it('nobody gets an older body after an acknowledged purge', {
    timeout: SECONDS * 1000 + 60_000,
  }, async () => {
    const server = await Server.start(box);
    const edits = await run(await nodes([server], 'one'));
    expect(edits.unconfirmed).toBe(0);
    expect(edits.stored).toBeGreaterThan(10 * SECONDS);
    await server.kill();
  });

  it('nor while the servers of the bus are killed one after the other', {
    timeout: SECONDS * 1000 + 120_000,
  }, async () => {
    const servers = await startCluster(box);
    const proxies = await nodes(servers, 'three');
    let over = false;
    const killing = (async () => {
      for (let i = 0; !over; i = (i + 1) % 3) {
        await delay(1500);
        await servers[i]?.kill();
        await delay(1000);
        await servers[i]?.start();
      }
    })();
    const edits = await run(proxies);
    over = true;
    await killing;
    expect(edits.stored).toBeGreaterThan(0);
    for (const proxy of proxies) {
      await expect.poll(async () => (await proxy.counters())['FLEET.behind'], { timeout: 30_000 }).toBe(0);
      // What was acknowledged has come to all by now.
      for (let n = 0; n < OBJECTS; n++) {
        const stored = Math.max(...[...least.values()].map((held) => held[n] ?? 0));
        expect(Number((await proxy.get(`/${n}`)).body)).toBeGreaterThanOrEqual(stored);
      }
    }
  });
});
