// Faults during a checked load: the leader of the bus is killed repeatedly, the connection of one node stalls, a
// manager is killed and restarted, a worker is killed. And the stream's contents at the end, for comparison with the
// acknowledgements.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { FleetNames } from '../../../daemon/fleet/fleet-names.ts';
import type { NatsServer } from '../nats-server.ts';
import { delay, until } from '../processes.ts';
import type { Relay } from '../relay.ts';
import type { CheckedFleet } from './checked-fleet.ts';

/** How long a server that was killed stays away, in milliseconds. */
const DEAD = 1500;

/** The stream's leader; the first that answers if there is none. */
async function leader(servers: readonly NatsServer[], fleet: string): Promise<NatsServer | undefined> {
  for (const server of servers) {
    try {
      const client = await server.client();
      try {
        const info = await (await jetstreamManager(client, { timeout: 1000 })).streams.info(
          new FleetNames(fleet).stream,
        );
        const found = servers.find(({ name }) => name === info.cluster?.leader);
        if (found !== undefined) return found;
      } finally {
        await client.close();
      }
    } catch {
      // Another one knows it.
    }
  }
  return undefined;
}

/** Kills the leader at this interval in milliseconds. Returns how often. */
export async function killLeaders(
  servers: readonly NatsServer[],
  fleet: string,
  every: number,
  isOver: () => boolean,
): Promise<number> {
  let kills = 0;
  for (let next = performance.now() + every; !isOver(); next += every) {
    while (performance.now() < next && !isOver()) await delay(50);
    if (isOver()) break;
    const server = await leader(servers, fleet);
    if (server === undefined) continue;
    await server.kill();
    kills++;
    await delay(DEAD);
    await server.start();
  }
  return kills;
}

/** Falls silent for a while. */
export async function partition(relays: readonly Relay[], ms: number): Promise<void> {
  for (const relay of relays) relay.stop();
  await delay(ms);
  for (const relay of relays) relay.goOn();
}

/** Its worker goes with it. */
export async function killManager(fleet: CheckedFleet, index: number): Promise<void> {
  const node = fleet.nodes[index];
  if (node === undefined) return;
  node.proxy.daemon.child.kill('SIGKILL');
  await node.proxy.daemon.ended;
  await delay(1000);
  await fleet.startAgain(node);
}

export async function killWorker(fleet: CheckedFleet, index: number): Promise<void> {
  const proxy = fleet.nodes[index]?.proxy;
  const pid = proxy?.workerPid() ?? null;
  if (proxy === undefined || pid === null) throw new Error('there is no worker to kill');
  process.kill(pid, 'SIGKILL');
  await until('another worker', () => (proxy.workerPid() ?? pid) !== pid);
}

/** Acknowledged messages that the stream does not have as they were published. */
export async function lostBy(server: NatsServer, fleet: CheckedFleet): Promise<string[]> {
  const client = await server.client();
  try {
    const names = new FleetNames(fleet.name);
    const kept = new Map<number, unknown>();
    const consumer = await jetstream(client).consumers.get(names.stream);
    const { num_pending: count } = await consumer.info();
    if (count > 0)
      for await (const message of await consumer.fetch({ max_messages: count, expires: 30_000 })) {
        kept.set(message.seq, message.json<{ keys?: unknown }>().keys);
        if (message.info.pending === 0) break;
      }
    return fleet.stored
      .filter(({ seq, object }) => kept.get(seq) !== `o${object}`)
      .map(({ seq, object }) => `${seq} (o${object}) was acknowledged, the stream has ${kept.get(seq)}`);
  } finally {
    await client.close();
  }
}
