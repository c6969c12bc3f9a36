// The proofs that prove.js runs at full size and the system tests in small, by name: each sets up its fleet, and says what
// it saw and which promises were broken.
import { readFileSync } from 'node:fs';
import { NatsServer, startCluster } from '../nats-server.ts';
import { delay, Sandbox, until } from '../processes.ts';
import { Relay } from '../relay.ts';
import { CheckedFleet, type CheckedNode } from './checked-fleet.ts';
import { checkAtRest, type LoadResult, runLoad } from './checked-load.ts';
import { killLeaders, killManager, killWorker, lostBy, partition } from './faults.ts';
import { hits, lagIsOver, flood as publishFlood, watchOrder, workerSeconds } from './flood.ts';
import { makeNoise, makeWideStream } from './noise.ts';

export interface Proof {
  readonly facts: string[];
  readonly broken: string[];
}

async function load({ clients = 64, objects = 1000, edits = 1000, pause = 20 }): Promise<Proof> {
  const box = new Sandbox('proxyd-fleet-proof');
  try {
    const server = await NatsServer.start(box);
    const fleet = await CheckedFleet.start(box, 'one', objects, CheckedFleet.everywhere([server]));
    const goesOn = (i: number): boolean => i < edits;
    const began = performance.now();
    const result = await runLoad(fleet, { clients, pause, goesOn, faults: false });
    const facts = [summary(result, (performance.now() - began) / 1000)];
    const broken = [...result.wrong, ...(await checkAtRest(fleet)), ...(await lostBy(server, fleet))];
    await fleet.close();
    return { facts, broken };
  } finally {
    await box.dispose();
  }
}

async function faults({
  clients = 64,
  objects = 1000,
  seconds = 120,
  every = 5,
  pause = 20,
}): Promise<Proof> {
  const box = new Sandbox('proxyd-fleet-proof');
  const relays: Relay[] = [];
  try {
    const servers = await startCluster(box);
    for (const server of servers) relays.push(await Relay.start(() => server.port));
    const fleet = await CheckedFleet.start(box, 'three', objects, {
      ...CheckedFleet.everywhere(servers),
      c: relays.map(({ port }) => `nats://127.0.0.1:${port}`),
    });
    let over = false;
    const part = (seconds * 1000) / 4;
    const inTurns = async (): Promise<string> => {
      await delay(part);
      await partition(relays, part);
      await delay(part / 2);
      await killManager(fleet, 1);
      await delay(part / 2);
      await killWorker(fleet, 0);
      await delay(part / 2);
      over = true;
      return 'a node cut off, a manager killed, a worker killed';
    };
    const began = performance.now();
    const [result, kills, done] = await Promise.all([
      runLoad(fleet, { clients, pause, goesOn: () => !over, faults: true }),
      killLeaders(servers, 'three', every * 1000, () => over),
      inTurns(),
    ]);
    const facts = [summary(result, (performance.now() - began) / 1000), `${kills} leaders killed, ${done}`];
    const broken = [...result.wrong, ...(await checkAtRest(fleet))];
    broken.push(...(await lostBy(servers[0] as NatsServer, fleet)));
    for (const { name, proxy } of fleet.nodes) {
      const { 'FLEET.gaps': gaps, 'FLEET.flushed': flushed } = await proxy.counters();
      facts.push(`${name}: ${gaps} gaps, ${flushed} times all banned`);
    }
    await fleet.close();
    return { facts, broken };
  } finally {
    await Promise.all(relays.map((relay) => relay.close()));
    await box.dispose();
  }
}

async function flood({ seconds = 20, rate = 5000, most = 1.1 }): Promise<Proof> {
  const box = new Sandbox('proxyd-fleet-proof');
  try {
    const server = await NatsServer.start(box);
    // Where costs are not measured, the hits are not logged: on a fast machine they fill the log in a second, and push out
    // what the order is read from.
    const params = most === Number.POSITIVE_INFINITY ? { vsl_mask: 'none,+Notice' } : {};
    const fleet = await CheckedFleet.start(box, 'flood', 10, CheckedFleet.everywhere([server]), params);
    const [{ proxy }] = fleet.nodes as [CheckedNode];
    await proxy.get('/1');
    const order = await watchOrder(server, fleet.name);
    const rest = async (): Promise<{ stored: number; ms: number }> => {
      await delay(seconds * 1000);
      return { stored: 0, ms: seconds * 1000 };
    };
    const facts: string[] = [];
    const broken: string[] = [];
    let stored = 0;
    /** CPU of a worker and its hits under other load. */
    const measured = async (isAsked: boolean, what: () => Promise<{ stored: number; ms: number }>) => {
      const before = workerSeconds(proxy);
      let over = false;
      const asked = isAsked ? hits(proxy, () => over) : 0;
      const done = await what();
      const lag = await lagIsOver(fleet);
      over = true;
      const count = await asked;
      stored += done.stored;
      facts.push(
        `${count} hits, ${done.stored} invalidations in ${(done.ms / 1000).toFixed(1)} s: ` +
          `${(workerSeconds(proxy) - before).toFixed(2)} s of CPU; no lag after ${lag.toFixed(0)} ms`,
      );
      return { count, cpu: workerSeconds(proxy) - before };
    };
    if (most === Number.POSITIVE_INFINITY) {
      await measured(true, () => publishFlood(server, fleet.name, { seconds, rate }));
    } else {
      await measured(true, () => delay(2000).then(() => ({ stored: 0, ms: 2000 })));
      const without = await measured(true, rest);
      const alone = await measured(false, () => publishFlood(server, fleet.name, { seconds, rate }));
      const both = await measured(true, () => publishFlood(server, fleet.name, { seconds, rate }));
      const plain = without.cpu / without.count;
      const ratio = (both.cpu - alone.cpu) / both.count / plain;
      facts.push(
        `a hit: ${(plain * 1e6).toFixed(1)} µs of CPU, beside the flood ${ratio.toFixed(2)} times as much, ` +
          `${(both.cpu / both.count / plain).toFixed(2)} with the flood's own share`,
      );
      if (ratio > most) broken.push(`a hit costs ${ratio.toFixed(2)} times as much`);
    }
    for (const [node, seqs] of await order.close()) {
      if (seqs.some((seq, i) => seq <= (seqs[i - 1] ?? 0))) broken.push(`${node} went back`);
      if (seqs.at(-1) !== stored) broken.push(`${node} came to ${seqs.at(-1)} of ${stored}`);
    }
    for (const { name, proxy: each } of fleet.nodes) {
      const { 'FLEET.applied': applied, 'FLEET.gaps': gaps } = await each.counters();
      facts.push(`${name}: ${applied} applied, ${gaps} gaps`);
      if (applied !== stored) broken.push(`${name} applied ${applied} of ${stored}`);
      const output = (await each.log('-g', 'raw', '-i', 'Notice')).matchAll(/fleet: (\d+) of flood/g);
      const numbers = [...output].map(([, seq]) => Number(seq));
      if (numbers.length === 0 || numbers.some((seq, i) => i > 0 && seq !== (numbers[i - 1] ?? 0) + 1))
        broken.push(`${name} did not apply in order`);
    }
    await fleet.close();
    return { facts, broken };
  } finally {
    await box.dispose();
  }
}

async function noise({ seconds = 60 }): Promise<Proof> {
  const box = new Sandbox('proxyd-fleet-proof');
  try {
    const server = await NatsServer.start(box);
    await makeWideStream(server, 'noise');
    const fleet = await CheckedFleet.start(box, 'noise', 100, CheckedFleet.everywhere([server]));
    const broken = await checkAtRest(fleet);
    const before = await Promise.all(
      fleet.nodes.map(async ({ proxy }) => ({
        worker: proxy.workerPid(),
        mb: residentMb(proxy.pid),
        bans: (await proxy.counters())['MAIN.bans_added'],
      })),
    );
    const names = fleet.nodes.map(({ name }) => name);
    const stored = await makeNoise(server, fleet.name, names, seconds);
    const facts = [`${stored} messages that are none in ${seconds} s`];
    for (const [i, { name, proxy }] of fleet.nodes.entries()) {
      const read = async (): Promise<boolean> => (await proxy.counters())['FLEET.refused'] === stored;
      await until(`${name} has read all`, read).catch((cause: Error) => broken.push(cause.message));
      const counters = await proxy.counters();
      const { worker, mb, bans } = before[i] ?? {};
      if (proxy.workerPid() !== worker || !proxy.daemon.running) broken.push(`${name} died`);
      for (const [counter, value] of [
        ['FLEET.refused', stored],
        ['FLEET.applied', 0],
        ['FLEET.nodes', fleet.nodes.length],
        ['FLEET.behind', 0],
        ['MAIN.n_object', fleet.objects],
        ['MAIN.bans_added', bans],
      ] as const)
        if (counters[counter] !== value)
          broken.push(`${name}: ${counter} is ${counters[counter]}, not ${value}`);
      facts.push(
        `${name}: ${counters['FLEET.refused']} refused, manager ${mb} MB before, ${residentMb(proxy.pid)} MB after`,
      );
    }
    const result = await runLoad(fleet, { clients: 1, pause: 1, goesOn: (n) => n < 10, faults: false });
    broken.push(...result.wrong, ...(await checkAtRest(fleet)));
    if (result.stored !== 10) broken.push(`purges afterwards: ${JSON.stringify(result.reported)}`);
    await fleet.close();
    return { facts, broken };
  } finally {
    await box.dispose();
  }
}

function residentMb(pid: number): number {
  return Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024,
  );
}

function summary({ asked, broken, stored, behind, reported, wrong }: LoadResult, seconds: number): string {
  const toldText = Object.entries(reported).map(([reason, n]) => `${n} × ${reason}`);
  return (
    `${seconds.toFixed(0)} s: ${asked} bodies checked, ${wrong.length} wrong, ${broken} connections broken; ` +
    `${stored} purges acknowledged (${behind} with a node behind), not certain: ${toldText.join(', ') || 'none'}`
  );
}

export const PROOFS = { load, faults, flood, noise };
