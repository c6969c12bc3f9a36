// Recordings go both ways: what proxylog -w writes of proxyd's log Varnish's tool prints as proxylog does, and
// what Varnish's tool writes of its own daemon's log proxylog prints as that tool does. The programs
// themselves run here, on the same varied traffic.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type Product, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';
import { fieldTool } from './log-tools.ts';

const PROGRAM = `
import std;
backend dead { .host = "127.0.0.1"; .port = "9"; }
sub vcl_recv {
  std.log("key: a value");
  if (req.url == "/synth") { return (synth(700, "Made")); }
  if (req.url == "/pass") { return (pass); }
  if (req.url == "/dead") { set req.backend_hint = dead; }
  if (req.url == "/restart" && req.restarts < 2) { return (restart); }
  if (req.url == "/fail") { return (fail("because")); }
}
sub vcl_backend_response {
  if (bereq.url == "/retry" && bereq.retries < 2) { return (retry); }
}`;
const URLS = [
  '/',
  '/',
  '/a',
  '/pass',
  '/synth',
  '/dead',
  '/restart',
  '/fail',
  '/retry',
  `/${'x'.repeat(400)}`,
];
const MASK = '+Hash,+VfpAcct,+VdpAcct,+ObjProtocol,+ObjStatus,+ObjReason,+ObjHeader,+ExpKill';
const GROUPINGS = ['raw', 'vxid', 'request', 'session'] as const;

describe.skipIf(fieldTool === null)('recordings', () => {
  const box = new Sandbox('log-recordings');
  const running = new Map<Product, RunningProxy>();
  const file = (product: Product): string => `${box.dir}/${product}.vsl`;
  let origin: Origin;

  const printed = async (product: Product, path: string, ...args: string[]): Promise<string> => {
    const done = await tool(product, 'log', ['-r', path, ...args]);
    expect(done.code, done.stderr).toBe(0);
    return done.stdout;
  };

  beforeAll(async () => {
    origin = await Origin.start();
    for (const product of ['proxyd', 'varnish'] as const) {
      const proxy = await startProxy(box, {
        product,
        program: backendProgram(origin.port, PROGRAM),
        params: { vsl_mask: MASK },
      });
      running.set(product, proxy);
      for (const url of URLS) await fetchOnce(proxy.port, url);
      await proxy.requestsLogged(URLS.length);
      const done = await tool(product, 'log', ['-n', proxy.dir, '-d', '-g', 'raw', '-w', file(product)]);
      expect(done.code, done.stderr).toBe(0);
    }
  });

  afterAll(async () => {
    for (const proxy of running.values()) await proxy.stop();
    await origin.close();
    await box.dispose();
  });

  it.each(['proxyd', 'varnish'] as const)('of %s are printed alike by both tools', async (product) => {
    for (const grouping of GROUPINGS) {
      for (const more of [[], ['-v'], ['-c', '-i', 'ReqURL'], ['-q', 'ReqURL ~ "^/[rs]"']]) {
        const args = ['-g', grouping, ...more];
        const ours = await printed('proxyd', file(product), ...args);
        expect(ours, args.join(' ')).toBe(await printed('varnish', file(product), ...args));
        if (grouping === 'raw' && more.length === 0) expect(ours.split('\n').length).toBeGreaterThan(300);
      }
    }
  });

  it('made with filters are read back, by both tools', async () => {
    const some = box.path('some.vsl');
    const filters = ['-i', 'Begin,ReqURL,End', '-x', 'SessOpen', '-q', 'ReqURL'];
    for (const writer of ['proxyd', 'varnish'] as const) {
      const done = await tool(writer, 'log', ['-r', file('proxyd'), '-g', 'request', ...filters, '-w', some]);
      expect(done.code, done.stderr).toBe(0);
      const back = await printed('proxyd', some, '-g', 'vxid');
      expect(back).toContain('ReqURL         /restart');
      expect(back).not.toContain('RespStatus');
      expect(back).toBe(await printed('varnish', some, '-g', 'vxid'));
    }
  });

  it('are written with the same bytes by both tools', async () => {
    const [ours, field] = [box.path('ours.vsl'), box.path('field.vsl')];
    for (const args of [['-g', 'vxid'], ['-g', 'session', '-c'], ['-g', 'raw', '-i', 'Req*'], ['-a']]) {
      await tool('proxyd', 'log', ['-r', file('varnish'), ...args, '-w', ours]);
      await tool('varnish', 'log', ['-r', file('varnish'), ...args, '-w', field]);
      expect(readFileSync(ours).equals(readFileSync(field)), args.join(' ')).toBe(true);
    }
  });

  it('that are cut show what is whole and say so; what is no recording is refused', async () => {
    const whole = readFileSync(file('proxyd'));
    const cut = box.path('cut.vsl');
    writeFileSync(cut, whole.subarray(0, 5001));
    const ours = await tool('proxyd', 'log', ['-r', cut, '-g', 'raw']);
    expect(ours.code).toBe(0);
    expect(ours.stdout).toBe(await printed('varnish', cut, '-g', 'raw'));
    expect(ours.stderr).toMatch(/^VSL file read error: \d+ bytes of a cut record at the end\n$/);
    for (const [bytes, error] of [
      ['no log at all', 'Not a VSL file: '],
      ['', 'VSL file read error: EOF'],
    ] as const) {
      writeFileSync(cut, bytes);
      for (const product of ['proxyd', 'varnish'] as const) {
        const done = await tool(product, 'log', ['-r', cut]);
        expect(done).toMatchObject({ code: 1, stdout: '' });
        expect(done.stderr).toContain(error);
      }
    }
  });
});
