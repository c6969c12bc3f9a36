// std functions in a program: what they do to messages, logs and tasks.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { finiProgram } from '../../../../daemon/vcl/loader.ts';
import { NOW, task } from '../../vcl/fake-task.ts';

const dir = mkdtempSync(join(tmpdir(), 'proxyd-std-'));
afterAll(() => rmSync(dir, { recursive: true }));

const recv = (body: string, headers: Record<string, string> = {}) => {
  const t = task(`sub vcl_recv { ${body} return (synth(200)); }`, headers);
  return { ...t, code: t.run('recv'), get: (name: string) => t.req.http.get(name) };
};

describe('std', () => {
  it('collects fields in the place of the first, and logs nothing', () => {
    const t = task('sub vcl_recv { std.collect(req.http.a, "; "); return (synth(200)); }', {
      A: '1',
      B: 'x',
    });
    t.req.http.push('a', 'a: 2');
    t.log.lines.length = 0;
    t.run('recv');
    const { http } = t.req;
    expect(http.lines.slice(0, http.n)).toEqual(['Host: example.com', 'A: 1; 2', 'B: x']);
    expect(t.log.of('ReqHeader')).toEqual([]);
  });

  // Varnish after 9.0, changes-trunk.rst: std.collect_all().
  it('collects all repeated fields, Cookie with semicolons, Set-Cookie not at all', () => {
    const t = task('sub vcl_deliver { std.collect_all(resp); std.collect_all(req); }', {
      Host: 'h',
      Cookie: 'a=1',
    });
    for (const line of ['Vary: a', 'Set-Cookie: x', 'B: 1', 'vary: b', 'Set-Cookie: y', 'Vary: c']) {
      t.req.resp.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
    }
    t.req.http.push('cookie', 'cookie: b=2');
    t.run('deliver');
    const { resp, http } = t.req;
    expect(resp.lines.slice(resp.n - 4, resp.n)).toEqual([
      'Vary: a, b, c',
      'Set-Cookie: x',
      'B: 1',
      'Set-Cookie: y',
    ]);
    expect(http.get('cookie')).toBe('a=1; b=2');
  });

  it('collects all of many repeated fields without a walk for each', () => {
    const t = task('sub vcl_recv { std.collect_all(req); return (synth(200)); }');
    const { http } = t.req;
    const many = 300;
    for (let i = 0; i < 2 * many; i++) http.push(`x-${i % many}`, `X-${i % many}: ${i}`);
    const walks = [vi.spyOn(http, 'find'), vi.spyOn(http, 'removeWhere')];
    t.run('recv');
    expect(walks.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThan(10);
    expect(http.n).toBe(many + 1);
    expect([http.get('x-0'), http.get('x-299')]).toEqual(['0, 300', '299, 599']);
  });

  it('keeps a cached object as it is', () => {
    const t = task('sub vcl_hit { std.collect(obj.http.a); }');
    t.req.obj?.http.push('a', 'A: 1');
    t.req.obj?.http.push('a', 'A: 2');
    expect(t.run('hit')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['std.collect(): header argument is immutable']);
    expect(t.req.obj?.http.n).toBe(2);
  });

  it('fails the task on a conversion without a fallback, and reports why', () => {
    const t = recv('set req.http.r = std.integer("x");');
    expect(t.code).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['std.integer: conversion failed: Invalid number']);
    expect(recv('set req.http.r = std.integer("x", 7);').get('r')).toBe('7');
  });

  it('wants exactly one argument beside the fallback', () => {
    expect(recv('set req.http.r = std.real(fallback=1.0);').log.of('VCL_Error')).toEqual([
      'std.real: not enough arguments',
    ]);
    expect(recv('set req.http.r = std.real("1", integer=1);').log.of('VCL_Error')).toEqual([
      'std.real: too many arguments',
    ]);
  });

  it('reads a file once for as long as a program holds it', () => {
    const path = join(dir, 'a');
    writeFileSync(path, 'one\0rest');
    const program = `sub vcl_recv { set req.http.r = std.fileread("${path}"); return (synth(200)); }`;
    const first = task(program);
    const read = (t: typeof first): string | null => {
      t.run('recv');
      return t.req.http.get('r');
    };
    expect(read(first)).toBe('one');
    writeFileSync(path, 'two');
    const second = task(program);
    expect(read(first)).toBe('one');
    expect(read(second)).toBe('one');
    finiProgram(first.program, first.ctx);
    expect(read(second)).toBe('one');
    finiProgram(second.program, second.ctx);
    expect(read(task(program))).toBe('two');
  });

  it('takes what cannot be read for unset', () => {
    const t = recv(
      `if (!std.fileread("${dir}") && !std.fileread("${dir}/none")) { set req.http.r = "unset"; }`,
    );
    expect(t.get('r')).toBe('unset');
    expect(t.code).toBe('synth');
  });

  it('keeps the last ban’s error, and logs it', () => {
    const t = recv('if (!std.ban("bad")) { set req.http.r = std.ban_error(); }');
    expect(t.get('r')).toBe('Expected second operand.');
    expect(t.log.of('VCL_Error')).toEqual(['ban(): Expected second operand.']);
    const good = recv(
      'std.ban("bad"); std.ban("req.url == /"); set req.http.r = "[" + std.ban_error() + "]";',
    );
    expect(good.get('r')).toBe('[]');
  });

  it('rolls back only requests, and ends the task’s data with it', () => {
    const t = recv('std.ban("bad"); std.rollback(req); set req.http.r = "[" + std.ban_error() + "]";');
    expect(t.get('r')).toBe('[]');
    const wrong = task('sub vcl_deliver { std.rollback(resp); }');
    expect(wrong.run('deliver')).toBe('fail');
    expect(wrong.log.of('VCL_Error')).toEqual(['std.rollback() can only be called on req or bereq']);
  });

  it('caches a body in vcl_recv alone', () => {
    const t = task('sub vcl_deliver { std.cache_req_body(1KB); }');
    expect(t.run('deliver')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['req_body can only be cached in vcl_recv{}']);
  });

  it('applies late_100_continue in vcl_recv only', () => {
    const t = task('sub vcl_recv { std.late_100_continue(true); return (pass); }');
    t.run('recv');
    expect(t.req.late100Continue).toBe(true);
    const late = task('sub vcl_deliver { std.late_100_continue(true); return (deliver); }');
    late.run('deliver');
    expect(late.req.late100Continue).toBe(false);
  });

  it('has the fallback for a variable of the environment that is not there', () => {
    process.env.PROXYD_STD_TEST = '';
    const t = recv(
      'set req.http.r = "a" + std.getenv("PROXYD_STD_TEST", "x") + "b" + std.getenv("PROXYD_STD_NONE", "y") + std.getenv("PROXYD_STD_NONE");',
    );
    delete process.env.PROXYD_STD_TEST;
    expect(t.get('r')).toBe('aby');
  });

  it('returns the time of the call, unlike the variable', () => {
    const t = task('sub vcl_recv { set req.http.r = std.now() - now; return (pass); }');
    let seconds = NOW;
    t.ctx.host = { ...t.ctx.host, now: () => ++seconds };
    t.run('recv');
    t.run('recv');
    expect(t.req.http.get('r')).toBe('2.000');
  });

  it('measures how long a sub takes, in seconds', () => {
    const t = task(
      `sub work { set req.http.worked = "yes"; }
      sub vcl_recv {
        set req.http.r = std.timed_call(work) >= 0s && std.timed_call(work) < 10s;
        return (pass);
      }`,
    );
    expect(t.run('recv')).toBe('pass');
    expect(t.req.http.get('worked')).toBe('yes');
    expect(t.req.http.get('r')).toBe('true');
  });

  it('ends the state with the action of a sub that it measures', () => {
    const t = task(
      'sub work { return (synth(200)); } sub vcl_recv { set req.http.r = std.timed_call(work); return (pass); }',
    );
    expect(t.run('recv')).toBe('synth');
    expect(t.req.http.get('r')).toBe(null);
  });

  it('calculates the life of a response again, in vcl_backend_response alone', () => {
    const t = task('sub vcl_backend_response { std.rfc_ttl(); }');
    let asked = 0;
    t.bo.recalculateLifetime = () => void asked++;
    t.run('backend_response');
    expect(asked).toBe(1);
    expect(() => task('sub vcl_backend_error { std.rfc_ttl(); }')).toThrow(/std\.rfc_ttl/);
  });
});
