// Programs whose vcl_recv waits: the code that is generated for them, what it does with answers that come at once
// and later, and that no other state waits.

import { describe, expect, it } from 'vitest';
import type { StateSteps } from '../../../daemon/contract/context.ts';
import { State } from '../../../daemon/contract/program.ts';
import { Waiting } from '../../../daemon/contract/waiting.ts';
import { runWaitingState } from '../../../daemon/vcl/runtime/run-state.ts';
import { RETURNS } from '../../../protocol/tables/returns.ts';
import { load, type Task, task } from './fake-task.ts';

/** Runs vcl_recv; `answer` is what each std.cache_req_body gives. */
function begin(t: Task, answer: (limit: number) => boolean | Waiting): string[] {
  const returned: string[] = [];
  const note = (code: number | null): void =>
    void returned.push(code === null ? 'waits' : (RETURNS[code]?.name ?? '?'));
  t.ctx.req = Object.assign(t.req, { cacheBody: answer });
  note(runWaitingState(t.program, State.recv, t.program.waiting[State.recv] as StateSteps, t.ctx, note));
  return returned;
}

const PROGRAM = `
sub twice {
  if (std.cache_req_body(1KB) && std.cache_req_body(2KB)) { set req.http.r = "both"; }
  else { set req.http.r = "not both"; }
}
sub vcl_recv { call twice; set req.http.s = "x" + std.cache_req_body(3KB); return (pass); }`;

describe('a vcl_recv that may wait', () => {
  it('continues at once with answers that are there', () => {
    const t = task(PROGRAM);
    const limits: number[] = [];
    expect(begin(t, (limit) => limits.push(limit) < 3)).toEqual(['pass']);
    expect(limits).toEqual([1024, 2048, 3072]);
    expect([t.req.http.get('r'), t.req.http.get('s')]).toEqual(['both', 'xfalse']);
    expect(t.log.of('VCL_return')).toEqual(['pass']);
  });

  it('waits where an answer is to come, and continues from there', () => {
    const t = task(PROGRAM);
    const open: ((value: unknown) => void)[] = [];
    const returned = begin(t, () => new Waiting((done) => open.push(done)));
    expect(returned).toEqual(['waits']);
    open.shift()?.(true);
    open.shift()?.(true);
    expect(t.req.http.get('r')).toBe('both');
    expect(returned).toEqual(['waits']);
    open.shift()?.(false);
    expect(returned).toEqual(['waits', 'pass']);
    expect(t.req.http.get('s')).toBe('xfalse');
    expect(t.log.of('VCL_call')).toEqual(['RECV']);
    expect(t.log.of('VCL_return')).toEqual(['pass']);
  });

  it('waits far down in a long program, which is cut into functions', () => {
    const many = Array.from(
      { length: 400 },
      (_, i) => `if (req.url == "/${i}") { set req.http.r = "${i}"; }`,
    );
    const t = task(
      `sub vcl_recv { ${many.join(' ')} set req.http.s = std.cache_req_body(1KB); ${many.join(' ')} return (pass); }`,
    );
    let go: ((value: unknown) => void) | null = null;
    const returned = begin(
      t,
      () =>
        new Waiting((done) => {
          go = done;
        }),
    );
    expect(returned).toEqual(['waits']);
    (go as unknown as (value: unknown) => void)(true);
    expect([returned, t.req.http.get('s')]).toEqual([['waits', 'pass'], 'true']);
  });

  it('fails like any other after it has waited', () => {
    const t = task(
      'sub vcl_recv { std.cache_req_body(1KB); set req.http.r = std.integer("x"); return (pass); }',
    );
    let go: ((value: unknown) => void) | null = null;
    const returned = begin(
      t,
      () =>
        new Waiting((done) => {
          go = done;
        }),
    );
    (go as unknown as (value: unknown) => void)(true);
    expect(returned).toEqual(['waits', 'fail']);
    expect(t.log.of('VCL_Error')).toEqual(['std.integer: conversion failed: Invalid number']);
  });

  it('is there only in programs with such a call', () => {
    expect(load('sub vcl_recv { set req.http.r = "(yield/*no*/ x)"; }').waiting[State.recv]).toBeNull();
    expect(load('sub vcl_deliver { std.cache_req_body(1KB); }').waiting[State.recv]).toBeNull();
    expect(load(PROGRAM).waiting[State.recv]).not.toBeNull();
  });

  it('does not wait in another state', () => {
    const t = task(`${PROGRAM} sub vcl_deliver { call twice; }`);
    expect(t.run('deliver')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['req_body can only be cached in vcl_recv{}']);
  });
});
