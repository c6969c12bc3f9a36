// Functions of outside extensions that answer with a promise: what the program gets, what fails it, and where the
// compiler refuses such a call.
import { describe, expect, it } from 'vitest';
import type { StateSteps } from '../../../daemon/contract/context.ts';
import { State, type StateName } from '../../../daemon/contract/program.ts';
import { adaptExtension } from '../../../daemon/extensions/load/adapt.ts';
import type { OutsideContext, OutsideExtension } from '../../../daemon/extensions/load/interface.ts';
import { checkManifest, readManifest } from '../../../daemon/extensions/load/manifest.ts';
import { runWaitingState } from '../../../daemon/vcl/runtime/run-state.ts';
import { RETURNS } from '../../../protocol/tables/returns.ts';
import { type Task, task } from '../vcl/fake-task.ts';

type Row = {
  signature: string;
  places?: string;
  waits?: boolean;
  timeout?: number;
  call: (ctx: OutsideContext, ...args: never[]) => unknown;
};

function start(rows: Record<string, Row>, body: string): Task {
  const exported = { abi: 1, functions: rows } as unknown as OutsideExtension;
  const extension = adaptExtension(readManifest({ extension: exported }, 'ext'), exported);
  const text = `vcl 4.1; import ext; backend d { .host = "127.0.0.1"; } ${body}`;
  return task(text, {}, { extensions: (name) => (name === 'ext' ? extension : undefined), errUnref: false });
}

/** Runs a state to its end. */
function finished(t: Task, state: StateName): Promise<string> {
  const steps = t.program.waiting[State[state]] as StateSteps;
  const backend = state.startsWith('backend_');
  t.ctx.bo = backend ? t.bo : null;
  t.ctx.req = backend ? null : t.req;
  return new Promise((resolve) => {
    const note = (code: number): void => resolve(RETURNS[code]?.name ?? '?');
    const code = runWaitingState(t.program, State[state], steps, t.ctx, note);
    if (code !== null) note(code);
  });
}

const later = (value: unknown): Promise<unknown> => new Promise((done) => setImmediate(done, value));

describe('a function that waits', () => {
  it('gives the program what its promise gives, and keeps its context until then', async () => {
    const call = async (ctx: OutsideContext): Promise<string> => {
      await later(0);
      ctx.log('from a promise');
      return ctx.state;
    };
    const t = start(
      { f: { signature: 'STRING f()', waits: true, call } },
      'sub vcl_deliver { set resp.http.x = ext.f(); } sub vcl_backend_fetch { set bereq.http.x = ext.f(); }',
    );
    expect(await finished(t, 'deliver')).toBe('deliver');
    expect(t.req.resp.get('x')).toBe('deliver');
    expect(t.log.of('VCL_Log')).toEqual(['from a promise']);
    expect(await finished(t, 'backend_fetch')).toBe('fetch');
    expect(t.bo.bereq.get('x')).toBe('backend_fetch');
    expect(t.program.waiting[State.recv]).toBeNull();
  });

  it('may answer at once', () => {
    const t = start(
      { f: { signature: 'STRING f()', waits: true, call: () => 'now' } },
      'sub vcl_recv { set req.http.x = ext.f(); return (pass); }',
    );
    expect(t.run('recv')).toBe('pass');
    expect(t.req.http.get('x')).toBe('now');
  });

  it.each([
    ['a rejection', () => Promise.reject(new Error('no such key')), 'ext.f: no such key'],
    ['a value of another type', () => later(5), 'ext.f() returned number 5, not STRING'],
    ['no answer in time', () => new Promise(() => undefined), 'ext.f() did not answer within 0.01 s'],
  ])('fails the program: %s', async (_what, call, message) => {
    const t = start(
      { f: { signature: 'STRING f()', waits: true, timeout: 0.01, call } },
      'sub vcl_recv { set req.http.x = ext.f(); return (pass); }',
    );
    expect(await finished(t, 'recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([message]);
  });

  it('loses its context when its time is over', async () => {
    let late: unknown;
    const call = (ctx: OutsideContext): Promise<unknown> =>
      new Promise((resolve) => {
        setTimeout(() => {
          try {
            ctx.log('late');
          } catch (error) {
            late = (error as Error).message;
          }
          resolve(null);
        }, 40);
      });
    const t = start(
      { f: { signature: 'STRING f()', waits: true, timeout: 0.01, call } },
      'sub vcl_recv { set req.http.x = ext.f(); }',
    );
    expect(await finished(t, 'recv')).toBe('fail');
    await new Promise((done) => setTimeout(done, 60));
    expect(late).toBe('used after the call it belongs to');
    expect(t.log.of('VCL_Log')).toEqual([]);
  });

  it.each(['hash', 'init', 'fini'])('is refused in vcl_%s when the program is compiled', (state) => {
    const row = { signature: 'VOID f()', waits: true, call: () => undefined };
    expect(() => start({ f: row }, `sub vcl_${state} { ext.f(); }`)).toThrow(
      `'ext.f': Not available in subroutine 'vcl_${state}'.`,
    );
  });
});

describe('the description of a function that waits', () => {
  it('survives the way to the compiler', () => {
    const row = { signature: 'VOID f()', waits: true, timeout: 2, call: () => undefined };
    const manifest = readManifest({ extension: { abi: 1, functions: { f: row } } }, 'ext');
    expect(checkManifest(JSON.parse(JSON.stringify(manifest)), 'ext')).toEqual(manifest);
    expect(manifest.functions.f).toEqual({ signature: 'VOID f()', waits: true, timeout: 2 });
  });

  it.each([
    [{ waits: 'yes' }, "function f: 'waits' is neither true nor false"],
    [{ waits: true, places: 'client' }, 'function f: nothing can wait in vcl_hash'],
    [{ waits: true, places: 'init' }, 'function f: nothing can wait in vcl_init'],
    [{ waits: true, timeout: 0 }, "function f: 'timeout' is not a number of seconds up to 3600"],
  ])('%j', (more, message) => {
    const row = { signature: 'VOID f()', call: () => undefined, ...more };
    expect(() => readManifest({ extension: { abi: 1, functions: { f: row } } }, 'ext')).toThrow(message);
  });
});

describe('the context of a call', () => {
  it('has the connection, lifetimes, backend and logs', () => {
    const call = (c: OutsideContext): string => {
      c.error('wrong');
      c.debug('detail');
      if (c.life !== null && c.state === 'backend_response') c.life.ttl = 7;
      const { client, local, listener } = c.session ?? {};
      return JSON.stringify([
        client,
        local?.port,
        listener,
        c.restarts,
        c.retries,
        c.backend?.name,
        c.storage,
      ]);
    };
    const t = start(
      { f: { signature: 'STRING f()', call } },
      `sub vcl_recv { set req.backend_hint = d; set req.http.x = ext.f(); }
       sub vcl_backend_response { set beresp.http.x = ext.f(); }`,
    );
    t.run('recv');
    expect(JSON.parse(t.req.http.get('x') as string)).toEqual([
      { address: '192.0.2.1', port: 1001 },
      8080,
      'a0',
      0,
      0,
      'd',
      null,
    ]);
    t.run('backend_response');
    expect(JSON.parse(t.bo.beresp.get('x') as string).slice(3)).toEqual([0, 0, null, 's0']);
    expect(t.bo.ttl).toBe(7);
    expect(t.log.of('VCL_Error')).toEqual(['wrong', 'wrong']);
    expect(t.log.of('Debug')).toEqual([]);
  });
});
