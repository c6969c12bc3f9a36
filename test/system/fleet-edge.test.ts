// A fleet in front of which there is an edge network: the network hears of each invalidation once, from the node that it began
// on, and every way to invalidate there is reaches the other node.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeEdge } from '../../daemon/edge/fake/fake-edge.ts';
import { EDGE_CREDENTIALS, edgeSettings } from '../harness/edge-settings.ts';
import { fetchOnce, field, type Response } from '../harness/http-client.ts';
import { NATS_MISSING, NatsServer } from '../harness/nats-server.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-fleet-edge');
let origin: Origin;
let network: FakeEdge;
let nodes: RunningProxy[];
let version = 0;

const program = (): string => `vcl 4.1;
import std;
import edge;
import fleet;
import purge;
import xkey;
include "edge_auto.vcl";
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv {
  if (req.method == "RETURN") { return (purge); }
  if (req.method == "FN") { return (hash); }
  if (req.method == "XKEY") { set req.http.n = xkey.purge(req.http.keys); return (synth(200, req.http.n)); }
  if (req.method == "BANFN") { ban(req.http.x); return (synth(200)); }
  if (req.method == "STDBAN") { if (std.ban(req.http.x)) { return (synth(200)); } }
  if (req.method == "URL") { std.log(edge.purge(req.http.x)); return (synth(200)); }
  if (req.method == "HERE") { edge.local_only(); return (purge); }
}
sub fn { if (req.method == "FN") { set req.http.n = purge.hard_variant(); return (synth(200, req.http.n)); } }
sub vcl_hit { call fn; }
sub vcl_miss { call fn; }
sub vcl_backend_response { set beresp.ttl = 60s; }
sub vcl_synth { set resp.http.X-Fleet = fleet.reply(); }
`;

const ask = (proxy: RunningProxy, method: string, path: string, fields = {}): Promise<Response> =>
  fetchOnce(proxy.port, path, { method, host: 'www.example.com', fields });

const missing = NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`;
describe.skipIf(NATS_MISSING !== null)(`with an edge network${missing}`, () => {
  beforeAll(async () => {
    const nats = await NatsServer.start(box);
    origin = await Origin.start();
    origin.on('*', ({ url }) => respond('200 OK', { xkey: 'all' }, `${url} v${version}`));
    network = await FakeEdge.start({ credentials: EDGE_CREDENTIALS });
    const conf = `${box.dir}/edge.conf`;
    writeFileSync(conf, edgeSettings(network), { mode: 0o600 });
    nodes = await Promise.all(
      ['a', 'b'].map((name) =>
        startProxy(box, {
          program: program(),
          dir: box.path(name),
          params: { vcl_path: `${ROOT}daemon/edge/vcl` },
          env: { EDGE_CONNECTOR_CONFIG: conf },
          args: ['--fleet', nats.url, '--fleet-name', 'shop', '--node', name],
        }),
      ),
    );
    await Promise.all(nodes.map((node) => node.counterReaches('FLEET.nodes', 2)));
  });
  beforeEach(() => {
    network.calls.length = 0;
  });
  afterAll(async () => {
    await origin?.close();
    await network?.close();
    await box.dispose();
  });

  it.each<[string, string, Record<string, string>, number]>([
    ['PURGE', '/a', {}, 1],
    ['PURGE', '/', { xkey: 'all' }, 1],
    ['REFRESH', '/a', {}, 1],
    ['BAN', '/', { 'x-ban': 'req.http.host == www.example.com && req.url == /a' }, 1],
    ['RETURN', '/a', {}, 1],
    ['FN', '/a', {}, 1],
    ['XKEY', '/', { keys: 'all' }, 1],
    ['BANFN', '/', { x: 'req.http.host == www.example.com && req.url == /a' }, 1],
    ['STDBAN', '/', { x: 'req.http.host == www.example.com && req.url == /a' }, 1],
    ['URL', '/', { x: '/a' }, 1],
    ['HERE', '/a', {}, 0],
  ])('%s %s %o', async (method, path, fields, calls) => {
    const [a, b] = nodes as [RunningProxy, RunningProxy];
    for (const node of nodes) expect((await ask(node, 'GET', '/a')).body.toString()).toBe(`/a v${version}`);
    version++;
    const answer = await ask(a, method, path, fields);
    expect(answer.status).toBe(200);
    if (method !== 'REFRESH')
      expect(field(answer, 'x-fleet')).toMatch(/^stored \d+, applied by 2 of 2 nodes$/);
    for (const node of nodes) expect((await ask(node, 'GET', '/a')).body.toString()).toBe(`/a v${version}`);
    for (const node of [a, b])
      await until(
        'the queue is empty',
        async () => (await node.adm('edge.queue')).stdout.trim() === 'Nothing.',
      );
    expect(network.calls).toHaveLength(calls);
  });
});
