// A console that attaches to a daemon with a history: log, sample and errors show the ring's contents, then continue
// without a gap and without duplicates.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveSource } from '../../console/client/live-source.ts';
import type { LogReader } from '../../console/model/log/log-store.ts';
import { DaemonSession } from '../../console/model/session/daemon-session.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-attach');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  origin.on('/broken', respond('500 Internal Server Error', {}, 'no\n'));
  proxy = await startProxy(box, { program: backendProgram(origin.port) });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

function attach(): DaemonSession {
  const session = new DaemonSession({
    source: new LiveSource({ dir: proxy.dir }),
    now: () => Date.now() / 1000,
    later: (fn, ms) => setTimeout(fn, ms).unref(),
  });
  session.start();
  session.log.follow('', 'request');
  return session;
}

function urls(log: LogReader): string[] {
  return Array.from({ length: log.size }, (_, i) => log.at(i)?.summary.url ?? '').filter((url) => url !== '');
}

const numbered = (log: LogReader): number[] =>
  urls(log).flatMap((url) => (url.startsWith('/n/') ? [Number(url.slice(3))] : []));

describe('a console that attaches', () => {
  it('has what the ring holds, and what comes while it reads, once and in order', async () => {
    let sent = 0;
    const send = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await proxy.get(`/n/${sent++}`);
    };
    await send(600);
    await proxy.get('/broken');
    const session = attach();
    await send(200);
    await until('the log to its beginning', async () => numbered(session.log.shown).includes(0));
    await send(20);
    await until('the last request', async () => numbered(session.log.shown).includes(sent - 1));
    // Of several threads the one may write the end of a request after the next has been served by the other.
    const log = numbered(session.log.shown);
    expect(log.toSorted((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, i) => i));
    for (const [i, n] of log.entries()) expect(Math.abs(n - i)).toBeLessThan(10);
    await until('the error', async () => urls(session.log.errors).includes('/broken'));
    await until('a sample of the past', async () => session.traffic.sample.requests >= 600);
    expect(session.traffic.sample.latency.size).toBeGreaterThanOrEqual(600);
    expect(session.traffic.share()).toBeLessThanOrEqual(1);

    // Another query is answered from the ring, too.
    session.log.follow('ReqURL eq "/n/7"', 'request');
    await until('the one request', async () => session.log.shown.size === 1);
    expect(urls(session.log.shown)).toEqual(['/n/7']);
    session.close();
  });

  it('has a transaction that was open when it came, once it ends', async () => {
    let answer: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => {
      answer = resolve;
    });
    origin.on('/slow', [{ hold: waits }, ...respond('200 OK', {}, 'late\n')]);
    const slow = proxy.get('/slow');
    for (let i = 0; i < 300; i++) await proxy.get('/n/0');
    const session = attach();
    await until('the log', async () => session.log.shown.size > 300);
    expect(urls(session.log.shown)).not.toContain('/slow');
    answer();
    await slow;
    await until('the slow one', async () => urls(session.log.shown).includes('/slow'));
    expect(urls(session.log.shown).filter((url) => url === '/slow')).toHaveLength(1);
    session.close();
  });
});
