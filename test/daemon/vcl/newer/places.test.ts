// Where functions of extensions may be called: a mistake at run time under 7.1, one of the compiler under 9.0. The states
// are those of the manual pages of Varnish 7.7.0 (vmod_std(3) and so on, `Restricted to`).
import { describe, expect, it } from 'vitest';
import { compile } from '../../../../daemon/extensions/compile-with-builtins.ts';
import type { Release } from '../../../../protocol/tables/release-changes.ts';
import { task } from '../fake-task.ts';

function refusals(state: string, statement: string, release: Release): string[] {
  const objects =
    'new s = directors.shard(); s.add_backend(d); s.reconfigure(); new p = directors.shard_param();';
  const text = `vcl 4.1; import std; import directors; import proxy; import purge; import unix;
    backend d { .host = "127.0.0.1"; } sub vcl_init { ${objects} }
    sub vcl_recv { set req.backend_hint = s.backend(); set req.http.by = p.get_by(); } sub vcl_${state} { ${statement} }`;
  const { errors } = compile({ name: 'main', text }, { release, errUnref: false });
  return (errors ?? []).map(({ message }) => message);
}

describe('a call', () => {
  it.each([
    ['deliver', 'if (std.cache_req_body(1KB)) { }', 'recv'],
    ['deliver', 'std.late_100_continue(true);', 'recv'],
    ['backend_fetch', 'std.set_ip_tos(3);', 'hash'],
    ['pipe', 'std.rollback(req);', 'deliver'],
    ['init', 'if (proxy.is_ssl()) { }', 'synth'],
    ['init', 'if (proxy.alpn() == "h2") { }', 'pipe'],
    ['init', 'if (proxy.ssl_verify_result() == 1) { }', 'recv'],
    ['deliver', 'if (purge.hard() > 1) { }', 'hit'],
    ['recv', 'if (purge.soft() > 1) { }', 'miss'],
    ['init', 'if (unix.uid() > 1) { }', 'backend_error'],
    ['init', 'if (unix.user() == "root") { }', 'recv'],
    ['recv', 'set req.backend_hint = directors.lookup("d");', null],
    ['recv', 'p.set(alt = 1);', 'pipe'],
    ['deliver', 'p.clear();', 'backend_fetch'],
    ['recv', 'set req.backend_hint = s.backend(param = p.use());', null],
  ])('from vcl_%s: %s', (state, statement, permitted) => {
    expect(refusals(state, statement, '7.1')).toEqual([]);
    expect(refusals(state, statement, '9.0')[0]).toMatch(
      new RegExp(`^'[\\w.]+': Not available in (?:subroutine )?'?(?:sub )?vcl_${state}`),
    );
    if (permitted !== null) expect(refusals(permitted, statement, '9.0')).toEqual([]);
  });

  it('that only looks at a set of parameters is permitted everywhere', () => {
    expect(refusals('deliver', 'set resp.http.x = p.get_alt();', '9.0')).toEqual([]);
  });
});

it('a sub is passed on in vcl_init and vcl_fini', () => {
  const pass = 'if (std.timed_call(helper) > 1s) { std.log("slow"); }';
  const text = `vcl 4.1; import std; backend default none; sub helper { std.log("x"); }
    sub vcl_init { ${pass} } sub vcl_fini { ${pass} }`;
  for (const release of ['7.1', '9.0'] as const)
    expect(compile({ name: 'main', text }, { release }).errors ?? []).toEqual([]);
});

it('cookie.get_string() ends with a semicolon under 7.1, and without one under 9.0', () => {
  const text = (release: Release, cookies: string): string | null => {
    const program =
      'vcl 4.1; import cookie; backend d none; sub vcl_recv { cookie.parse(req.http.c); set req.http.r = cookie.get_string(); return (pass); }';
    const t = task(program, { c: cookies }, { release });
    expect(t.run('recv')).toBe('pass');
    return t.req.http.get('r');
  };
  expect([text('7.1', 'a=1; b=2;'), text('9.0', 'a=1; b=2;')]).toEqual(['a=1; b=2;', 'a=1; b=2']);
  expect([text('7.1', 'a'), text('9.0', 'a')]).toEqual(['', '']);
});
