// Counters after traffic that is known to the request, as the daemon has them and as proxystat prints them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-counters');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  origin.on('/private', respond('200 OK', { 'Cache-Control': 'private' }, 'mine\n'));
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.url == "/pass") { return (pass); }
  if (req.url == "/synth") { return (synth(404)); }
}`,
    ),
  });
  const paths = ['/a', '/a', '/a', '/b', '/b', '/private', '/private', '/pass', '/synth'];
  for (const path of paths) await proxy.get(path);
  await proxy.get('/b', { method: 'PURGE' });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe('counters', () => {
  it('are those of the traffic', async () => {
    await proxy.requestsLogged(10);
    const counters = await proxy.counters();
    expect(counters).toMatchObject({
      'MAIN.sess_conn': 10,
      'MAIN.client_req': 10,
      'MAIN.cache_hit': 3,
      'MAIN.cache_miss': 4,
      'MAIN.cache_hitmiss': 1,
      'MAIN.beresp_uncacheable': 3,
      'MAIN.s_pass': 1,
      'MAIN.s_synth': 2,
      'MAIN.s_fetch': 5,
      'MAIN.backend_req': 5,
      'MAIN.n_purges': 1,
      'MAIN.n_obj_purged': 1,
      'MAIN.fetch_length': 5,
      'MAIN.n_object': 2,
      'MAIN.n_backend': 1,
      'VBE.boot.default.req': 5,
      'VBE.boot.default.beresp_bodybytes': 6 * 3 + 5 * 2,
      'MGT.child_start': 1,
    });
    // Gauges of storages may be a second old.
    await proxy.counterReaches('SMA.s0.g_bytes', 1);
    const threads = Object.entries(counters).filter(([name]) => /^THR\.\d+\.requests$/.test(name));
    expect(threads.reduce((sum, [, value]) => sum + value, 0)).toBe(10);
    expect(counters['MAIN.s_resp_bodybytes_hit']).toBe(3 * 6);
    expect(counters['MAIN.s_resp_bodybytes']).toBeGreaterThan(5 * 6 + 2 * 5);
  });

  it('are printed by proxystat, with the change a second since the start', async () => {
    const stat = (...args: string[]) => tool('proxyd', 'stat', ['-n', proxy.dir, ...args]);
    const [once, json, none] = await Promise.all([
      stat('-1', '-f', 'MAIN.cache_hit', '-f', 'MAIN.client_req', '-f', 'MAIN.uptime'),
      stat('-j', '-f', 'MAIN.cache_*'),
      stat('-1', '-f', 'NO.such'),
    ]);
    expect(once).toMatchObject({ code: 0, stderr: '' });
    const rows = [...once.stdout.matchAll(/^(\S+) +(\d+) +(\S+) (.*)$/gm)].map((row) => row.slice(1));
    const uptime = Number(rows.find(([name]) => name === 'MAIN.uptime')?.[1]);
    const rate = (value: number): RegExp => {
      // The rate is of the uptime that the values were taken at.
      const rates = [uptime, uptime + 1].map((seconds) => (value / seconds).toFixed(2).replace('.', '\\.'));
      return new RegExp(`^(${rates.join('|')})$`);
    };
    expect(rows.filter(([name]) => name !== 'MAIN.uptime')).toEqual([
      ['MAIN.client_req', '10', expect.stringMatching(rate(10)), 'Well-formed client requests'],
      ['MAIN.cache_hit', '3', expect.stringMatching(rate(3)), 'Lookups that found a usable object'],
    ]);
    const parsed = JSON.parse(json.stdout) as { counters: Record<string, { value: number; flag: string }> };
    expect(parsed.counters['MAIN.cache_hit']).toMatchObject({ value: 3, flag: 'c' });
    expect(parsed.counters['MAIN.cache_miss']).toMatchObject({ value: 4 });
    expect(Object.keys(parsed.counters)).not.toContain('MAIN.client_req');
    expect(none).toMatchObject({ code: 0, stdout: '' });
  });
});
