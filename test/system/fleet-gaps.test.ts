// A fleet whose bus fails: partitions, crashes of the server, a trimmed stream, a start without any of it.
// Acknowledged invalidations reach every node before it serves affected objects, and unacknowledged ones are reported
// as such.
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FleetNames } from '../../daemon/fleet/fleet-names.ts';
import { fleetProgram } from '../harness/fleet/fleet-program.ts';
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
/** Two nodes of one fleet, for all tests that do not spoil them. */
let a: RunningProxy;
let b: RunningProxy;
/** Those that a test has started for itself. */
const running: RunningProxy[] = [];

/** The origin's versions. */
let version = 0;
/** Pages of a test: what others have left in the caches is not among them. */
let one = '';
let two = '';
let tests = 0;
/** Messages and counts of b before the test. */
let saidBefore = 0;
let before: Record<string, number> = {};

/** @param patience seconds in which an invalidation must be stored; short only where it will not be */
function start(name: string, via: string, patience = '40'): Promise<RunningProxy> {
  return startProxy(box, {
    program: fleetProgram(origin.port),
    dir: box.path(name),
    args: ['--fleet', via, '--fleet-name', 'shop', '--node', name],
    params: { fleet_timeout: patience, fleet_catch_up: '60' },
  });
}
async function node(name: string, via: string, patience?: string): Promise<RunningProxy> {
  const proxy = await start(name, via, patience);
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
/** A purge that is stored. Where its answer says that all nodes have applied it, `node` serves the new body at once; a slow
 * machine may need longer than the fleet waits, or know nothing of it yet, and then the answer says so. */
async function purgeReaches(node: RunningProxy, from: RunningProxy, path: string, nodes = 2): Promise<void> {
  const answer = await from.get(path, { method: 'PURGE' });
  expect(`${answer.status} ${answer.reason}`).toBe('200 Purged');
  const wanted = `${path} v${version}`;
  if (field(answer, 'x-fleet')?.endsWith(`applied by ${nodes} of ${nodes} nodes`))
    expect(await body(node, path)).toBe(wanted);
  else await until('the new body', async () => (await body(node, path)) === wanted);
}
const log = ({ daemon }: RunningProxy): string => daemon.stderr;
/** Waits for what a node logs, which travels beside its counters and answers. */
const output = (proxy: RunningProxy, wanted: RegExp, from = 0): Promise<unknown> =>
  until(`${wanted} in ${log(proxy)}`, () => wanted.test(log(proxy).slice(from)));
const saidByB = (wanted: RegExp): Promise<unknown> => output(b, wanted, saidBefore);
const counted = async (name: string): Promise<number> =>
  ((await b.counters())[`FLEET.${name}`] ?? 0) - (before[`FLEET.${name}`] ?? 0);
const current = (proxy: RunningProxy): Promise<unknown> =>
  until('current', async () => (await proxy.counters())['FLEET.behind'] === 0 || null);
async function set(proxy: RunningProxy, name: string, value: string): Promise<void> {
  expect((await proxy.adm('param.set', name, value)).code).toBe(0);
}
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
      [a, b] = await Promise.all([start('a', nats.url), start('b', `nats://127.0.0.1:${relay.port}`, '2')]);
    });
    beforeEach(async () => {
      for (const proxy of [a, b])
        await until('two nodes', async () => {
          const {
            'FLEET.connected': connected,
            'FLEET.nodes': nodes,
            'FLEET.behind': behind,
          } = await proxy.counters();
          return connected === 1 && nodes === 2 && behind === 0;
        });
      one = `/${++tests}/1`;
      two = `/${tests}/2`;
      saidBefore = log(b).length;
      before = await b.counters();
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

    it('a node that was cut off serves nothing old once it is back', async () => {
      for (const path of [one, two]) expect(await body(b, path)).toBe(`${path} v${version}`);
      relay.stop();
      version++;
      expect(await purge(a, one)).toBe('200 Purged');
      // Alone, it serves what it has; its own purges are not stored.
      await away(b);
      expect(await body(b, one)).toBe(`${one} v${version - 1}`);
      expect(await purge(b, two)).toMatch(/^504 Applied here, (not|perhaps) stored for the fleet$/);
      expect(await body(b, two)).toBe(`${two} v${version}`);
      relay.goOn();
      await current(b);
      expect(await body(b, one)).toBe(`${one} v${version}`);
      expect([await counted('gaps'), await counted('flushed')]).toEqual([1, 0]);
      await saidByB(/Fleet: behind by 1 messages; old objects are held until they are applied/);
    });

    it('what the stream no longer has: everything older is banned, once', async () => {
      for (const path of [one, two]) await body(b, path);
      relay.stop();
      await away(b);
      version++;
      for (let i = 0; i < 5; i++) expect(await purge(a, one)).toBe('200 Purged');
      const client = await nats.client();
      await (await jetstreamManager(client)).streams.purge(names.stream, { keep: 2 });
      await client.close();
      relay.goOn();
      await until('all is banned', async () => (await counted('flushed')) === 1);
      await current(b);
      for (const path of [one, two]) expect(await body(b, path)).toBe(`${path} v${version}`);
      await purge(a, `${one}/3`);
      expect(await counted('flushed')).toBe(1);
      await saidByB(/Fleet: the stream lacks \d+ to \d+: everything that was fetched before is banned/);
    });

    it('a server that dies and comes again loses nothing that was acknowledged', async () => {
      await body(b, one);
      version++;
      await nats.kill();
      const purged = purge(a, one);
      // Time for the purge to find no reader.
      await delay(500);
      await nats.start();
      expect(await purged).toBe('200 Purged');
      await current(b);
      expect(await body(b, one)).toBe(`${one} v${version}`);
    });

    it('a stream that was removed is made again, and what was fetched before is banned', async () => {
      await body(b, one);
      version++;
      const client = await nats.client();
      await (await jetstreamManager(client)).streams.delete(names.stream);
      await client.close();
      await until('all is banned', async () => (await counted('flushed')) === 1);
      expect(await body(b, one)).toBe(`${one} v${version}`);
      await saidByB(/Fleet: the stream was recreated: everything that was fetched before is banned/);
      version++;
      await purgeReaches(b, a, one);
    });

    it('no server at the start: it serves, reports it, and joins when there is one', async () => {
      await nats.kill();
      const c = await node('c', nats.url, '2');
      await output(c, /Fleet: cannot join the bus: .*; retrying/);
      await body(c, one);
      expect(await purge(c, two)).toBe('504 Applied here, not stored for the fleet');
      await nats.start();
      await c.counterReaches('FLEET.connected', 1);
      await a.counterReaches('FLEET.nodes', 3);
      version++;
      await purgeReaches(c, a, one, 3);
    });

    it('what was published before it joined is applied to what it fetched before', async () => {
      const late = await NatsServer.start(box, 'late');
      const gate = await Relay.start(() => late.port);
      gate.stop();
      const early = await node('early', late.url);
      const last = await node('last', `nats://127.0.0.1:${gate.port}`);
      await body(last, one);
      version++;
      expect(await purge(early, one)).toBe('200 Purged');
      expect(await body(last, one)).toBe(`${one} v${version - 1}`);
      gate.goOn();
      await current(last);
      expect(await body(last, one)).toBe(`${one} v${version}`);
      await gate.close();
    });

    it('a worker that dies starts again, and continues to receive', async () => {
      const pid = b.workerPid() as number;
      process.kill(pid, 'SIGKILL');
      await until('another worker', async () => (b.workerPid() ?? pid) !== pid || null);
      await b.serving();
      await body(b, one);
      version++;
      await purgeReaches(b, a, one);
      expect(await counted('gaps')).toBeLessThanOrEqual(0);
    });

    it('a manager that stands still catches up, and is named as lagging meanwhile', async () => {
      // A node that already lags is not waited for.
      const applied = async (): Promise<boolean> =>
        /applied by 2 of 2 nodes$/.test(field(await a.get(two, { method: 'PURGE' }), 'x-fleet') ?? '');
      await until('both apply what is purged', applied);
      await body(b, one);
      version++;
      await set(a, 'fleet_wait', '5');
      process.kill(b.pid, 'SIGSTOP');
      try {
        const timed = async (path: string): Promise<{ output: string | undefined; ms: number }> => {
          const begun = performance.now();
          const answer = await a.get(path, { method: 'PURGE' });
          return { output: field(answer, 'x-fleet'), ms: performance.now() - begun };
        };
        const first = await timed(one);
        expect(first.output).toMatch(/^stored \d+, applied by 1 of 2 nodes, not yet by b$/);
        expect(first.ms).toBeGreaterThan(4900);
        // It is not waited for twice.
        expect((await timed(two)).ms).toBeLessThan(0.8 * first.ms);
        await delay(2000);
      } finally {
        process.kill(b.pid, 'SIGCONT');
      }
      await set(a, 'fleet_wait', '1');
      await until('new', async () => (await body(b, one)) === `${one} v${version}` || null);
      await current(b);
      await until('both apply what is purged again', applied);
    });

    it('two proxies of one name are warned', async () => {
      const [left, right] = (await Promise.all([node('twin', nats.url), node('twin', nats.url)])) as [
        RunningProxy,
        RunningProxy,
      ];
      const output = 'Fleet: another proxy has the name twin, too: name each with --node';
      await until(
        'both say so',
        async () => (log(left).includes(output) && log(right).includes(output)) || null,
      );
      await body(right, one);
      version++;
      expect(await purge(left, one)).toBe('200 Purged');
      await until(
        'applied all the same',
        async () => (await body(right, one)) === `${one} v${version}` || null,
      );
    });
  },
);
