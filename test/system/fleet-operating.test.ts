// The page that takes an operator from one proxy to five, tried: its certificates, its servers with their users and
// permissions, its options of proxies, its commands and the metrics of its alerts. Only places are others here.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { NATS_MISSING } from '../harness/nats-server.ts';
import { freePort, Origin, respond } from '../harness/origin.ts';
import { findProgram, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const PAGE = readFileSync(join(ROOT, 'daemon/fleet/OPERATING.md'), 'utf8');
const box = new Sandbox('proxyd-fleet-page');
const running: RunningProxy[] = [];
let origin: Origin | undefined;

/** The block of a kind in which a word stands. */
function block(kind: string, word: string): string {
  const all = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const found = all.find(([, is, text]) => is === kind && text?.includes(word))?.[2];
  if (found === undefined) throw new Error(`the page has no ${kind} with ${word}`);
  return found;
}

const missing = NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`;
describe.skipIf(NATS_MISSING !== null)(`from one proxy to five${missing}`, () => {
  afterAll(async () => {
    await Promise.all(running.map((proxy) => proxy.stop()));
    await origin?.close();
    await box.dispose();
  });

  it('works as documented', async () => {
    const dir = box.path('etc');
    mkdirSync(dir);
    const names = block('sh', 'openssl req').replaceAll(/bus-\d\.shop\.internal/g, 'localhost');
    const made = await run('sh', ['-e', '-c', names], { cwd: dir });
    expect([made.code, made.stderr.match(/rror/)]).toEqual([0, null]);

    const ports = await Promise.all(
      [1, 2, 3].map(async () => [await freePort(), await freePort(), await freePort()]),
    );
    const [clients, routes] = [0, 1].map((i) => ports.map((of) => of[i] as number)) as [number[], number[]];
    for (const [i, [client, route, http]] of ports.entries()) {
      const config = join(dir, `${i + 1}.conf`);
      const text = block('conf', 'server_name')
        .replace('"bus-1"', `"bus-${i + 1}"`)
        .replace('server_name: bus-1', `server_name: bus-${i + 1}`)
        .replaceAll(/bus-(\d)\.shop\.internal:6222/g, (_, n) => `localhost:${routes[Number(n) - 1]}`)
        .replace('0.0.0.0:4222', `127.0.0.1:${client}`)
        .replace('0.0.0.0:6222', `127.0.0.1:${route}`)
        .replace('127.0.0.1:8222', `127.0.0.1:${http}`)
        .replace('/var/lib/nats', join(dir, `store-${i + 1}`))
        .replaceAll('/etc/nats/', `${dir}/`);
      writeFileSync(config, text);
      const checked = await run(findProgram('nats-server') as string, ['-t', '-c', config]);
      expect([checked.code, checked.stderr]).toEqual([0, expect.stringMatching(/ok|valid|^$/i)]);
      box.start(`bus-${i + 1}`, findProgram('nats-server') as string, ['-c', config]);
    }
    await until('a leader', async () => {
      const reported = await fetch(`http://127.0.0.1:${ports[0]?.[2]}/jsz`).then(
        (r) => r.json(),
        () => null,
      );
      return (reported as { meta_cluster?: { leader?: string } } | null)?.meta_cluster?.leader ?? null;
    });

    origin = await Origin.start();
    origin.on('*', () => respond('200 OK', { 'Cache-Control': 'max-age=600', xkey: 'article-17' }, 'ok'));
    const program = `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
${/^ {4}acl[\s\S]*?invalidate\.vcl";$/m.exec(PAGE)?.[0].replaceAll(/^ {4}/gm, '')}`;
    const secret = join(dir, 'secret');
    writeFileSync(secret, 'secret\n', { mode: 0o600 });
    const options = /PROXYD_OPTIONS=-a :80 -s \S+ ([^"]+)"/.exec(block('ini', 'PROXYD_OPTIONS'))?.[1] ?? '';
    for (const n of [1, 2]) {
      const user = join(dir, `user-${n}`);
      writeFileSync(user, `web-${n}:change-${n}\n`, { mode: 0o640 });
      const args = options
        .replaceAll(/bus-(\d)\.shop\.internal:4222/g, (_, bus) => `localhost:${clients[Number(bus) - 1]}`)
        .replace(':9131', '127.0.0.1:0')
        .replace(':6085', '127.0.0.1:0')
        .replace('/etc/proxyd/secret', secret)
        .replace('/etc/proxyd/fleet-user', user)
        .replace('/etc/proxyd/fleet-ca.pem', join(dir, 'ca.pem'))
        .split(' ');
      running.push(await startProxy(box, { program, args: [...args, '--node', `web-${n}`] }));
    }
    const [first, second] = running as [RunningProxy, RunningProxy];
    await first.counterReaches('FLEET.nodes', 2);
    await second.counterReaches('FLEET.nodes', 2);

    for (const fields of [{}, { xkey: 'article-17' }]) {
      await first.get('/news');
      const answer = await second.get('/news', { method: 'PURGE', fields });
      expect(field(answer, 'x-fleet')).toMatch(/^stored \d+, applied by 2 of 2 nodes$/);
    }
    expect((await first.counters())['MAIN.n_object']).toBe(0);
    expect((await second.adm('ban', '"req.url ~ ^/news/"')).stdout).toMatch(
      /^Fleet: stored 3, applied by 2 of 2 nodes/,
    );
    expect((await second.adm('fleet.log')).stdout.trim().split('\n')).toHaveLength(4);

    const file = join(dir, 'default.vcl');
    writeFileSync(file, program);
    const load = (proxy: RunningProxy): Promise<{ code: number | null; stdout: string }> =>
      tool('proxyd', 'adm', ['-n', proxy.dir, 'fleet.load', 'shop-1', file]);
    // It may not write them.
    const refused = await load(second);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/[Pp]ermission/)]);
    expect((await load(first)).code).toBe(0);
    for (const words of [['fleet.use', 'shop-1', '--on', 'web-2'], ['fleet.use', 'shop-1'], ['fleet.list']]) {
      const { code, stdout } = await tool('proxyd', 'adm', ['-n', first.dir, ...words]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('shop-1')]);
    }
    expect((await second.adm('fleet.nodes')).stdout).toMatch(/web-1 +current +0 +shop-1/);

    // The address of metrics is logged at start.
    const metrics = /metrics[^\n]*?127\.0\.0\.1:(\d+)/i.exec(first.daemon.stderr)?.[1];
    const served = await fetch(`http://127.0.0.1:${metrics}/metrics`).then((r) => r.text());
    const wanted = new Set(block('yaml', 'alert:').match(/proxyd_fleet_\w+/g));
    expect(wanted.size).toBeGreaterThan(6);
    for (const name of wanted) expect(served).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});
