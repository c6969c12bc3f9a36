// Backends and directors that an extension from a file makes, in a running proxy. Black box: only dist/ and its
// commands.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-made');
const folder = box.path('modules');
mkdirSync(folder, { recursive: true });

async function origin(answer: string): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    response.end(`${answer} ${request.headers.host ?? ''}`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}
const origins = [await origin('a'), await origin('b')];
const [a = '', b = ''] = origins.map((server) => String((server.address() as AddressInfo).port));

const file = join(folder, 'ways.mjs');
writeFileSync(
  file,
  `export const extension = { abi: 1,
  functions: {
    to: { signature: 'BACKEND to(STRING host, STRING port)', call: (ctx, host, port) => ctx.backendAt({ host, port }) },
    named: {
      signature: 'BACKEND named(STRING port, [PROBE p])',
      waits: true,
      call: async (ctx, port, probe) => {
        await new Promise((go) => setTimeout(go, 5));
        return ctx.backendAt({ host: '127.0.0.1', port, connectTimeout: 1, probe });
      },
    },
    late: { signature: 'VOID late()', call: (ctx) => ctx.director('late', { resolve: () => null }) },
  },
  objects: {
    turns: {
      signature: 'turns(STRING a, STRING b)',
      create(ctx, name, a, b) {
        const both = [a, b].map((port) => ctx.backendAt({ host: '127.0.0.1', port, hostHeader: 'turns' }));
        let n = 0;
        const resolve = (c) => {
          if (c.bereq.url === '/throws') throw new Error('on purpose');
          return c.bereq.url === '/nowhere' ? null : both[n++ % 2];
        };
        return { director: ctx.director(name, { resolve, healthy: (now) => both.some((x) => x.healthy(now)) }) };
      },
      methods: { backend: { signature: 'BACKEND backend()', call: (_ctx, self) => self.director } },
    },
  },
};`,
);

const PROGRAM = `vcl 4.1;
import ways from "${file}";
backend none none;
probe pr { .url = "/p"; .initial = 8; }
sub vcl_init { new t = ways.turns("${a}", "${b}"); }
sub vcl_recv { if (req.url == "/late") { ways.late(); } return (pass); }
sub vcl_backend_fetch {
  if (bereq.http.to) { set bereq.backend = ways.to(bereq.http.to, bereq.http.port); }
  elsif (bereq.http.probed) { set bereq.backend = ways.named(bereq.http.port, pr); }
  elsif (bereq.http.port) { set bereq.backend = ways.named(bereq.http.port); }
  else { set bereq.backend = t.backend(); }
}`;

let proxy: RunningProxy;
beforeAll(async () => {
  // Data that an extension creates for itself belongs to one thread.
  proxy = await startProxy(box, { program: PROGRAM, params: { worker_threads: '1' } });
});
afterAll(async () => {
  for (const server of origins) server.close();
  await box.dispose();
});

const body = async (path: string, fields: Record<string, string> = {}): Promise<string> => {
  const answer = await proxy.get(path, { fields });
  return `${answer.status} ${answer.body.toString().slice(0, 1)}`;
};
const listed = async (): Promise<string> => (await proxy.adm('backend.list')).stdout;

describe('what an extension makes', () => {
  it('is a director, which says for each fetch where it goes', async () => {
    const got = [await body('/1'), await body('/2'), await body('/3')];
    expect(got).toEqual(['200 a', '200 b', '200 a']);
    expect((await body('/nowhere')).slice(0, 3)).toBe('503');
    expect((await body('/throws')).slice(0, 3)).toBe('503');
    await proxy.logged(/ VCL_Error +b Director t: on purpose/, '-g', 'raw');
    await proxy.logged(/ FetchError +b Director t returned no backend/, '-g', 'raw');
    expect(await listed()).toMatch(/^boot\.t +healthy/m);
  });

  it('is a backend of the program: listed and counted, one for a description', async () => {
    const to = { to: '127.0.0.1', port: a };
    expect([await body('/', to), await body('/', to)]).toEqual(['200 a', '200 a']);
    expect(await body('/', { port: b })).toBe('200 b');
    expect(await body('/', { port: b, probed: '1' })).toBe('200 b');
    const rows = (await listed()).split('\n').filter((row) => row.startsWith('boot.127.'));
    // Those of vcl_init have another Host header, and were first.
    expect(rows.map((row) => row.split(' ')[0])).toEqual([
      `boot.127.0.0.1:${a}`,
      `boot.127.0.0.1:${b}`,
      `boot.127.0.0.1:${a}(2)`,
      `boot.127.0.0.1:${b}(2)`,
      `boot.127.0.0.1:${b}(3)`,
    ]);
    const counters = await proxy.counters();
    expect(counters[`VBE.boot.127.0.0.1:${a}(2).req`]).toBe(2);
    expect(counters['MAIN.n_backend']).toBe(5);
    expect(rows[4]).toMatch(/ probe +\d\/8/);
  });

  it('is refused in words where it cannot be', async () => {
    await body('/', { to: 'example.com', port: '80' });
    await proxy.logged(/ VCL_Error +[bc] .*"example\.com" is not a backend address/, '-g', 'raw');
    await body('/', { to: '127.0.0.1', port: '0' });
    await proxy.logged(/ VCL_Error +[bc] .*port "0" is not valid/, '-g', 'raw');
    await body('/late');
    await proxy.logged(/ VCL_Error +[bc] .*directors are created in vcl_init/, '-g', 'raw');
  });

  it('is found by name by the built-in goto, where an acl allows its address', async () => {
    const vcl = join(folder, 'goto.vcl');
    writeFileSync(
      vcl,
      `vcl 4.1; import goto; backend none none; acl here { "127.0.0.0"/8; "::1"; } acl there { "192.0.2.1"; }
      sub vcl_recv { return (pass); }
      sub vcl_backend_fetch {
        if (bereq.url == "/there") { set bereq.backend = goto.dns_backend("localhost", there, "${a}"); }
        else { set bereq.backend = goto.dns_backend("127.0.0.1", here, "${a}"); }
        if (bereq.url == "/name") { set bereq.backend = goto.dns_backend("localhost", here, "${b}"); }
      }`,
    );
    expect(await proxy.adm('vcl.load', 'goto', vcl)).toMatchObject({ code: 0 });
    await proxy.adm('vcl.use', 'goto');
    expect(await body('/')).toBe('200 a');
    expect(await body('/name')).toBe('200 b');
    expect((await body('/there')).slice(0, 3)).toBe('503');
    await proxy.logged(/ VCL_Error +b "localhost" has no address that there allows/, '-g', 'raw');
    expect(await listed()).toMatch(new RegExp(`^goto\\.127\\.0\\.0\\.1:${b} +healthy`, 'm'));
    await proxy.adm('vcl.use', 'boot');
    await proxy.adm('vcl.discard', 'goto');
  });

  it('goes with its program', async () => {
    const other = join(folder, 'other.vcl');
    writeFileSync(other, 'vcl 4.1; backend d { .host = "127.0.0.1"; }');
    expect((await proxy.adm('vcl.load', 'other', other)).code).toBe(0);
    await proxy.adm('vcl.use', 'other');
    await proxy.adm('vcl.discard', 'boot');
    expect((await proxy.adm('backend.list', '*.*')).stdout).not.toContain('boot.');
    // A program goes with its last request.
    await until('one backend', async () => (await proxy.counters())['MAIN.n_backend'] === 1);
    const counters = await proxy.counters();
    expect(Object.keys(counters).filter((name) => name.startsWith('VBE.boot.'))).toEqual([]);
  });
});
