// Several threads as operators see them: one log, whose groups are whole, and counters that are sums, with a row a
// thread in every tool.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { parsePrometheus } from '../harness/prometheus-text.ts';
import { backendProgram, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const THREADS = 3;
const CLIENTS = 12;
const REQUESTS = 25;

const box = new Sandbox('proxyd-threads');
let origin: Origin;
let proxy: RunningProxy;
let metricsPort = 0;
let clients: ClientConnection[] = [];

async function ask(c: number): Promise<void> {
  const client = clients[c] as ClientConnection;
  for (let i = 0; i < REQUESTS; i++) {
    const path = i % 5 === 0 ? `/pass/${c}/${i}` : `/${i}`;
    client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect((await client.response()).status).toBe(200);
  }
}

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, 'sub vcl_recv { if (req.url ~ "^/pass") { return (pass); } }'),
    params: { worker_threads: String(THREADS), timeout_idle: '60' },
    args: ['--metrics', '127.0.0.1:0'],
  });
  metricsPort = Number(
    await until('the port for metrics', () => /Metrics on \S+:(\d+)/.exec(proxy.daemon.stderr)?.[1]),
  );
  clients = await Promise.all(Array.from({ length: CLIENTS }, () => ClientConnection.open(proxy.port)));
  // The first one fetches: a request that waits for the fetch of another counts twice.
  await ask(0);
  await Promise.all(clients.slice(1).map((_, c) => ask(c + 1)));
});
afterAll(async () => {
  for (const client of clients) client.close();
  await box.dispose();
  await origin.close();
});

const TOTAL = CLIENTS * REQUESTS;
const threads = Array.from({ length: THREADS }, (_, i) => i);
const sumOf = (counters: Record<string, number>, name: string): number =>
  threads.reduce((sum, i) => sum + (counters[`THR.${i}.${name}`] ?? Number.NaN), 0);

describe('counters', () => {
  it('are sums, with a row for each thread', async () => {
    const counters = await proxy.counters();
    expect(counters).toMatchObject({
      'MAIN.client_req': TOTAL,
      'MAIN.sess_conn': CLIENTS,
      'MAIN.s_pass': TOTAL / 5,
      'MAIN.cache_miss': (REQUESTS * 4) / 5,
      'MAIN.cache_hit': ((CLIENTS - 1) * REQUESTS * 4) / 5,
      'MAIN.n_vcl': 1,
    });
    expect(counters['VBE.boot.default.req']).toBe(counters['MAIN.backend_req']);
    expect(sumOf(counters, 'requests')).toBe(TOTAL);
    expect(sumOf(counters, 'connections')).toBe(CLIENTS);
    expect(sumOf(counters, 'connections_open')).toBe(CLIENTS);
    for (const i of threads) expect(counters[`THR.${i}.requests`]).toBeGreaterThan(0);
    expect(counters['WRK.loop_lag_us']).toBeGreaterThanOrEqual(0);
  });

  it('are rows of every tool', async () => {
    const stat = async (...args: string[]): Promise<string> => {
      const done = await tool('proxyd', 'stat', ['-n', proxy.dir, ...args]);
      expect(done.code, done.stderr).toBe(0);
      return done.stdout;
    };
    const [one, filtered, json, xml, list] = await Promise.all([
      stat('-1'),
      stat('-1', '-f', 'THR.2.*'),
      stat('-j'),
      stat('-x', '-f', 'THR.*'),
      stat('-l', '-f', 'THR.*'),
    ]);
    for (const i of threads) expect(one).toMatch(new RegExp(`^THR\\.${i}\\.requests +\\d+ `, 'm'));
    expect(
      filtered
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(
      ['requests', 'connections', 'connections_open', 'loop_busy', 'loop_lag_us', 'lock_waits', 'silent'].map(
        (n) => `THR.2.${n}`,
      ),
    );
    expect(JSON.parse(json).counters['THR.1.connections_open']).toMatchObject({ flag: 'g', format: 'i' });
    expect(xml.match(/<name>THR\.\d\.requests<\/name>/g)).toHaveLength(THREADS);
    expect(list.match(/^THR\.\d\.lock_waits/gm)).toHaveLength(THREADS);
    const page = parsePrometheus(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
    const samples = page.get('proxyd_thread_requests_total')?.samples ?? [];
    expect(samples.map((s) => s.labels)).toEqual(threads.map((i) => ({ thread: String(i) })));
    expect(samples.reduce((sum, s) => sum + Number(s.value), 0)).toBe(TOTAL);
  });
});

describe('the log', () => {
  it('has every request once, whole, with its fetch', async () => {
    const logged = async (): Promise<string[]> =>
      (await proxy.log('-g', 'request')).split(/\n\n+/).filter((group) => group.includes('rxreq'));
    await until('the last of them', async () => (await logged()).length >= TOTAL);
    const groups = await logged();
    expect(groups).toHaveLength(TOTAL);
    expect(groups.filter((group) => /\bVSL\b|synth/.test(group))).toEqual([]);
    const ids = groups.map((group) => /<< Request +>> (\d+)/.exec(group)?.[1]);
    expect(new Set(ids).size).toBe(TOTAL);
    const passes = groups.filter((group) => /ReqURL +\/pass/.test(group));
    expect(passes).toHaveLength(TOTAL / 5);
    for (const group of passes) expect(group).toMatch(/<< BeReq[\s\S]*BereqURL +\/pass/);
  });

  it('is counted to the last record', async () => {
    const counters = await proxy.counters();
    const raw = (await proxy.log('-g', 'raw')).trimEnd().split('\n').length;
    // Sessions and the tool's probe continue meanwhile.
    expect(Math.abs((counters['MAIN.shm_records'] as number) - raw)).toBeLessThan(20);
  });
});

it('leaves the sums of all threads when it stops', async () => {
  for (const client of clients) {
    client.send('GET /last HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.response();
  }
  expect((await proxy.adm('stop')).code).toBe(0);
  const counters = await proxy.counters();
  expect(counters['MAIN.client_req']).toBe(TOTAL + CLIENTS);
  expect(sumOf(counters, 'requests')).toBe(TOTAL + CLIENTS);
});
