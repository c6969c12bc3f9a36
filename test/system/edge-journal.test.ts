// The journal of purges when the worker is killed at any of its steps and when the disk is full: what was acknowledged is
// sent, nothing else is, and a purge here never depends on it. The whole daemon, with a fake edge.
import { chmodSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeEdge } from '../../daemon/edge/fake/fake-edge.ts';
import { EDGE_CREDENTIALS, edgeSettings } from '../harness/edge-settings.ts';
import { fetchOnce, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-edge-journal');
const FAULT = `${box.dir}/fault`;
let origin: Origin;
let edge: FakeEdge;
let proxy: RunningProxy;
/** URLs that were purged, and whether the proxy has answered for them. */
const asked = new Map<string, boolean>();
let urls = 0;

function fault(text: string): void {
  writeFileSync(FAULT, text);
}

async function start(name: string, more: Record<string, string>): Promise<RunningProxy> {
  const conf = `${box.dir}/${name}.conf`;
  writeFileSync(conf, edgeSettings(edge, more), { mode: 0o600 });
  return startProxy(box, {
    program: `vcl 4.1; import std; import edge; include "edge_auto.vcl";
      backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }`,
    dir: box.path(name),
    env: {
      EDGE_CONNECTOR_CONFIG: conf,
      JOURNAL_FAULT: FAULT,
      NODE_OPTIONS: `--import ${ROOT}test/harness/journal-faults.js`,
    },
  });
}

beforeAll(async () => {
  fault('');
  chmodSync(FAULT, 0o666);
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=60' }, 'body'));
  edge = await FakeEdge.start({ credentials: EDGE_CREDENTIALS });
  proxy = await start('usual', {});
});
afterAll(async () => {
  await origin.close();
  await edge.close();
  await box.dispose();
});

/** Purges a new URL; what the reply says of the edge, null when there was no reply. */
async function purge(at = proxy): Promise<{ state: string; detail?: string } | null> {
  const path = `/${++urls}`;
  asked.set(`https://www.example.com${path}`, false);
  let answer: Response;
  try {
    answer = await fetchOnce(at.port, path, { host: 'www.example.com', method: 'PURGE' });
  } catch {
    return null;
  }
  if (answer.status !== 200 && answer.status !== 207) return null;
  const reply = (JSON.parse(answer.body.toString()) as { edge: { state: string } }).edge;
  asked.set(`https://www.example.com${path}`, reply.state !== 'rejected');
  // An incomplete edge purge is not a plain 200.
  expect(answer.status).toBe(reply.state === 'rejected' || reply.state === 'dead' ? 207 : 200);
  return reply;
}

async function drained(): Promise<void> {
  await until('the queue is empty', async () => (await proxy.adm('edge.queue')).stdout.trim() === 'Nothing.');
}

async function workerPid(): Promise<number> {
  const { stdout } = await proxy.adm('pid', '-j');
  return (JSON.parse(stdout) as [number, string[], number, { worker: number }])[3].worker;
}

const STEPS = Array.from({ length: 6 }, (_, i) => i + 1).flatMap((n) => [
  `kill ${n} before`,
  `kill ${n} after`,
]);

it('a worker that is killed at any step has lost nothing that was acknowledged, and invents nothing', async () => {
  for (const step of STEPS) {
    const worker = await workerPid();
    fault(step);
    // Two at a time share a write; more follow until the step was reached.
    const killed = async (): Promise<boolean> => {
      await Promise.all([purge(), purge()]);
      return (await workerPid().catch(() => 0)) !== worker;
    };
    await until(`a worker killed: ${step}`, killed);
    await until(
      'a new one that serves',
      async () => (await fetchOnce(proxy.port, '/').catch(() => null))?.status === 200,
    );
    expect((await purge())?.state, 'a purge after it').toBe('queued');
    await drained();
  }
  const sent = new Set(edge.calls.flatMap(({ objects }) => objects).map(String));
  const acknowledged = [...asked].filter(([, done]) => done).map(([url]) => url);
  expect(acknowledged.filter((url) => !sent.has(url))).toEqual([]);
  expect([...sent].filter((url) => !asked.has(url))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThanOrEqual(STEPS.length);
});

it('a full disk: purged here, the reply reports that the edge was not notified, and it continues once there is room', async () => {
  await proxy.get('/1');
  fault('enospc');
  const full = await purge();
  expect([full?.state, full?.detail]).toEqual([
    'rejected',
    expect.stringContaining('no space left on device'),
  ]);
  expect((await proxy.get('/1')).body.toString()).toBe('body');
  const calls = edge.calls.length;
  fault('');
  expect((await purge())?.state).toBe('queued');
  await drained();
  expect(edge.calls.length).toBe(calls + 1);
});

it("mode = inline: the reply comes with the network's answer, which may be a bad one or late", async () => {
  const inline = await start('inline', { mode: 'inline', max_attempts: '2' });
  expect((await purge(inline))?.state).toBe('acked');
  edge.faults.add({ kind: '500', times: 2 });
  expect((await purge(inline))?.state).toBe('dead');
  // A disk that takes nothing is the operator's answer, and not the end of the worker.
  const worker = (await inline.adm('pid', '-j')).stdout.match(/"worker": ?(\d+)/)?.[1];
  fault('enospc');
  for (const [command, word] of [
    ['edge.retry', 'all'],
    ['edge.drop', '2'],
  ] as const) {
    const answer = await inline.adm(command, word);
    expect([answer.code, answer.stdout]).toEqual([1, expect.stringContaining('no space left on device')]);
  }
  fault('');
  expect((await inline.adm('pid', '-j')).stdout).toContain(String(worker));
  expect((await inline.adm('edge.retry', 'all')).stdout.trim()).toBe('1');
  edge.faults.add({ kind: 'slow' });
  const begin = performance.now();
  expect((await purge(inline))?.state).toBe('acked');
  expect(performance.now() - begin).toBeGreaterThan(2500);
});
