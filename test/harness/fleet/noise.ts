// Invalid messages on the subjects of a fleet: random bytes, huge ones, unknown versions, partly valid JSON, sent to
// the stream, to the reports and to the heartbeats.
import { randomBytes, randomInt } from 'node:crypto';
import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { FleetNames } from '../../../daemon/fleet/fleet-names.ts';
import type { NatsServer } from '../nats-server.ts';
import { delay } from '../processes.ts';

const PUBLISHER = 'evil';
/** Below the server's maximum; most are far smaller. */
const HUGE = 1_000_000;
const huge = (): number => Math.floor(HUGE * Math.random() ** 3);
const AT_ONCE = 20;

const MAKERS: readonly (() => Uint8Array)[] = [
  () => randomBytes(randomInt(2000)),
  () => Buffer.alloc(huge(), '['),
  () => randomBytes(huge()),
  () => json({ v: randomInt(2, 2 ** 40), kind: 'purge', url: 'example.test/1' }),
  () => json({ v: -1, kind: 'ban', expression: 'obj.status != 0' }),
  () => json({ v: '1', kind: 'keys', keys: 'o1' }),
  () => json({ v: 1, kind: 'vcl.use', name: 'boot' }),
  () => json({ v: 1, kind: 'keys', keys: ['o1'] }),
  () => json({ v: 1, kind: 'keys', keys: '\n' }),
  () => json({ v: 1, kind: 'keys', keys: 'o1', soft: 'yes' }),
  () => json({ v: 1, kind: 'purge', url: 'example.test/1', soft: true, ttl: '0' }),
  () => json({ v: 1, kind: 'ban', expression: `obj.http.x ~ ${'('.repeat(randomInt(1, 3000))}` }),
  () => json({ v: 1, kind: 'ban', expression: ['obj.status', '=='] }),
  () => json({ v: 1, kind: 'ban', expression: Array(5000).fill('&&') }),
  () => json([[]]),
  () => Buffer.from(`{"v":1,"kind":"keys","keys":"o1"${' '.repeat(70_000)}}`),
];

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** A stream that takes more than proxyd's own would, as an operator may have made it. */
export async function makeWideStream(server: NatsServer, fleet: string): Promise<void> {
  const client = await server.client();
  const names = new FleetNames(fleet);
  await (await jetstreamManager(client)).streams.add({
    name: names.stream,
    subjects: [names.invalidations],
    storage: StorageType.Memory,
    max_bytes: 256 * 1024 * 1024,
  });
  await client.close();
}

/** Returns how many messages the stream took. */
export async function makeNoise(
  server: NatsServer,
  fleet: string,
  nodes: readonly string[],
  seconds: number,
): Promise<number> {
  const client = await server.client();
  const js = jetstream(client);
  const names = new FleetNames(fleet);
  let stored = 0;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const batch = Array.from(
      { length: AT_ONCE },
      () => MAKERS[randomInt(MAKERS.length)]?.() ?? Buffer.alloc(0),
    );
    for (const data of batch) {
      for (const node of nodes) client.publish(names.applied(node, PUBLISHER), data);
      if (data.length < 4000) client.publish(`$KV.${names.nodes}.${PUBLISHER}-${randomInt(50)}`, data);
    }
    await Promise.all(batch.map((data) => js.publish(names.invalidate(PUBLISHER), data)));
    stored += batch.length;
    await delay(10);
  }
  await client.close();
  return stored;
}
