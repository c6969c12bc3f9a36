// The same traffic through Varnish's own daemon and through proxyd: every counter that both have changes by the same
// amount. Groups of cases are played on one pair of daemons; intended differences are listed with the group.
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newMgtCounters } from '../../daemon/stats/counter-fields.ts';
import { CountersReader } from '../../daemon/stats/counters-reader.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { IdNames } from '../harness/log-text.ts';
import { freePort, Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { drained } from '../harness/steps.ts';
import { worked } from './at-rest.ts';
import { caseInput } from './case-input.ts';
import { COUNTER_GROUPS, type CounterGroup } from './counter-cases.ts';
import { MODE, type Reference, recording } from './recording.ts';
import { Player } from './runner.ts';

const answers = recording('counters');
const PROGRAM = readFileSync(new URL('counters.vcl', import.meta.url), 'utf8');

/** Not compared: locks, memory pools, threads and internals of the log; times; storage, whose layout differs; spare
 * objects of threads; bitmaps of probes that keep running. */
const NOT_COMPARED =
  /^(LCK|MEMPOOL|WRK|MGT|SMA|MAIN\.(uptime|threads.*|pools|thread_queue_len|summs|shm_.*|hcb_.*|n_objectcore|n_objecthead|n_lru_moved)|VBE\..*\.happy)/;

type Counters = Record<string, number>;

interface Side {
  origin: Origin;
  proxy: RunningProxy;
  read: () => Promise<Counters>;
}

/** Reads the file itself: a tool a reading would take longer than the traffic. */
function ownCounters(dir: string): () => Promise<Counters> {
  const reader = new CountersReader(join(dir, WORKDIR_FILES.counters), newMgtCounters());
  return async () => {
    const { info, values } = drained(reader.reading());
    return Object.fromEntries(info.map(({ name }, i) => [name, Number(values[i])]));
  };
}

async function start(box: Sandbox, product: Product): Promise<Side> {
  const origin = await Origin.start();
  origin.on('/probe', [...respond('200 OK', {}, 'fine'), { close: true }]);
  const program = PROGRAM.replaceAll('@ORIGIN@', String(origin.port)).replaceAll(
    '@DEAD@',
    String(await freePort()),
  );
  const params: Record<string, string> = {
    ban_lurker_age: '0.1',
    ban_lurker_sleep: '0.01',
    shortlived: '5',
    default_grace: '1000',
    default_ttl: '1000',
    // How long a client takes between two requests is a matter of luck.
    timeout_linger: '20',
    timeout_idle: '60',
  };
  // Both have one pool of connections to an origin: each thread of ours has its own, and which of them accepts is luck.
  if (product === 'varnish') Object.assign(params, { thread_stats_rate: '0', thread_pools: '1' });
  else params.worker_threads = '1';
  const proxy = await startProxy(box, {
    product,
    program,
    dir: mkdtempSync(`${box.dir}/${product}-`),
    params,
    storage: ['malloc,64m', 'small=malloc,1m'],
  });
  const read = product === 'varnish' ? () => proxy.counters() : ownCounters(proxy.dir);
  await until(`the probe of ${product}`, async () => (await read())['VBE.boot.probed.happy'] === 1);
  return { origin, proxy, read };
}

/** The counters once every session is counted as closed: the last of the group before may be counted late. */
async function settled(side: Side): Promise<Counters> {
  const end = performance.now() + 20_000;
  for (;;) {
    const counters = await side.read();
    const closed = Object.entries(counters).reduce(
      (n, [name, value]) => n + (/^MAIN\.sc_/.test(name) ? value : 0),
      0,
    );
    if (closed === counters['MAIN.s_sess'] || performance.now() > end) return counters;
    await delay(50);
  }
}

async function play(side: Side, group: CounterGroup): Promise<Counters> {
  const before = await settled(side);
  for (const test of group.cases) {
    const player = new Player(side.origin, side.proxy.port, new IdNames(), undefined, () =>
      worked(side.proxy),
    );
    test.script?.(side.origin);
    await test.play(player, side.proxy, side.origin).catch((cause: unknown) => {
      throw new Error(`${test.name}, ${side.proxy.product}`, { cause });
    });
    await player.end();
    await side.origin.endIdle();
  }
  return before;
}

/** Changes of the compared counters, by name without the program's. */
function added(before: Counters, after: Counters): Counters {
  const out: Counters = {};
  for (const [name, value] of Object.entries(after)) {
    if (NOT_COMPARED.test(name)) continue;
    const more = value - (before[name] ?? 0);
    if (more !== 0) out[name.replace('.boot.', '.')] = more;
  }
  return out;
}

/** Plays a group on Varnish: what it has added once that has stayed the same for a while. */
async function addedByVarnish(side: Side, group: CounterGroup): Promise<Counters> {
  const before = await play(side, group);
  let last = '';
  let since = performance.now();
  return until('counters at rest', async () => {
    const now = added(before, await settled(side));
    const text = JSON.stringify(now);
    if (text !== last) since = performance.now();
    last = text;
    // Threads of Varnish report theirs when they have nothing else to do, probes and bans within a second.
    return performance.now() - since > 1500 ? now : null;
  });
}

/** Those that the other side has, too. */
function among(counters: Counters, has: (name: string) => boolean): Counters {
  return Object.fromEntries(Object.entries(counters).filter(([name]) => has(name)));
}

/** Counters that agree even in a group where all may differ. Counters are published ten times a second: a group that
 * did not wait for its sessions would have the last of them counted in the next one. */
const OF_SESSIONS = ['MAIN.sess_conn', 'MAIN.s_sess', 'MAIN.client_req'];

/** Expected values of ours: Varnish's, and intended differences. */
function expected(field: Counters, ours: Counters, differs: CounterGroup['differs']): Counters {
  if (differs?.['*'] !== undefined) {
    const sessions = OF_SESSIONS.map((name) => [name, field[name]]);
    return { ...ours, ...Object.fromEntries(sessions) };
  }
  const out = { ...field };
  for (const [name, { more }] of Object.entries(differs ?? {})) {
    const value = more === 'any' ? (ours[name] ?? 0) : (field[name] ?? 0) + more;
    if (value === 0) delete out[name];
    else out[name] = value;
  }
  return out;
}

/** Name of the answer that has the names of all counters. */
const NAMES = 'names';

describe('counters beside Varnish’s', () => {
  const box = new Sandbox('proxyd-counters');
  let reference: Reference<Counters>;
  let names: Reference<string[]>;
  let ours: Side;

  async function playTheirs(): Promise<{ added: Map<string, Counters>; names: string[] }> {
    const side = await start(box, 'varnish');
    const seen = new Map<string, Counters>();
    for (const group of COUNTER_GROUPS) seen.set(group.name, await addedByVarnish(side, group));
    const all = Object.keys(await side.read()).map((name) => name.replace('.boot.', '.'));
    await stop(side);
    return { added: seen, names: all.filter((name) => !NOT_COMPARED.test(name)).sort() };
  }

  beforeAll(async () => {
    const inputs = new Map<string, string>();
    for (const group of COUNTER_GROUPS) {
      const cases = await Promise.all(group.cases.map(caseInput));
      inputs.set(group.name, [PROGRAM, ...cases].join('\n'));
    }
    const theirs = MODE === 'replay' ? null : await playTheirs();
    reference = answers.settle(inputs, theirs?.added ?? null);
    names = recording('counter-names').settle(
      new Map([[NAMES, PROGRAM]]),
      theirs && new Map([[NAMES, theirs.names]]),
    );
    ours = await start(box, 'proxyd');
  }, 240_000);
  afterAll(async () => {
    if (ours !== undefined) await stop(ours);
    await box.dispose();
  });

  it.for(COUNTER_GROUPS)('$name', async (group) => {
    const theirs = reference.get(group.name);
    const shared = new Set([...names.get(NAMES), ...Object.keys(group.differs ?? {})]);
    const before = await play(ours, group);
    const own = new Set(Object.keys(before).map((name) => name.replace('.boot.', '.')));
    const end = performance.now() + 20_000;
    let wanted: Counters;
    let got: Counters;
    do {
      await delay(50);
      got = among(added(before, await ours.read()), (name) => shared.has(name));
      wanted = expected(
        among(theirs, (name) => own.has(name)),
        got,
        group.differs,
      );
    } while (!same(got, wanted) && performance.now() < end);
    expect(got).toEqual(wanted);
  });
});

async function stop(side: Side): Promise<void> {
  if (side.proxy.daemon.running) await side.proxy.stop().catch(() => {});
  await side.origin.close();
}

function same(a: Counters, b: Counters): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}
