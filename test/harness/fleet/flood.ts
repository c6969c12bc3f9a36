// A flood of invalidations from the bus into every node of a fleet: applied in order, with the lag back at zero, and
// the cost of a hit meanwhile. The cost of a hit is the worker's CPU divided by hits, minus the flood's own cost.
import { jetstream } from '@nats-io/jetstream';
import { FleetNames } from '../../../daemon/fleet/fleet-names.ts';
import { ClientConnection, requestText } from '../http-client.ts';
import type { NatsServer } from '../nats-server.ts';
import { delay, readStat, until } from '../processes.ts';
import type { RunningProxy } from '../proxy.ts';
import type { CheckedFleet } from './checked-fleet.ts';

export interface FloodOptions {
  readonly seconds: number;
  /** Messages a second. */
  readonly rate: number;
}

/** Milliseconds of a turn of the publisher, and messages that may wait for an acknowledgement. */
const TURN = 20;
const MOST_WAITING = 20_000;
/** Requests that one connection has under way, and connections. */
const PIPELINED = 16;
const CONNECTIONS = 8;
const PUBLISHER = 'flood';

/** Publishes at a rate. Returns how many the stream has acknowledged, and the milliseconds that it took. */
export async function flood(
  server: NatsServer,
  fleet: string,
  { seconds, rate }: FloodOptions,
): Promise<{ stored: number; ms: number }> {
  const client = await server.client();
  const js = jetstream(client, { timeout: 30_000 });
  const subject = new FleetNames(fleet).invalidate(PUBLISHER);
  const total = seconds * rate;
  const began = performance.now();
  let [sent, stored] = [0, 0];
  const failures: Error[] = [];
  while (sent < total && failures.length === 0) {
    const due = Math.min(total, ((performance.now() - began) / 1000) * rate);
    for (; sent < due && sent - stored < MOST_WAITING; sent++) {
      js.publish(subject, JSON.stringify({ v: 1, kind: 'keys', keys: `flood-${sent % 5000}` })).then(
        () => stored++,
        (cause: Error) => failures.push(cause),
      );
    }
    await delay(TURN);
  }
  await until('all are stored', () => stored === total || failures.length > 0, 30_000);
  await client.close();
  if (failures[0] !== undefined) throw failures[0];
  return { stored, ms: performance.now() - began };
}

/** Reads the reports of a node about its position, and counts those that go backwards. */
export async function watchOrder(
  server: NatsServer,
  fleet: string,
): Promise<{ close(): Promise<Map<string, number[]>> }> {
  const client = await server.client();
  const seen = new Map<string, number[]>();
  client.subscribe(new FleetNames(fleet).applied(PUBLISHER, '*'), {
    callback: (_, message) => {
      const node = message.subject.slice(message.subject.lastIndexOf('.') + 1);
      const list = seen.get(node) ?? [];
      list.push(message.json<{ seq: number }>().seq);
      seen.set(node, list);
    },
  });
  await client.flush();
  return {
    async close() {
      await client.close();
      return seen;
    },
  };
}

/** Hits on one proxy until it is over. Returns their number. */
export async function hits(proxy: RunningProxy, isOver: () => boolean): Promise<number> {
  let count = 0;
  const many = requestText('/1').repeat(PIPELINED);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = await ClientConnection.open(proxy.port);
      while (!isOver()) {
        connection.send(many);
        for (let i = 0; i < PIPELINED; i++) await connection.response();
        count += PIPELINED;
      }
      connection.close();
    }),
  );
  return count;
}

/** Seconds of CPU of a worker. */
export function workerSeconds(proxy: RunningProxy): number {
  return (readStat(proxy.workerPid() ?? -1)?.ticks ?? 0) / 100;
}

/** Waits until every node has applied this many messages of the stream; returns the time of the slowest in
 * milliseconds. */
export async function lagIsOver(fleet: CheckedFleet): Promise<number> {
  const began = performance.now();
  for (const { name, proxy } of fleet.nodes) {
    await until(`${name} has no lag`, async () => (await proxy.counters())['FLEET.lag'] === 0, 60_000);
  }
  return performance.now() - began;
}
