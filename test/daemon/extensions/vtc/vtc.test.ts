// The extension vtc beyond what test/proxytest/vtc-module.vtc plays on both daemons.
import { createServer, type Server } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { typeSize } from '../../../../daemon/extensions/vtc/type-size.ts';
import { replayed } from '../../../../daemon/extensions/vtc/vsl-lines.ts';
import { vtc } from '../../../../daemon/extensions/vtc/vtc.ts';
import { Tag } from '../../../../protocol/tables/tags.ts';
import { task } from '../../vcl/fake-task.ts';

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server = null;
});

const HEAD = 'vcl 4.1; import vtc; import blob; backend d none;';

function run(statements: string) {
  const t = task(`${HEAD} sub vcl_recv { ${statements} return (pass); }`);
  const limits: Record<string, number> = { workspace_client: 26_000, vsl_buffer: 16_000 };
  t.ctx.host.param = (name) => limits[name] ?? 0;
  return { end: t.run('recv'), r: t.req.http.get('r'), errors: t.log.of('VCL_Error') };
}

it('pads structures as C does', () => {
  expect(['', 's', 'sip', 'pis', 'isisi', 'd', 'x', 'ps?'].map(typeSize)).toEqual([
    0, 2, 16, 16, 20, 8, -1, -1,
  ]);
});

it('reads records from both kinds of lines, and leaves others out', () => {
  const text = [
    '       1001 ReqURL          c /a b',
    '**** v1    vsl|          0 CLI             - Rd ping',
    '          7 Nonsense        c x',
    '          7 constructor     c x',
    '**   top   TEST',
    '1073741824 ReqURL          c beyond any id',
    '          3 End             b ',
  ].join('\n');
  expect([...replayed(text)]).toEqual([
    { vxid: 1001, tag: Tag.ReqURL, side: 'c', text: '/a b' },
    { vxid: 0, tag: Tag.CLI, side: '-', text: 'Rd ping' },
    { vxid: 3, tag: Tag.End, side: 'b', text: '' },
  ]);
});

it('names an authority in a preamble even if it is empty', () => {
  const signature = '0d0a0d0a000d0a515549540a';
  const six = run(
    'set req.http.r = blob.encode(HEX, blob=vtc.proxy_header(v2, client.ip, server.ip, ""));',
  ).r;
  expect(six?.startsWith(`${signature}21`)).toBe(true);
  expect(six?.endsWith('020000')).toBe(true);
});

it('fails what lies beyond the workspace or another task, and keeps nothing of it', () => {
  expect(run('vtc.workspace_alloc(client, 1000000000);')).toMatchObject({
    end: 'fail',
    errors: ['vtc.workspace_alloc'],
  });
  expect(run('vtc.workspace_alloc(backend, 1);').errors[0]).toContain('no backend workspace');
  expect(run('vtc.workspace_reset(client);').errors[0]).toContain('no snapshot');
  expect(run('set req.http.r = vtc.workspace_reserve(client, 1000000000);').r).toBe('0');
  expect(run('vtc.vsl(0, "constructor", c, "x");').errors).toEqual(['No such tag: constructor']);
  expect(run('vtc.vsl(-1, "Debug", c, "x");').errors[0]).toContain('out of bounds');
});

it('waits for a barrier until it closes, and fails where it speaks', async () => {
  const call = vtc.functions.barrier_sync?.call as unknown as (
    ctx: object,
    addr: string,
    timeout: number,
  ) => { start(answered: (value: unknown) => void, failed: (error: unknown) => void): void };
  const meet = (says: string) =>
    new Promise<string>((resolve) => {
      const listening = createServer((socket) => setTimeout(() => socket.end(says), 20));
      server = listening;
      listening.listen(0, '127.0.0.1', () => {
        const { port } = listening.address() as { port: number };
        call({ log: { put: () => {} } }, `127.0.0.1 ${port}`, 0).start(
          () => resolve('met'),
          (error) => resolve((error as Error).message),
        );
      });
    });
  expect(await meet('')).toBe('met');
  server?.close();
  expect(await meet('x')).toBe('Barrier unexpected message');
});
