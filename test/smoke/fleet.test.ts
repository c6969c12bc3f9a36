// A fleet of two over a nats-server: a purge on one is a purge on both.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { NATS_MISSING, NatsServer } from '../harness/nats-server.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

if (NATS_MISSING !== null) console.warn(`notice: smoke test of the fleet skipped: ${NATS_MISSING}`);

describe.skipIf(NATS_MISSING !== null)('a fleet', () => {
  const box = new Sandbox('proxyd-smoke-fleet');
  let origin: Origin;
  let proxies: RunningProxy[];

  beforeAll(async () => {
    const nats = await NatsServer.start(box);
    origin = await Origin.start();
    origin.on('*', (_request, n) => respond('200 OK', { 'Cache-Control': 'max-age=100000' }, `v${n}`));
    const program = `vcl 4.1;
import fleet;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
acl invalidators { "127.0.0.1"; }
include "invalidate.vcl";
`;
    proxies = await Promise.all(
      ['a', 'b'].map((node) =>
        startProxy(box, {
          program,
          dir: box.path(node),
          args: ['--fleet', nats.url, '--fleet-name', 'smoke', '--node', node, '--console', '127.0.0.1:0'],
        }),
      ),
    );
    await Promise.all(proxies.map((proxy) => proxy.counterReaches('FLEET.nodes', 2)));
  });
  afterAll(async () => {
    await box.dispose();
    await origin?.close();
  });

  it('has a purge on every node by the time it is answered', async () => {
    const bodies = () =>
      Promise.all(proxies.map(async (proxy) => (await proxy.get('/page')).body.toString()));
    const before = await bodies();
    expect(await bodies()).toEqual(before);
    const purged = await (proxies[0] as RunningProxy).get('/page', { method: 'PURGE' });
    expect([purged.status, field(purged, 'x-fleet')]).toEqual([
      200,
      expect.stringMatching(/^stored \d+, applied by 2 of 2 nodes$/),
    ]);
    const after = await bodies();
    for (const body of after) expect(before).not.toContain(body);
  });
});
