// The console's health display on a real daemon: a worker that was stopped, killed, replaced, has no program, or
// hangs; and a manager that hangs.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { LiveSource } from '../../console/client/live-source.ts';
import { type Health, readHealth } from '../../console/model/session/daemon-health.ts';
import { DaemonSession } from '../../console/model/session/daemon-session.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-health');
let proxy: RunningProxy | null = null;
let session: DaemonSession | null = null;

const now = (): number => Date.now() / 1000;

async function watch(options: Parameters<typeof startProxy>[1]): Promise<RunningProxy> {
  proxy = await startProxy(box, options);
  session = new DaemonSession({
    source: new LiveSource({ dir: proxy.dir }),
    now,
    later: (fn, ms) => setTimeout(fn, ms).unref(),
  });
  session.start();
  return proxy;
}

function health(): Health {
  if (session === null) throw new Error('nothing is watched');
  return readHealth(session);
}

const state = (wanted: Health['state']): Promise<Health> =>
  until(`the state "${wanted}"`, async () => health().state === wanted && health());

/** Time of the last sign of life, of both processes. */
async function received(): Promise<number> {
  const from = now();
  await until(
    'news',
    async () => session !== null && session.valuesAt > from && health().state === 'running',
  );
  return from;
}

/** The displayed start lies between two times, apart from a second of rounding and one of the counters. */
function since(reported: Health, from: number, to = now()): void {
  expect(reported.since).toBeGreaterThan(from - 2.5);
  expect(reported.since).toBeLessThan(to + 1);
}

afterEach(async () => {
  session?.close();
  session = null;
  await proxy?.stop();
  proxy = null;
});
afterAll(() => box.dispose());

describe('the health of a daemon', () => {
  it('is that of its worker: running, stopped, started again', async () => {
    const p = await watch({ backend: '127.0.0.1:1' });
    const good = await state('running');
    expect(good).toMatchObject({ restarts: 0, deaths: 0, lost: 0 });
    expect(good.worker?.rss).toBeGreaterThan(10 << 20);
    expect(good.manager?.rss).toBeGreaterThan(10 << 20);
    expect(good.lag).not.toBeNull();
    const before = now();
    await p.adm('stop');
    const stopped = await state('stopped');
    since(stopped, before);
    // A missing worker has no figures; the manager continues.
    expect(stopped).toMatchObject({ worker: null, lag: null, deaths: 0 });
    expect(stopped.manager).not.toBeNull();
    await p.adm('start');
    expect(await state('running')).toMatchObject({ restarts: 1, deaths: 0 });
  });

  it('reports that a dead worker is not replaced, and forgets it once one serves', async () => {
    const p = await watch({ backend: '127.0.0.1:1', params: { auto_restart: 'off' } });
    await state('running');
    const before = now();
    process.kill(p.workerPid() as number, 'SIGKILL');
    const dead = await state('dead');
    since(dead, before);
    expect(dead).toMatchObject({ worker: null, deaths: 1 });
    await p.adm('start');
    expect(await state('running')).toMatchObject({ restarts: 1, deaths: 1 });
  });

  it('counts a worker that was killed and replaced, and begins again with it', async () => {
    const p = await watch({ backend: '127.0.0.1:1' });
    await state('running');
    const before = now();
    process.kill(p.workerPid() as number, 'SIGKILL');
    const again = await until('a restart', async () => {
      const h = health();
      return h.state === 'running' && h.restarts === 1 && h;
    });
    since(again, before);
    expect(again.deaths).toBe(1);
  });

  it('reports that there is no program', async () => {
    await watch({ mode: 'd' });
    expect(await state('no program')).toMatchObject({ worker: null, restarts: 0 });
  });

  it('reports since when a worker that hangs stopped responding', async () => {
    const p = await watch({ backend: '127.0.0.1:1' });
    await state('running');
    const before = await received();
    const pid = p.workerPid() as number;
    process.kill(pid, 'SIGSTOP');
    const stopped = now();
    const silent = await state('worker silent');
    since(silent, before, stopped);
    expect(silent).toMatchObject({ worker: null, lag: null });
    process.kill(pid, 'SIGCONT');
    await state('running');
  });

  it('reports since when a manager that hangs stopped responding', async () => {
    const p = await watch({ backend: '127.0.0.1:1' });
    await state('running');
    const before = await received();
    process.kill(p.pid, 'SIGSTOP');
    const stopped = now();
    const silent = await state('daemon silent');
    process.kill(p.pid, 'SIGCONT');
    since(silent, before, stopped);
    expect(silent).toMatchObject({ worker: null, manager: null });
    await state('running');
  });
});
