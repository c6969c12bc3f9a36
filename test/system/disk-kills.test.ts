// A daemon with a disk tier that is killed again and again under load: bodies are whole and of their own URL, what was purged
// does not come back, and what was stored long before is there.
import { expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { PATIENCE, Sandbox, until } from '../harness/processes.ts';
import { startProxy } from '../harness/proxy.ts';
import { isFull } from '../harness/runs.ts';

/** More by PROXYD_KILLS: a hundred take two minutes. */
const KILLS = Number(process.env.PROXYD_KILLS ?? (isFull ? 15 : 6));
const KEYS = 60;
const CLIENTS = 4;

/** A body that says which object of which version it is, in every part. */
function bodyFor(url: string, version: number): string {
  return `${url} v${version};`.repeat(20 + ((url.length * 131 + version * 17) % 4000));
}

it('serves whole and valid objects through kills', async () => {
  const box = new Sandbox('proxyd-disk-kills');
  const path = box.path('tier');
  const origin = await Origin.start();
  try {
    /** The version that the origin has of each URL. */
    const current = new Map<string, number>();
    /** The least version that may be served since a purge was answered. */
    const least = new Map<string, number>();
    origin.on('*', ({ url }) => {
      const version = current.get(url) ?? 0;
      return respond('200 OK', { 'X-Version': String(version) }, bodyFor(url, version));
    });
    const start = (n: number) =>
      startProxy(box, {
        program: `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv { if (req.method == "PURGE") { return (purge); } }
sub vcl_backend_response { set beresp.ttl = 1d; }
sub vcl_deliver { set resp.http.hits = obj.hits; }
`,
        storage: ['malloc,1m', `disk,${path},64m`],
        dir: box.path(`n${n}`),
      });
    let proxy = await start(0);
    let checked = 0;
    let hits = 0;
    let purges = 0;
    let isOver = false;
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const step = async (): Promise<void> => {
      const url = `/k${random(KEYS)}`;
      // Read before the request is sent: a purge may be answered meanwhile.
      const from = least.get(url) ?? 0;
      const until = current.get(url) ?? 0;
      if (random(20) === 0) {
        current.set(url, until + 1);
        const { status } = await proxy.get(url, { method: 'PURGE' });
        // A fetch that began before the purge brings a version before it, and is not kept.
        if (status !== 200) return;
        least.set(url, Math.max(least.get(url) ?? 0, until + 1));
        purges++;
        return;
      }
      const response = await proxy.get(url);
      if (!response.complete || response.status !== 200) return;
      const version = Number(field(response, 'X-Version'));
      expect(response.body.toString('latin1') === bodyFor(url, version), `body of ${url} v${version}`).toBe(
        true,
      );
      expect(version, url).toBeGreaterThanOrEqual(from);
      checked++;
      if (Number(field(response, 'hits')) > 0) hits++;
    };
    const client = async (): Promise<void> => {
      while (!isOver) {
        await step().catch((error: unknown) => {
          if ((error as Error).name === 'AssertionError') throw error;
          // The connection went with the worker; the next is tried once there is one.
          return new Promise((resolve) => setTimeout(resolve, 20));
        });
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    const failed = Promise.all(clients);
    failed.catch(() => undefined);
    const rounds = async (): Promise<void> => {
      for (let n = 1; n <= KILLS; n++) {
        const goal = checked + 50 + random(100);
        await until('some answers', async () => checked >= goal || null);
        const worker = proxy.workerPid() as number;
        if (n % 3 === 0) process.kill(proxy.pid, 'SIGKILL');
        process.kill(worker, 'SIGKILL');
        if (n % 3 === 0) {
          await proxy.daemon.exit(PATIENCE);
          proxy = await start(n);
        } else
          await until('another worker', async () => {
            const next = proxy.workerPid();
            return (next !== null && next !== worker) || null;
          });
      }
    };
    await Promise.race([rounds(), failed]);
    isOver = true;
    await failed;
    expect(purges).toBeGreaterThan(KILLS);
    expect(hits).toBeGreaterThan(checked / 2);
    // Nothing is lost but what was in flight.
    await proxy.counterReaches('SMD.s1.g_objects', KEYS / 2);
    expect((await proxy.adm('storage.check', 's1')).code).toBe(0);
    expect((await proxy.adm('event.list')).stdout).not.toContain('begins empty');
  } finally {
    await origin.close();
    await box.dispose();
  }
}, 600_000);
