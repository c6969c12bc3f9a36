// Random documents and gzip streams as pages and fragments of edge-side includes, through a running proxy, for clients
// with gzip and without, some of which leave or ask for a part: the worker lives, every request comes to an end, and
// memory stays within bounds. PROXYD_ESI_FUZZ sets the number of cases, PROXYD_ESI_FUZZ_SEED the first seed.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { hostilePage } from '../harness/hostile-pages.ts';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin } from '../harness/origin.ts';
import { alive, Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const COUNT = Number(process.env.PROXYD_ESI_FUZZ ?? 1500);
const SEED = Number(process.env.PROXYD_ESI_FUZZ_SEED ?? 1);
const AT_A_TIME = 16;
const FLAGS = ['ignore_https', 'disable_xml_check', 'ignore_other_elements', 'remove_bom', 'include_onerror'];
const PROGRAM = `
sub vcl_backend_response {
  if (beresp.http.X-Esi == "1") { set beresp.do_esi = true; }
  if (beresp.http.X-Do == "gzip" || beresp.http.X-Do == "both") { set beresp.do_gzip = true; }
  if (beresp.http.X-Do == "gunzip" || beresp.http.X-Do == "both") { set beresp.do_gunzip = true; }
  if (beresp.http.X-Do == "wait") { set beresp.do_stream = false; }
  if (beresp.http.X-Do == "pass") { return (pass(10s)); }
  if (beresp.http.X-Do == "filters") { set beresp.filters = "esi"; }
}
sub vcl_deliver { if (req.http.raw) { set resp.do_esi = false; } }`;

const box = new Sandbox('proxyd-hostile-pages');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', (request) => {
    origin.requests.length = 0;
    const [, kind, seed] = /([cf])(\d+)/.exec(request.url) ?? [];
    return hostilePage(Number(seed ?? 0), kind !== 'c');
  });
  const params = { first_byte_timeout: '5', between_bytes_timeout: '5' };
  proxy = await startProxy(box, { program: backendProgram(origin.port, PROGRAM), params });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Resident megabytes of a process; zero for a dead one, so that its panic is shown. */
function resident(pid: number): number {
  if (!alive(pid)) return 0;
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** One client and what it does; rejects when it waits in vain. */
async function ask(seed: number): Promise<void> {
  const random = new Random(seed ^ 0x5bd1e995);
  const connection = await ClientConnection.open(proxy.port);
  const method = random.chance(0.05) ? 'HEAD' : 'GET';
  const head = [`${method} /c${seed} HTTP/1.${random.chance(0.05) ? 0 : 1}`, 'Host: example.test'];
  if (random.chance(0.5)) head.push('Accept-Encoding: gzip');
  if (random.chance(0.1))
    head.push(random.pick(['Range: bytes=1-9', 'Range: bytes=-5', 'If-None-Match: "e"', 'raw: 1']));
  try {
    // The second is answered from the cache as far as the first was kept.
    for (let n = 0; n < 2 && !connection.ended; n++) {
      connection.send(`${head.join('\r\n')}\r\n\r\n`);
      if (random.chance(0.05)) return;
      const response = await connection.response(method).catch((error: Error) => {
        if (/within/.test(error.message)) throw error;
        return null;
      });
      if (response === null || !response.complete) return;
    }
  } finally {
    connection.close();
  }
}

it(
  `${COUNT} broken pages from seed ${SEED} on leave the worker alive and small`,
  async () => {
    const worker = proxy.workerPid() as number;
    for (let i = 0; i < 20; i++) await ask(SEED + COUNT + i);
    const before = resident(worker);
    let most = before;
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < COUNT) {
        const seed = SEED + next++;
        // Flags change with the pages; what is being parsed keeps those it began with.
        if (seed % 100 === 0) {
          const random = new Random(seed);
          const words = FLAGS.map((f) => `${random.chance(0.3) ? '+' : '-'}esi_${f}`);
          await proxy.adm('param.set', 'feature', words.join(','));
        }
        await ask(seed).catch((error: unknown) => {
          throw new Error(`page ${seed}`, { cause: error });
        });
        if (seed % 20 === 0) most = Math.max(most, resident(worker));
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, client));
    const panic = await proxy.adm('panic.show');
    expect(panic.stdout + panic.stderr).toMatch(/has not panicked/);
    expect(proxy.workerPid()).toBe(worker);
    const figures = JSON.stringify({ cases: COUNT, before, most, after: resident(worker) });
    if (process.env.PROXYD_ESI_FUZZ !== undefined) process.stdout.write(`${figures}\n`);
    // The store holds 64 MB, and each of the clients may wait for a bomb that is being unpacked.
    expect(most - before, figures).toBeLessThan(400);
  },
  COUNT * 300 + 180_000,
);
