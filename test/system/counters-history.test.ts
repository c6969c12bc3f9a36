// The history of counters of a real daemon: data from before a console attached, across the end of a worker and of a
// manager, and a damaged file.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveSource } from '../../console/client/live-source.ts';
import { DaemonSession } from '../../console/model/session/daemon-session.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-history');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  proxy = await startProxy(box, { program: backendProgram(origin.port) });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** A console that has just attached: its charts when the first live values arrive, or a moment later. */
async function attached<T>(
  look: (session: DaemonSession) => T,
  ready = (session: DaemonSession): boolean => session.valuesAt > 0,
): Promise<T> {
  const session = new DaemonSession({
    source: new LiveSource({ dir: proxy.dir }),
    now: () => Date.now() / 1000,
    later: (fn, ms) => setTimeout(fn, ms).unref(),
  });
  session.start();
  await until('live counters', async () => ready(session));
  const out = look(session);
  session.close();
  return out;
}

/** Those of seconds of which there is a sample: a busy machine leaves some out. */
const known = (all: readonly number[]): number[] => all.filter((rate) => !Number.isNaN(rate));
const rates = (session: DaemonSession): number[] => {
  const out: number[] = [];
  for (let i = 0; i < session.requests.length; i++) out.push(session.requests.get(i) as number);
  return out;
};

it('fills the charts of a console at once, over the end of a worker and of the manager', async () => {
  await proxy.get('/before');
  // The first sample does not tell anything about the time before.
  await until('a past', async () => (await attached((s) => s.counters.samples)) >= 3);
  // All within a second or two, however busy the machine is.
  await Promise.all(Array.from({ length: 30 }, () => proxy.get('/before')));
  const first = await until('a past', async () => {
    const shown = await attached((s) => ({
      rates: rates(s),
      hit: s.hitRate.window(1000).rate,
      n: s.counters.samples,
    }));
    // The requests may have come over two samples.
    return shown.n >= 3 && Math.max(...known(shown.rates)) > 5 && (shown.hit ?? 0) > 0.9 ? shown : null;
  });

  // Of all counters the newest at once, and the rest of their past a moment later.
  const of = (s: DaemonSession): number[] =>
    ['MAIN.client_req', 'MAIN.s_resp_bodybytes'].map((name) => s.counters.get(name)?.avg1000.value ?? 0);
  expect(Math.min(...(await attached(of)))).toBeGreaterThan(0);
  await delay(17_000);
  expect((await attached(of))[1]).toBe(0);
  const later = await attached(of, (s) => s.valuesAt > 0 && !s.recallsCounters);
  expect(Math.min(...later)).toBeGreaterThan(0);

  process.kill(proxy.workerPid() as number, 'SIGKILL');
  await until('another worker', async () => (await proxy.get('/').catch(() => null))?.status === 200);
  const second = await until('more of the past', async () => {
    const shown = await attached((s) => ({ rates: rates(s), state: s.counters.value('MGT.child_start') }));
    return shown.rates.length > first.rates.length ? shown : null;
  });
  expect(Math.max(...known(second.rates))).toBeGreaterThan(5);
  expect(Math.min(...known(second.rates))).toBeGreaterThanOrEqual(0);
  expect(second.state).toBe(2n);

  await proxy.stop();
  const files = readdirSync(join(proxy.dir, WORKDIR_FILES.history));
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) {
    expect(statSync(join(proxy.dir, WORKDIR_FILES.history, file)).mode & 0o777).toBe(0o600);
  }
  proxy = await startProxy(box, { program: backendProgram(origin.port), dir: proxy.dir });
  const third = await attached(rates);
  expect(Math.max(...known(third))).toBeGreaterThan(5);
});

it('shows no moment of a few counters without the others', async () => {
  const source = new LiveSource({ dir: proxy.dir });
  let known: string[] = [];
  let live = false;
  const shown: number[] = [];
  const past: number[] = [];
  source.start({
    connection: () => undefined,
    counters: (info) => {
      known = info.map(({ name }) => name);
      // The past has a moment without a worker, which has the manager's counters and no others.
      setImmediate(() => known.some((name) => name.startsWith('MAIN.')) && shown.push(known.length));
    },
    past: (at) => past.push(at),
    values: () => {
      live = true;
    },
    event: () => undefined,
  });
  // The rest of the past comes after the first live values.
  await until('live counters and a past', async () => live && past.length > 17);
  source.close();
  expect(past).toEqual([...new Set(past)].sort((a, b) => a - b));
  expect(shown.length).toBeGreaterThan(0);
  expect(Math.min(...shown)).toBeGreaterThan(50);
});

it('refuses a damaged file with a line in its log, and serves without it', async () => {
  await proxy.stop();
  const dir = join(proxy.dir, WORKDIR_FILES.history);
  for (const file of readdirSync(dir)) {
    const bytes = readFileSync(join(dir, file));
    bytes[20] = (bytes[20] as number) ^ 0xff;
    writeFileSync(join(dir, file), bytes);
  }
  proxy = await startProxy(box, { program: backendProgram(origin.port), dir: proxy.dir });
  await until('a word in the log', async () =>
    /History of counters refused: .* is damaged/.test(proxy.daemon.stderr + proxy.daemon.stdout),
  );
  const rest = await attached(rates);
  expect(Math.max(0, ...known(rest))).toBeLessThan(5);
});
