// A turn that everybody waits for, as operators see it: an extension that computes for a third of a second is named in the list
// of turns, in the events, in the metrics and in the counters, by the state that called it.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { parsePrometheus } from '../harness/prometheus-text.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const MILLIS = 350;
const box = new Sandbox('proxyd-turns');
const FILE = `${box.path('busy')}.mjs`;
const MODULE = `
export const extension = {
  abi: 1,
  functions: {
    compute: {
      signature: 'VOID compute()',
      call: () => {
        for (const end = performance.now() + ${MILLIS}; performance.now() < end; );
      },
    },
  },
};
`;
const program = (port: number): string => `vcl 4.1; import busy from "${FILE}";
backend default { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv { if (req.url ~ "^/recv") { busy.compute(); } }
sub vcl_backend_response { if (bereq.url ~ "^/response") { busy.compute(); } }
sub vcl_deliver { if (req.url ~ "^/deliver") { busy.compute(); } }
`;

let origin: Origin;
let proxy: RunningProxy;
beforeAll(async () => {
  writeFileSync(FILE, MODULE);
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'x'));
  proxy = await startProxy(box, {
    program: program(origin.port),
    params: { worker_threads: '1' },
    args: ['--metrics', '127.0.0.1:0'],
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

interface Turn {
  where: string;
  milliseconds: number;
  work: string;
  of: string;
}

async function turns(): Promise<Turn[]> {
  const { stdout } = await proxy.adm('turn.list', '-j');
  return (JSON.parse(stdout) as unknown[]).slice(3) as Turn[];
}

it.each([
  ['/recv', 'recv', /^request \d+ GET \/recv$/],
  ['/response', 'respond', /^fetch \d+ GET \/response$/],
  ['/deliver', 'deliver', /^request \d+ GET \/deliver$/],
])('%s is found under %s, in the list and among the events', async (path, work, of) => {
  // A query may hold secrets, and whoever reads lists and events need not know them.
  expect((await proxy.get(`${path}?token=secret`)).status).toBe(200);
  const found = await until('the turn', async () => (await turns()).find((turn) => turn.work === work));
  expect(found).toMatchObject({ where: 'thread 0', of: expect.stringMatching(of) });
  expect(found.milliseconds).toBeGreaterThanOrEqual(MILLIS);
  const { stdout: text } = await proxy.adm('turn.list');
  expect(text).toMatch(new RegExp(`thread 0 +\\d+ ms  \\w+ \\d+ GET ${path}, ${work}\n`));
  const { stdout: events } = await proxy.adm('event.list');
  expect(text + events).not.toContain('secret');
  expect(events).toMatch(
    new RegExp(`turn +thread 0 did nothing else for \\d+ ms: \\w+ \\d+ GET ${path}, ${work}\n`),
  );
});

it('is a counter, and a metric by the kind of work', async () => {
  await proxy.get('/recv');
  await until(
    'the counter',
    async () => ((await proxy.counters())['WRK.longest_turn_us'] ?? 0) >= MILLIS * 1000,
  );
  const port = /Metrics on \S+:(\d+)/.exec(proxy.daemon.stderr)?.[1];
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const longest = parsePrometheus(page).get('proxyd_longest_turn_seconds')?.samples ?? [];
  const recv = longest.find(({ labels }) => labels.work === 'recv');
  expect(recv?.labels.where).toBe('thread 0');
  expect(Number(recv?.value)).toBeGreaterThanOrEqual(MILLIS / 1000);
});
