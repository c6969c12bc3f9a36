// Client, fake edge, proxy and origin, with time set by hand: how long each keeps a copy, and what a purge, hard or soft,
// leaves of it. The proxy runs under a clock that a file sets forward, edge and client under the same one here. Times are in
// units, of which none passes by itself within a test, however slow the machine is.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeEdge } from '../../daemon/edge/fake/fake-edge.ts';
import { EDGE_CREDENTIALS, edgeSettings } from '../harness/edge-settings.ts';
import { fetchOnce, field, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-edge-times');
const AHEAD = `${box.dir}/ahead`;
/** Seconds. */
const UNIT = 30;
let ahead = 0;
let version = 1;
let origin: Origin;
let edge: FakeEdge;
let proxy: RunningProxy;

const program = (): string => `vcl 4.1;
import std;
import edge;
include "edge_auto.vcl";
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_backend_response { set beresp.ttl = ${60 * UNIT}s; set beresp.grace = ${10 * UNIT}s; }
`;

/** Time for everybody but the origin. */
function advance(units: number): void {
  ahead += units * UNIT * 1000;
  writeFileSync(AHEAD, String(ahead).padEnd(16));
}

async function start(name: string, more: Record<string, string>): Promise<RunningProxy> {
  const conf = `${box.dir}/${name}.conf`;
  writeFileSync(conf, edgeSettings(edge, more), { mode: 0o600 });
  return startProxy(box, {
    program: program(),
    dir: box.path(name),
    // The edge keeps its connection, which is not to be closed while it asks, only because the clock was set forward.
    params: { timeout_idle: '86400' },
    env: {
      EDGE_CONNECTOR_CONFIG: conf,
      CLOCK_AHEAD: AHEAD,
      NODE_OPTIONS: `--require ${ROOT}test/harness/shifted-clock.cjs`,
    },
  });
}

beforeAll(async () => {
  advance(0);
  origin = await Origin.start();
  origin.on('*', ({ url }) =>
    respond(
      '200 OK',
      { xkey: 'all', 'Cache-Control': 'max-age=3600', ETag: `"v${version}"` },
      `version ${version} of ${url}`,
    ),
  );
  edge = await FakeEdge.start({ credentials: EDGE_CREDENTIALS, now: () => Date.now() + ahead });
  proxy = await start('usual', {});
  edge.proxy = { host: '127.0.0.1', port: proxy.port };
});
afterAll(async () => {
  await origin.close();
  await edge.close();
  await box.dispose();
});
beforeEach(() => {
  version = 1;
});

const viaEdge = (path: string, fields: Record<string, string> = {}): Promise<Response> =>
  fetchOnce(edge.cachePort, path, { host: 'www.example.com', fields });
const direct = (path: string, method = 'GET', at = proxy): Promise<Response> =>
  fetchOnce(at.port, path, { host: 'www.example.com', method });
const output = (answer: Response): string[] => [
  answer.body.toString(),
  field(answer, 'x-edge-cache') ?? 'none',
];

/** Seconds for which a browser or a cache in front of the edge may use a response (RFC 9111, 4.2). */
function downstreamLife(answer: Response): number {
  const control = field(answer, 'cache-control') ?? '';
  const most = Number(/(?:^|,)\s*max-age=(\d+)/.exec(control)?.[1] ?? 0);
  return most - Number(field(answer, 'age') ?? 0);
}

/** Seconds equal to this many units, minus the time that the machine has taken since. */
function expectUnits(seconds: number, units: number): void {
  expect(seconds).toBeLessThanOrEqual(units * UNIT);
  expect(seconds).toBeGreaterThan((units - 1) * UNIT);
}

async function purged(method: string, path: string): Promise<void> {
  expect((await direct(path, method)).status).toBe(200);
  await until('the edge was told', async () => (await proxy.adm('edge.queue')).stdout.trim() === 'Nothing.');
}

describe('lifetimes', () => {
  it('the edge keeps a copy for TTL + grace, caches in front of it for the TTL', async () => {
    const first = await viaEdge('/life');
    expect(output(first)).toEqual(['version 1 of /life', 'miss']);
    expectUnits(downstreamLife(first), 60);
    expect(field(first, 'edge-control')).toBeUndefined();
    advance(40);
    const second = await viaEdge('/life');
    expect(output(second)).toEqual(['version 1 of /life', 'hit']);
    expectUnits(downstreamLife(second), 20);
    // Beyond the TTL the edge still has it, and no cache in front of it may store its response.
    advance(25);
    const third = await viaEdge('/life');
    expect(output(third)).toEqual(['version 1 of /life', 'hit']);
    expect(downstreamLife(third)).toBeLessThanOrEqual(0);
    version = 2;
    advance(4);
    expect(output(await viaEdge('/life'))).toEqual(['version 1 of /life', 'hit']);
    advance(2);
    expect(output(await viaEdge('/life'))).toEqual(['version 2 of /life', 'miss']);
  });

  it('what remains is what counts: a copy that is old at the proxy is no younger at the edge', async () => {
    await direct('/old');
    advance(50);
    const answer = await viaEdge('/old');
    expectUnits(downstreamLife(answer), 10);
    version = 2;
    advance(19);
    expect(output(await viaEdge('/old'))).toEqual(['version 1 of /old', 'hit']);
    advance(2);
    expect(output(await viaEdge('/old'))[0]).toBe('version 2 of /old');
  });

  it('a copy that is stale at the proxy is fetched again for the edge, and answered from grace for others', async () => {
    await direct('/grace');
    advance(65);
    version = 2;
    expect(output(await direct('/grace'))[0]).toBe('version 1 of /grace');
    await until(
      'the background fetch',
      async () => output(await direct('/grace'))[0] === 'version 2 of /grace',
    );
    advance(65);
    version = 3;
    expect(output(await viaEdge('/grace'))).toEqual(['version 3 of /grace', 'miss']);
  });

  it('a copy that is unchanged is revalidated, for another TTL + grace', async () => {
    await viaEdge('/same');
    advance(71);
    expect(output(await viaEdge('/same'))).toEqual(['version 1 of /same', 'revalidated']);
    advance(69);
    expect(output(await viaEdge('/same'))).toEqual(['version 1 of /same', 'hit']);
  });
});

describe('purges', () => {
  it('a purge clears both', async () => {
    await viaEdge('/p');
    version = 2;
    await purged('PURGE', '/p');
    expect(output(await viaEdge('/p'))).toEqual(['version 2 of /p', 'miss']);
  });

  it('after a soft purge the edge asks, and never has the old copy again', async () => {
    await viaEdge('/s');
    version = 2;
    await purged('SOFTPURGE', '/s');
    expect(output(await viaEdge('/s'))).toEqual(['version 2 of /s', 'miss']);
    for (const units of [0, 5, 30, 30, 60]) {
      advance(units);
      expect(output(await viaEdge('/s'))[0]).toBe('version 2 of /s');
    }
  });

  it('nor does one who was answered from grace in between give it back to the edge', async () => {
    await viaEdge('/race');
    version = 2;
    // The origin is slow, so that the proxy answers others from grace meanwhile.
    origin.on('/race', () => [
      { wait: 300 },
      ...respond('200 OK', { ETag: `"v${version}"` }, `version ${version} of /race`),
    ]);
    await purged('SOFTPURGE', '/race');
    const [stale, fresh] = await Promise.all([direct('/race'), viaEdge('/race')]);
    expect(stale.body.toString()).toBe('version 1 of /race');
    expect(output(fresh)[0]).toBe('version 2 of /race');
    expect(output(await viaEdge('/race'))).toEqual(['version 2 of /race', 'hit']);
  });

  it.each([
    ['BAN', { 'x-ban': 'req.http.host == www.example.com && req.url ~ ^/news/' }],
    ['PURGE', { xkey: 'all' }],
  ])('%s %o clears both', async (method, fields) => {
    await viaEdge('/news/1');
    await viaEdge('/news/2');
    version = 2;
    const asked = await fetchOnce(proxy.port, '/', { host: 'www.example.com', method, fields });
    expect(asked.status).toBe(200);
    await until(
      'the edge was told',
      async () => (await proxy.adm('edge.queue')).stdout.trim() === 'Nothing.',
    );
    for (const path of ['/news/1', '/news/2'])
      expect(output(await viaEdge(path))).toEqual([`version 2 of ${path}`, 'miss']);
  });
});

it('the test object arrives through the edge', async () => {
  const answer = await viaEdge('/edge/testobject.html');
  expect([answer.status, answer.body.length, field(answer, 'x-edge-cache')]).toEqual([200, 20_480, 'miss']);
  expect(output(await viaEdge('/edge/testobject.html'))[1]).toBe('hit');
});

describe('switches', () => {
  const VIA = '1.1 edge-fake (edge-fake)';
  const asEdge = (at: RunningProxy, path: string): Promise<Response> =>
    fetchOnce(at.port, path, { host: 'www.example.com', fields: { Via: VIA } });

  it('edge_age = keep, basis = original', async () => {
    const other = await start('kept', { edge_age: 'keep', basis: 'original' });
    await asEdge(other, '/a');
    advance(30);
    const answer = await asEdge(other, '/a');
    // A second more for each that the machine has taken.
    const age = Number(field(answer, 'age'));
    expect(age).toBeGreaterThanOrEqual(30 * UNIT);
    expect(age).toBeLessThan(31 * UNIT);
    expect(field(answer, 'edge-control')).toBe(`max-age=${70 * UNIT}`);
    expect(field(answer, 'cache-control')).toBe(`max-age=${60 * UNIT}, post-check=${60 * UNIT}`);
    // The edge takes the age off.
    edge.proxy = { host: '127.0.0.1', port: other.port };
    await viaEdge('/a');
    version = 2;
    advance(39);
    expect(output(await viaEdge('/a'))).toEqual(['version 1 of /a', 'hit']);
    advance(2);
    expect(output(await viaEdge('/a'))).toEqual(['version 2 of /a', 'miss']);
    edge.proxy = { host: '127.0.0.1', port: proxy.port };
  });

  it('downstream = origin, grace_to_edge = serve', async () => {
    const other = await start('served', { downstream: 'origin', grace_to_edge: 'serve' });
    const first = await asEdge(other, '/a');
    const check = /^max-age=3600, post-check=(\d+)$/.exec(field(first, 'cache-control') ?? '')?.[1];
    expectUnits(Number(check), 60);
    advance(65);
    version = 2;
    const second = await asEdge(other, '/a');
    expect(second.body.toString()).toBe('version 1 of /a');
    expectUnits(Number(/^max-age=(\d+)$/.exec(field(second, 'edge-control') ?? '')?.[1]), 5);
    expect(field(second, 'cache-control')).toBe('max-age=3600, post-check=0');
  });
});
