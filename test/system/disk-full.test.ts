// A disk tier on a device that is smaller than the tier, on a real file system: it keeps what fits, purges survive, and a start on the
// full device finds it again.
import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { startProxy } from '../harness/proxy.ts';

const MIB = 1 << 20;
const DEVICE = 24 * MIB;
const BODY = 100_000;
const COUNT = 500;

function mounted(path: string): boolean {
  mkdirSync(path);
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DEVICE},mode=755`, 'tmpfs', path]).status === 0;
}

const bodyFor = (url: string): string => `${url};`.repeat(BODY).slice(0, BODY);

it('keeps what fits on a device that is smaller than the storage', async ({ skip }) => {
  const box = new Sandbox('proxyd-disk-full');
  const device = box.path('device');
  if (!mounted(device)) {
    await box.dispose();
    skip('only root can mount a small file system');
  }
  const origin = await Origin.start();
  try {
    const fetches = new Map<string, number>();
    origin.on('*', ({ url }) => {
      fetches.set(url, (fetches.get(url) ?? 0) + 1);
      return respond('200 OK', { 'Cache-Control': 'max-age=86400' }, bodyFor(url));
    });
    const proxy = await startProxy(box, {
      program: `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv { if (req.method == "PURGE") { return (purge); } }`,
      // 32 segments of 2 MiB.
      storage: ['malloc,4m', `disk,${join(device, 'tier')},64m`],
    });
    const get = async (url: string): Promise<void> => {
      const response = await proxy.get(url);
      expect([response.status, response.complete], url).toEqual([200, true]);
      expect(response.body.toString() === bodyFor(url), url).toBe(true);
    };
    const urls = Array.from({ length: COUNT }, (_, i) => `/${i}`);
    for (const url of urls) await get(url);
    const counters = await proxy.counters();
    expect(counters['SMD.s1.c_full_drop']).toBeGreaterThan(5);
    expect(counters['SMD.s1.c_write']).toBeGreaterThan(COUNT * 0.9);
    expect(counters['SMD.s1.g_bytes']).toBeGreaterThan(DEVICE * 0.75);
    expect((await proxy.adm('event.list')).stdout).toContain('is full before the tier is');

    // Memory has the last forty, the device 200.
    fetches.clear();
    const recent = urls.slice(-160);
    for (const url of recent) await get(url);
    expect(fetches.size).toBeLessThan(10);

    const { bavail, bsize } = statfsSync(device);
    writeFileSync(join(device, 'other'), Buffer.alloc(bavail * bsize, 1));
    const purged = recent.slice(0, 5);
    for (const url of purged) expect((await proxy.get(url, { method: 'PURGE' })).status).toBe(200);
    await proxy.killWorker();
    fetches.clear();
    for (const url of recent.slice(0, 100)) await get(url);
    for (const url of purged) expect(fetches.get(url), url).toBe(1);
    // A segment or two went for the journals, and each that one was loaded from for those that were purged.
    expect(fetches.size).toBeLessThan(80);
    expect((await proxy.adm('event.list')).stdout).not.toContain('memory serves alone');
    await proxy.stop();
  } finally {
    await origin.close();
    spawnSync('umount', ['-l', device]);
    await box.dispose();
  }
});
