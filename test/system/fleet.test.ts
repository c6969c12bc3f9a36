// A fleet of three proxies over a real nats-server: an invalidation on one is applied on all, and its response
// reports the progress. Black box: only dist/ and its commands.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, type Response } from '../harness/http-client.ts';
import { NATS_MISSING, NatsServer } from '../harness/nats-server.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy, workerThreads } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-fleet');
let nats: NatsServer;
let origin: Origin;
let proxies: RunningProxy[];

/** The origin's version per URL. */
const versions = new Map<string, number>();
const versionOf = (url: string): number => versions.get(url) ?? 0;

const PROGRAM = (): string => `vcl 4.1;
import fleet;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
acl invalidators { "127.0.0.1"; }
sub vcl_recv { if (req.http.x-local) { fleet.local_only(); } }
include "invalidate.vcl";
sub vcl_backend_response { set beresp.ttl = 1h; set beresp.grace = 1h; }
`;

async function body(proxy: RunningProxy, path: string): Promise<string> {
  return (await proxy.get(path)).body.toString();
}

/** All hold the version that the origin has, then the origin has another. */
async function held(path: string): Promise<void> {
  for (const proxy of proxies) expect(await body(proxy, path)).toBe(`${path} v${versionOf(path)}`);
  versions.set(path, versionOf(path) + 1);
}
async function bodies(path: string): Promise<string[]> {
  return Promise.all(proxies.map((proxy) => body(proxy, path)));
}
const everywhere = (path: string): string[] => proxies.map(() => `${path} v${versionOf(path)}`);
const stale = (path: string): string[] => proxies.map(() => `${path} v${versionOf(path) - 1}`);

describe.skipIf(NATS_MISSING !== null)(
  `a fleet${NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`}`,
  () => {
    beforeAll(async () => {
      nats = await NatsServer.start(box);
      origin = await Origin.start();
      origin.on('*', ({ url }) =>
        respond('200 OK', { xkey: `all page${url}`, 'X-Url': url }, `${url} v${versionOf(url)}`),
      );
      proxies = await Promise.all(
        ['a', 'b', 'c'].map((node) =>
          startProxy(box, {
            program: PROGRAM(),
            dir: box.path(node),
            args: ['--fleet', nats.url, '--fleet-name', 'shop', '--node', node, '--console', '127.0.0.1:0'],
          }),
        ),
      );
      await Promise.all(proxies.map((proxy) => proxy.counterReaches('FLEET.nodes', 3)));
    });
    afterAll(async () => {
      await origin?.close();
      await box.dispose();
    });

    const [a, b, c] = [0, 1, 2].map((i) => () => proxies[i] as RunningProxy) as [
      () => RunningProxy,
      () => RunningProxy,
      () => RunningProxy,
    ];
    const ask = (proxy: RunningProxy, method: string, path: string, fields = {}): Promise<Response> =>
      proxy.get(path, { method, fields });

    it('applies a ban of the command line on all', async () => {
      await held('/ban');
      const { stdout, code } = await a().adm('ban', 'req.url', '==', '/ban');
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^Fleet: stored \d+, applied by 3 of 3 nodes\n/),
      ]);
      expect(await bodies('/ban')).toEqual(everywhere('/ban'));
    });

    it('shows its nodes on each of them, and who published what', async () => {
      const json = async (proxy: RunningProxy, ...words: string[]): Promise<Record<string, unknown>[]> =>
        (JSON.parse((await proxy.adm(...words)).stdout) as unknown[]).slice(3) as Record<string, unknown>[];
      const shown = { state: 'current', worker: 'running', program: 'boot', lag: 0, lag_seconds: 0 };
      await body(b(), '/shown');
      await body(b(), '/shown');
      await expect
        .poll(() => json(c(), 'fleet.nodes', '-j'))
        .toMatchObject([
          { ...shown, node: 'c', self: true },
          { ...shown, node: 'a', self: false, listen: [`127.0.0.1:${a().port}`] },
          {
            ...shown,
            node: 'b',
            hit_rate: expect.any(Number),
            requests: expect.any(Number),
            threads: workerThreads(),
          },
        ]);
      for (const { console } of await json(a(), 'fleet.nodes', '-j'))
        expect(console).toMatch(/^127\.0\.0\.1:\d+$/);
      await b().adm('ban', 'req.url', '==', '/logged');
      const entry = { from: 'b', by: 'admin', kind: 'ban', soft: false, state: 'applied', problem: null };
      for (const proxy of proxies) {
        const [last] = await json(proxy, 'fleet.log', '-j', '1');
        expect(last).toMatchObject({ ...entry, subject: 'req.url == /logged' });
        await expect
          .poll(async () => (await json(proxy, 'fleet.log', '-j', '1'))[0]?.reach)
          .toEqual({ applied: 3, nodes: 3, behind: [] });
      }
      expect((await a().adm('fleet.nodes')).stdout).toMatch(
        /^Node +State .*\na \(this one\) +current .* boot /,
      );
      expect((await a().adm('fleet.log', '1')).stdout).toMatch(
        / b +admin {2}ban +3 of 3 +req\.url == \/logged\n/,
      );
    });

    it('applies a purge by URL on all, and reports it to its client', async () => {
      await held('/url');
      const answer = await ask(b(), 'PURGE', '/url');
      expect([answer.status, field(answer, 'x-invalidated')]).toEqual([200, '1']);
      expect(field(answer, 'x-fleet')).toMatch(/^stored \d+, applied by 3 of 3 nodes$/);
      expect(await bodies('/url')).toEqual(everywhere('/url'));
    });

    it('applies a purge by surrogate key on all', async () => {
      await held('/key');
      expect((await ask(c(), 'PURGE', '/', { xkey: 'page/key' })).status).toBe(200);
      expect(await bodies('/key')).toEqual(everywhere('/key'));
    });

    it.each([
      ['by URL', 'SOFTPURGE', {}],
      ['by surrogate key', 'SOFTPURGE', { xkey: 'page/soft-by surrogate key' }],
      ['by expression', 'SOFTBAN', { 'x-ban': 'obj.http.x-url == /soft-by' }],
    ])('makes stale %s on all: one more is served from grace', async (how, method, fields) => {
      const path = `/soft-${how.split(' ').join('-')}`;
      const given =
        'xkey' in fields
          ? { xkey: `page${path}` }
          : 'x-ban' in fields
            ? { 'x-ban': `obj.http.x-url == ${path}` }
            : {};
      await held(path);
      expect((await ask(a(), method, path, given)).status).toBe(200);
      expect(await bodies(path)).toEqual(stale(path));
      for (const proxy of proxies) {
        await expect.poll(() => body(proxy, path)).toBe(`${path} v${versionOf(path)}`);
      }
    });

    it('keeps what is to stay on one node there', async () => {
      await held('/local');
      const answer = await ask(a(), 'PURGE', '/local', { 'x-local': '1' });
      expect([answer.status, field(answer, 'x-fleet')]).toEqual([200, undefined]);
      await held('/local-ban').then(() => a().adm('ban', '--local', 'req.url', '==', '/local-ban'));
      await ask(b(), 'PURGE', '/after');
      expect(await bodies('/local')).toEqual(['/local v1', '/local v0', '/local v0']);
      expect(await bodies('/local-ban')).toEqual(['/local-ban v1', '/local-ban v0', '/local-ban v0']);
    });
  },
);
