// A fleet whose bus fails: partitions, deaths of the server, a stream that was trimmed, a start without any of it. What was
// acknowledged reaches every node before it serves what it held, and who was not told so is told that.
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FleetNames } from '../../daemon/fleet/fleet-names.ts';
import { field } from '../harness/http-client.ts';
import { NATS_MISSING, NatsServer } from '../harness/nats-server.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';
import { Relay } from '../harness/relay.ts';

const box = new Sandbox('proxyd-fleet-gaps');
const names = new FleetNames('shop');
let nats: NatsServer;
let origin: Origin;
/** The way of node b to the bus. */
let relay: Relay;
const running: RunningProxy[] = [];

/** What the origin has. */
let version = 0;

async function node(name: string, via: string, params: Record<string, string> = {}): Promise<RunningProxy> {
  const proxy = await startProxy(box, {
    program: `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
acl invalidators { "127.0.0.1"; }
include "invalidate.vcl";
sub vcl_backend_response { set beresp.ttl = 1h; }
`,
    dir: box.path(name),
    args: ['--fleet', via, '--fleet-name', 'shop', '--node', name],
    params: { fleet_timeout: '2', ...params },
  });
  running.push(proxy);
  return proxy;
}

async function body(proxy: RunningProxy, path: string): Promise<string> {
  return (await proxy.get(path)).body.toString();
}
async function purge(proxy: RunningProxy, path: string): Promise<string> {
  const { status, reason } = await proxy.get(path, { method: 'PURGE' });
  return `${status} ${reason}`;
}
const log = ({ daemon }: RunningProxy): string => daemon.stderr;
const away = (proxy: RunningProxy): Promise<unknown> =>
  until('away', async () => (await proxy.counters())['FLEET.connected'] === 0 || null);

describe.skipIf(NATS_MISSING !== null)(
  `gaps${NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`}`,
  () => {
    beforeAll(async () => {
      origin = await Origin.start();
      origin.on('*', ({ url }) => respond('200 OK', { xkey: 'all' }, `${url} v${version}`));
      nats = await NatsServer.start(box);
      relay = await Relay.start(() => nats.port);
    });
    afterEach(async () => {
      relay.goOn();
      await Promise.all(running.splice(0).map((proxy) => proxy.stop()));
    });
    afterAll(async () => {
      await relay?.close();
      await origin?.close();
      await box.dispose();
    });
    const relayed = (): string => `nats://127.0.0.1:${relay.port}`;

    it('a node that was cut off serves nothing old once it is back', async () => {
      const a = await node('a', nats.url);
      const b = await node('b', relayed());
      await a.counterReaches('FLEET.nodes', 2);
      for (const path of ['/1', '/2']) expect(await body(b, path)).toBe(`${path} v${version}`);
      relay.stop();
      version++;
      expect(await purge(a, '/1')).toBe('200 Purged');
      // Alone, it serves what it has; its own purges are not stored.
      await away(b);
      expect(await body(b, '/1')).toBe(`/1 v${version - 1}`);
      expect(await purge(b, '/2')).toMatch(/^504 Applied here, (not|perhaps) stored for the fleet$/);
      expect(await body(b, '/2')).toBe(`/2 v${version}`);
      relay.goOn();
      await until('current', async () => (await b.counters())['FLEET.behind'] === 0 || null);
      expect(await body(b, '/1')).toBe(`/1 v${version}`);
      const { 'FLEET.gaps': gaps, 'FLEET.flushed': flushed } = await b.counters();
      expect([gaps, flushed]).toEqual([1, 0]);
      expect(log(b)).toMatch(/Fleet: behind by 1 messages; old objects wait until they are applied/);
    });

    it('what the stream no longer has: everything older is banned, once', async () => {
      const a = await node('a', nats.url);
      const b = await node('b', relayed());
      await a.counterReaches('FLEET.nodes', 2);
      for (const path of ['/1', '/2']) await body(b, path);
      relay.stop();
      await away(b);
      version++;
      for (let i = 0; i < 5; i++) expect(await purge(a, '/1')).toBe('200 Purged');
      const client = await nats.client();
      await (await jetstreamManager(client)).streams.purge(names.stream, { keep: 2 });
      await client.close();
      relay.goOn();
      await b.counterReaches('FLEET.flushed', 1);
      await until('current', async () => (await b.counters())['FLEET.behind'] === 0 || null);
      for (const path of ['/1', '/2']) expect(await body(b, path)).toBe(`${path} v${version}`);
      await purge(a, '/3');
      expect((await b.counters())['FLEET.flushed']).toBe(1);
      expect(log(b)).toMatch(
        /Fleet: the stream lacks \d+ to \d+: everything that was fetched before is banned/,
      );
    });

    it('a server that dies and comes again loses nothing that was acknowledged', async () => {
      const a = await node('a', nats.url, { fleet_timeout: '20' });
      const b = await node('b', nats.url);
      await a.counterReaches('FLEET.nodes', 2);
      await body(b, '/1');
      version++;
      await nats.kill();
      const purged = purge(a, '/1');
      await delay(500);
      await nats.start();
      expect(await purged).toBe('200 Purged');
      await until('current', async () => (await b.counters())['FLEET.behind'] === 0 || null);
      expect(await body(b, '/1')).toBe(`/1 v${version}`);
    });

    it('a stream that was removed is made again, and what was fetched before is banned', async () => {
      const a = await node('a', nats.url);
      const b = await node('b', nats.url);
      await a.counterReaches('FLEET.nodes', 2);
      await body(b, '/1');
      version++;
      const client = await nats.client();
      await (await jetstreamManager(client)).streams.delete(names.stream);
      await client.close();
      await b.counterReaches('FLEET.flushed', 1);
      expect(await body(b, '/1')).toBe(`/1 v${version}`);
      expect(log(b)).toMatch(
        /Fleet: the stream is another one: everything that was fetched before is banned/,
      );
      version++;
      expect(await purge(a, '/1')).toBe('200 Purged');
      expect(await body(b, '/1')).toBe(`/1 v${version}`);
    });

    it('no server at the start: it serves, says so, and joins when there is one', async () => {
      await nats.kill();
      const b = await node('b', nats.url);
      expect(log(b)).toMatch(/Fleet: the bus cannot be joined: .*; it is tried again/);
      await body(b, '/1');
      expect(await purge(b, '/2')).toBe('504 Applied here, not stored for the fleet');
      await nats.start();
      await b.counterReaches('FLEET.connected', 1);
      const a = await node('a', nats.url);
      await a.counterReaches('FLEET.nodes', 2);
      version++;
      expect(await purge(a, '/1')).toBe('200 Purged');
      expect(await body(b, '/1')).toBe(`/1 v${version}`);
    });

    it('what was published before it joined is applied to what it fetched before', async () => {
      const late = await NatsServer.start(box, 'late');
      const gate = await Relay.start(() => late.port);
      gate.stop();
      const a = await node('a', late.url);
      const b = await node('b', `nats://127.0.0.1:${gate.port}`);
      await body(b, '/1');
      version++;
      expect(await purge(a, '/1')).toBe('200 Purged');
      expect(await body(b, '/1')).toBe(`/1 v${version - 1}`);
      gate.goOn();
      await until('current', async () => (await b.counters())['FLEET.behind'] === 0 || null);
      expect(await body(b, '/1')).toBe(`/1 v${version}`);
      await gate.close();
    });

    it('a worker that dies begins anew, and goes on hearing', async () => {
      const a = await node('a', nats.url);
      const b = await node('b', nats.url);
      await a.counterReaches('FLEET.nodes', 2);
      const pid = b.workerPid() as number;
      process.kill(pid, 'SIGKILL');
      await until('another worker', async () => (b.workerPid() ?? pid) !== pid || null);
      await b.serving();
      await body(b, '/1');
      version++;
      expect(await purge(a, '/1')).toBe('200 Purged');
      expect(await body(b, '/1')).toBe(`/1 v${version}`);
      expect((await b.counters())['FLEET.gaps']).toBe(0);
    });

    it('a manager that stands still catches up, and is named as behind meanwhile', async () => {
      const a = await node('a', nats.url);
      const b = await node('b', nats.url);
      await a.counterReaches('FLEET.nodes', 2);
      await body(b, '/1');
      version++;
      process.kill(b.pid, 'SIGSTOP');
      try {
        const answer = await a.get('/1', { method: 'PURGE' });
        expect(field(answer, 'x-fleet')).toMatch(/^stored \d+, applied by 1 of 2 nodes, not yet by b$/);
        const asked = performance.now();
        await purge(a, '/2');
        // Nobody waits for it twice.
        expect(performance.now() - asked).toBeLessThan(700);
        await delay(6000);
      } finally {
        process.kill(b.pid, 'SIGCONT');
      }
      await until('new', async () => (await body(b, '/1')) === `/1 v${version}` || null);
      await until('current', async () => (await b.counters())['FLEET.behind'] === 0 || null);
      expect(field(await a.get('/1', { method: 'PURGE' }), 'x-fleet')).toMatch(/applied by 2 of 2 nodes$/);
    });

    it('two proxies of one name are told so', async () => {
      const a = await node('a', nats.url);
      const b = await node('a', nats.url);
      const said = 'Fleet: another proxy is called a too: give each a name with --node';
      await until(
        'both say so',
        async () => (log(a).includes(said) && log(b).includes(said)) || null,
        20_000,
      );
      await body(b, '/1');
      version++;
      expect(await purge(a, '/1')).toBe('200 Purged');
      await until('applied all the same', async () => (await body(b, '/1')) === `/1 v${version}` || null);
    });
  },
);
