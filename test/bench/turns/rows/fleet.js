// A node of a fleet with very many messages: those that it has missed, and those that it publishes.
import { spawn } from 'node:child_process';
import { connect as connectTo } from 'node:net';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { FleetNames } from '../../../../dist/modules/daemon/fleet/fleet-names.js';
import { find, freePort, sleep } from '../../servers/start.js';

const FLEET = 'bench';
/** Messages that may wait for the bus. */
const IN_FLIGHT = 5000;

function isOpen(port) {
  return new Promise((resolve) => {
    const socket = connectTo(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** A bus of this daemon's own; null where there is none to be had. */
async function bus(dir) {
  const program = find('nats-server');
  if (program === null) return null;
  const port = await freePort();
  const args = ['-js', '-sd', join(dir, 'bus'), '-a', '127.0.0.1', '-p', String(port)];
  const child = spawn(program, args, { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  while (!(await isOpen(port))) await sleep(20);
  const servers = `nats://127.0.0.1:${port}`;
  return {
    args: ['--fleet', servers, '--fleet-name', FLEET, '--node', 'a'],
    servers,
    stop: () => child.kill('SIGKILL'),
  };
}

/** Publishes n messages as another node would. */
async function publish(servers, n) {
  const client = await connect({ servers });
  const js = jetstream(client, { timeout: 60_000 });
  const subject = new FleetNames(FLEET).invalidate('b');
  const under = new Set();
  for (let i = 0; i < n; i++) {
    const sent = js.publish(subject, JSON.stringify({ v: 1, kind: 'keys', keys: `key-${i}` }));
    under.add(sent);
    void sent.then(() => under.delete(sent));
    if (under.size >= IN_FLIGHT) await Promise.race(under);
  }
  await Promise.all(under);
  await client.close();
}

/** Waits until so many messages of others are applied. */
async function applied(adm, n) {
  for (;;) {
    const text = await adm('fleet.nodes -j');
    const counted = /"applied":\s*(\d+)/.exec(text);
    if (counted !== null && Number(counted[1]) >= n) return;
    await sleep(200);
  }
}

/** The manager's compiler warms up a few seconds after the start, which would count as the daemon's idle cost. */
const settled = () => sleep(8000);

const common = { sizes: [1000, 10_000, 100_000], aim: 50, manager: true, beside: bus };

/** @type {import('../row.d.ts').Row[]} */
export default [
  {
    ...common,
    name: 'purges of another node of the fleet; messages',
    prepare: settled,
    load: async ({ adm, n, beside }) => {
      await publish(beside.servers, n);
      await applied(adm, n);
    },
  },
  {
    ...common,
    name: 'fleet.log and fleet.nodes after so many messages',
    prepare: async ({ adm, n, beside }) => {
      await publish(beside.servers, n);
      await applied(adm, n);
    },
    load: async ({ adm }) => {
      for (const line of ['fleet.log', 'fleet.log -j', 'fleet.nodes']) await adm(line);
    },
  },
  {
    ...common,
    name: 'bans of a node of a fleet, 25 at once; bans',
    sizes: [100, 1000, 10_000],
    prepare: settled,
    load: async ({ adm, n }) => {
      let next = 0;
      const give = async () => {
        while (next < n) await adm(`ban obj.http.x-n == ${next++}`);
      };
      await Promise.all(Array.from({ length: 25 }, give));
    },
  },
];
