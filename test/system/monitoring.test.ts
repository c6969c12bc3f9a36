// The files that platform teams take from daemon/monitoring: each metric that its rules and its dashboard name is served, with
// the labels that they use; the rules fire where they should, by promtool; the access log of its page is JSON.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { findProgram, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy } from '../harness/proxy.ts';
import { startTlsProxy } from '../harness/tls-proxy.ts';

const FOLDER = new URL('../../daemon/monitoring/', import.meta.url).pathname;
const read = (name: string): string => readFileSync(FOLDER + name, 'utf8');
/** Served only while there is something to say. */
const CONDITIONAL = new Set(['proxyd_longest_turn_seconds']);

const box = new Sandbox('proxyd-monitoring');
afterAll(() => box.dispose());
let proxy: RunningProxy;
let metrics = '';

beforeAll(async () => {
  const origin = await Origin.start();
  origin.on('*', () => respond('200 OK', { 'cache-control': 'max-age=60' }, 'body'));
  const program = `vcl 4.1; backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }`;
  ({ proxy } = await startTlsProxy(box, { program, args: ['--metrics', '127.0.0.1:0'] }));
  await fetchOnce(proxy.port, '/a"b', { fields: { 'User-Agent': 'x "y" \\z' } });
  await proxy.logged('End', '-g', 'request');
  const port = await until('metrics', () => /Metrics on \S+:(\d+)/.exec(proxy.daemon.stderr)?.[1] ?? null);
  metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
});

/** Expressions of the rules and the dashboard. */
function expressions(): string[] {
  const rules = [...read('alerts.yml').matchAll(/^ +expr: (.*)$/gm)].map(([, text = '']) => text);
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
    panels: { targets: { expr: string }[] }[];
  };
  return [...rules, ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];
}

describe('rules and dashboard', () => {
  it('name metrics that are served', () => {
    const names = new Set(expressions().flatMap((text) => text.match(/\bproxyd_\w+/g) ?? []));
    expect(names.size).toBeGreaterThan(30);
    const missing = [...names].filter(
      (name) => !CONDITIONAL.has(name) && !new RegExp(`^${name}[ {]`, 'm').test(metrics),
    );
    expect(missing).toEqual([]);
  });

  it('use labels that these metrics have', () => {
    for (const [metric, label] of [
      ['proxyd_backend_up', 'backend'],
      ['proxyd_storage_c_fail_total', 'storage'],
      ['proxyd_thread_silent_seconds', 'thread'],
    ] as const)
      expect(metrics).toMatch(new RegExp(`^${metric}\\{[^}]*\\b${label}="`, 'm'));
  });

  it('count what they say: threads at work in thousandths', () => {
    for (const [, value] of metrics.matchAll(/^proxyd_thread_loop_busy\{[^}]*\} (\S+)$/gm))
      expect(Number(value)).toBeLessThanOrEqual(1000);
  });
});

const promtool = findProgram('promtool');
describe.skipIf(promtool === null)(
  `promtool${promtool === null ? ' (skipped: it is not installed)' : ''}`,
  () => {
    it.each([
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
      ['check', 'config', '--syntax-only', 'prometheus.yml'],
    ])('%s %s %s', async (...args) => {
      const out = await new Promise<string>((resolve) =>
        execFile(promtool as string, args, { cwd: FOLDER }, (cause, stdout, stderr) =>
          resolve(`${cause?.message ?? ''}${stdout}${stderr}`),
        ),
      );
      expect(out).toContain('SUCCESS');
    });
  },
);

it('the access log of the page is a JSON document a line', async () => {
  const [, format = ''] = /proxyncsa -n \/run\/proxyd -j -F '(.*)'/.exec(read('README.md')) ?? [];
  const ncsa = `${ROOT}/dist/console/bin/proxyncsa.js`;
  // Times are local, and say of which zone.
  const env = { ...process.env, TZ: 'Asia/Kathmandu' };
  const { stdout } = await run(process.execPath, [ncsa, '-n', proxy.dir, '-d', '-j', '-F', format], { env });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  const line = JSON.parse(lines[0] as string) as { time: string };
  expect(line.time).toMatch(/\+0545$/);
  expect(Math.abs(Date.parse(line.time) - Date.now())).toBeLessThan(600_000);
  expect(line).toMatchObject({
    method: 'GET',
    url: '/a"b',
    status: 200,
    cache: 'miss',
    agent: 'x "y" \\z',
  });
});
