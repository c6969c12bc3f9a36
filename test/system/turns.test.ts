// A turn that everybody waits for, as operators see it: an extension that computes for a third of a second is named in the list
// of turns, in the events, in the metrics and in the counters, by the state that called it.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { parsePrometheus } from '../harness/prometheus-text.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const MILLIS = 350;
/** Milliseconds: for as long turns and events are kept, or counted. */
const PATIENCE = 90_000;
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
])(
  '%s is found under %s, in the list and among the events',
  async (path, work, of) => {
    const line = new RegExp(`thread 0 +\\d+ ms  \\w+ \\d+ GET ${path}, ${work}\n`);
    const event = new RegExp(`turn +thread 0 was held up for \\d+ ms: \\w+ \\d+ GET ${path}, ${work}\n`);
    // Both have room for some of a minute: on a busy machine, where many turns are long, it takes several.
    const [found, text, events] = await until(
      'the turn',
      async () => {
        // A query may contain secrets, which readers of lists and events need not see.
        expect((await proxy.get(`${path}?token=secret`)).status).toBe(200);
        const turn = (await turns()).find((each) => each.work === work && of.test(each.of));
        const { stdout: list } = await proxy.adm('turn.list');
        const { stdout: happened } = await proxy.adm('event.list');
        expect(list + happened).not.toContain('secret');
        return turn && line.test(list) && event.test(happened) ? ([turn, list, happened] as const) : null;
      },
      PATIENCE,
    );
    expect(found.where).toBe('thread 0');
    expect(found.milliseconds).toBeGreaterThanOrEqual(MILLIS);
    expect([text, events]).toEqual([expect.stringMatching(line), expect.stringMatching(event)]);
  },
  PATIENCE + 30_000,
);

it(
  'is a counter, and a metric by the kind of work',
  async () => {
    const port = /Metrics on \S+:(\d+)/.exec(proxy.daemon.stderr)?.[1];
    const recv = await until(
      'the counter and the metric',
      async () => {
        await proxy.get('/recv');
        if (((await proxy.counters())['WRK.longest_turn_us'] ?? 0) < MILLIS * 1000) return null;
        const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        const longest = parsePrometheus(page).get('proxyd_longest_turn_seconds')?.samples ?? [];
        return longest.find(({ labels }) => labels.work === 'recv');
      },
      PATIENCE,
    );
    expect(recv.labels.where).toBe('thread 0');
    expect(Number(recv.value)).toBeGreaterThanOrEqual(MILLIS / 1000);
  },
  PATIENCE + 30_000,
);
