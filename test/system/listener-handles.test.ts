// A runtime that makes no handles of listeners, which are no part of its published interface: the worker listens itself,
// with one thread whatever was asked for.
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { ROOT, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-listener-handles');
afterAll(() => box.dispose());

it.each([1, 3])(
  'without handles of listeners it serves with one thread when %i are asked for',
  async (threads) => {
    const proxy = await startProxy(box, {
      program: 'vcl 4.1; backend default none; sub vcl_recv { return (synth(200)); }',
      port: await freePort(),
      params: { worker_threads: String(threads) },
      env: { NODE_OPTIONS: `--import ${ROOT}test/harness/no-listener-handles.js` },
    });
    expect((await proxy.get('/')).status).toBe(200);
    expect(Object.keys(await proxy.counters()).filter((name) => name.endsWith('.requests'))).toEqual([
      'THR.0.requests',
    ]);
    const warned = proxy.daemon.stderr.includes(
      `Warning: One thread serves instead of worker_threads=${threads}: this version of Node has no listening sockets`,
    );
    expect(warned).toBe(threads > 1);
    // The next worker listens on the same port.
    const before = proxy.port;
    expect((await proxy.adm('stop')).code).toBe(0);
    expect((await proxy.adm('start')).code).toBe(0);
    await proxy.serving();
    expect([proxy.port, (await proxy.get('/')).status]).toEqual([before, 200]);
    await proxy.stop();
  },
);
