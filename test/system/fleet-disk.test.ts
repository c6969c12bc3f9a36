// A node of a fleet with a disk tier: what it missed while it was down is applied before its old objects are served.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetProgram } from '../harness/fleet/fleet-program.ts';
import { field } from '../harness/http-client.ts';
import { NATS_MISSING, NatsServer } from '../harness/nats-server.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';
import { Relay } from '../harness/relay.ts';

const box = new Sandbox('proxyd-fleet-disk');
const path = box.path('tier');
let nats: NatsServer;
let origin: Origin;
/** The way of node b, which has the disk, to the bus. */
let relay: Relay;
let a: RunningProxy;
let b: RunningProxy;
let version = 0;
let starts = 0;

function start(
  name: string,
  port: number,
  disk: readonly string[],
  params: Record<string, string> = {},
): Promise<RunningProxy> {
  return startProxy(box, {
    program: fleetProgram(origin.port),
    dir: box.path(`${name}${starts++}`),
    args: ['--fleet', `nats://127.0.0.1:${port}`, '--fleet-name', 'shop', '--node', name],
    storage: ['malloc,16m', ...disk],
    params: { fleet_timeout: '40', fleet_catch_up: '60', ...params },
  });
}
const startB = (params: Record<string, string> = {}): Promise<RunningProxy> =>
  start('b', relay.port, [`disk,${path},64m`], params);

async function body(url: string): Promise<string> {
  return (await b.get(url)).body.toString();
}
async function stored(...urls: string[]): Promise<void> {
  const before = (await b.counters())['SMD.s1.c_write'] ?? 0;
  for (const url of urls) await body(url);
  await b.counterReaches('SMD.s1.c_write', before + urls.length);
  version++;
}
/** Whether its answer says that both nodes have applied it. */
async function purge(url: string): Promise<boolean> {
  const answer = await a.get(url, { method: 'PURGE' });
  expect(answer.status).toBe(200);
  return field(answer, 'x-fleet')?.endsWith('applied by 2 of 2 nodes') === true;
}
const current = (): Promise<unknown> =>
  until('b current', async () => {
    const counters = await b.counters();
    return (counters['FLEET.behind'] === 0 && counters['FLEET.connected'] === 1) || null;
  });
const notePath = join(path, 'note');
const note = (): string => (existsSync(notePath) ? readFileSync(notePath, 'latin1') : '');
/** Waits until all that the fleet has said is kept beside the objects of b. */
async function placeKept(): Promise<void> {
  await current();
  const before = note();
  await purge(`/none${starts}`);
  await until('a later place', async () => note() !== before || null);
}

describe.skipIf(NATS_MISSING !== null)(
  `a node with a disk tier${NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`}`,
  () => {
    beforeAll(async () => {
      origin = await Origin.start();
      origin.on('*', ({ url }) => respond('200 OK', { xkey: `key${url}` }, `${url} v${version}`));
      nats = await NatsServer.start(box);
      relay = await Relay.start(() => nats.port);
      [a, b] = await Promise.all([start('a', nats.port, []), startB()]);
    });
    afterAll(async () => {
      await origin.close();
      await relay.close();
      await box.dispose();
    });

    it('applies what it missed while it was down', async () => {
      await stored('/missed', '/kept');
      await placeKept();
      await b.stop();
      await purge('/missed');
      b = await startB();
      expect(await body('/missed')).toBe(`/missed v${version}`);
      expect(await body('/kept')).toBe('/kept v0');
      await current();
    });

    it('applies what was purged by a surrogate key meanwhile', async () => {
      await stored('/keyed', '/other');
      await placeKept();
      await b.stop();
      const answer = await a.get('/', { method: 'PURGE', fields: { xkey: 'key/keyed' } });
      expect(answer.status).toBe(200);
      b = await startB();
      expect(await body('/keyed')).toBe(`/keyed v${version}`);
      expect(await body('/other')).toBe(`/other v${version - 1}`);
      await current();
    });

    it('applies what comes while its worker is killed', async () => {
      await stored('/killed', '/alive');
      const killed = b.killWorker();
      const isApplied = await purge('/killed');
      await killed;
      const wanted = `/killed v${version}`;
      // Without that, b may have been current before the purge was stored.
      if (isApplied) expect(await body('/killed')).toBe(wanted);
      else await until('the new body', async () => (await body('/killed')) === wanted);
      expect(await body('/alive')).toBe(`/alive v${version - 1}`);
    });

    it('serves nothing of before when it cannot learn what it missed', async () => {
      await stored('/unknown');
      await placeKept();
      await b.stop();
      relay.stop();
      await purge('/unknown');
      b = await startB({ fleet_catch_up: '0.5' });
      expect(await body('/unknown')).toBe(`/unknown v${version}`);
      expect(await body('/kept')).toBe(`/kept v${version}`);
      relay.goOn();
    });
  },
);
