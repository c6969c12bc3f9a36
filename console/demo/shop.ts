// The demo's proxies: one proxyd behind an edge network, or a fleet.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../client/client.ts';
import { answerItems, textField } from '../model/session/admin-store.ts';
import { findBus, startBus } from './bus-child.ts';
import { type DaemonChild, startDaemon } from './daemon-child.ts';
import { makeHome } from './demo-home.ts';
import { demoProgram, edgePart, FLEET_PART } from './demo-program.ts';
import { type EdgeChild, startEdge } from './edge-child.ts';
import type { DemoPlace } from './welcome.ts';

export interface Shop {
  /** The first is the one summarized without a console. */
  readonly daemons: readonly [DaemonChild, ...DaemonChild[]];
  readonly edge: EdgeChild | null;
  /** The console's target. */
  readonly target: { dir: string } | { address: string; secretFile: string };
  readonly place: DemoPlace;
}

const TOGETHER_MS = 60_000;

const urlOf = ({ port }: DaemonChild): string => `http://127.0.0.1:${port}/`;

/** Registers a cleanup step; steps run in reverse order. */
export type Undo = (step: () => void | Promise<void>) => void;

export async function shopWithEdge(origin: number, undo: Undo): Promise<Shop> {
  const home = makeHome();
  undo(() => home.remove());
  const conf = join(home.path, 'edge-connector.conf');
  const edge = await startEdge(conf);
  undo(() => edge.stop());
  const daemon = await startDaemon(demoProgram(origin, edgePart(`127.0.0.1:${edge.port}`)), {
    home,
    environment: { EDGE_CONNECTOR_CONFIG: conf },
  });
  undo(() => daemon.stop());
  edge.forwardTo(daemon.port);
  return {
    daemons: [daemon],
    edge,
    target: { dir: daemon.dir },
    place: { proxies: [urlOf(daemon)], edge: `http://127.0.0.1:${edge.port}/`, dir: daemon.dir },
  };
}

/**
 * Rejects with a plain sentence without a bus.
 * @param program nats-server; null if not installed
 */
export async function shopOfFleet(
  origin: number,
  count: number,
  undo: Undo,
  program = findBus(),
): Promise<Shop> {
  if (program === null)
    throw new Error(
      '--fleet needs nats-server, which this machine does not have (Debian: apt install nats-server)',
    );
  const home = makeHome();
  undo(() => home.remove());
  const folder = join(home.path, 'bus');
  mkdirSync(folder);
  const bus = await startBus(program, folder);
  undo(() => bus.stop());
  const secretFile = join(home.path, 'secret');
  writeFileSync(secretFile, `${crypto.randomUUID()}\n`, { mode: 0o600 });
  const text = demoProgram(origin, FLEET_PART);
  const started = await Promise.allSettled(
    Array.from({ length: count }, async (_, i) => {
      const name = `shop-${i + 1}`;
      const fleet = ['--fleet', bus.url, '--fleet-name', 'demo', '--node', name];
      const daemon = await startDaemon(text, {
        name,
        args: [...fleet, '--console', '127.0.0.1:0', '-S', secretFile],
      });
      undo(() => daemon.stop());
      return daemon;
    }),
  );
  const daemons = started.map((each): DaemonChild => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  }) as [DaemonChild, ...DaemonChild[]];
  const [first] = daemons;
  const address = await consoleOf(first.dir, count);
  return {
    daemons,
    edge: null,
    target: { address, secretFile },
    place: { proxies: daemons.map(urlOf), edge: null, dir: first.dir },
  };
}

/** Waits until a node sees all others, and returns the address of its console protocol. */
async function consoleOf(dir: string, count: number): Promise<string> {
  const client = await connect({ dir, name: 'demo' });
  try {
    for (const until = Date.now() + TOGETHER_MS; ; await sleep(100)) {
      const { body } = await client.command('fleet.nodes -j');
      const nodes = answerItems(body);
      const self = nodes.find((node) => textField(node, 'self') === 'true');
      const address = textField(self, 'console');
      if (nodes.length >= count && address !== '') return address;
      if (Date.now() > until) throw new Error(`the fleet did not form: ${body}`);
    }
  } finally {
    client.close();
  }
}
