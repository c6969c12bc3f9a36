// The compiler's facts about a program come from its semantics, never from strings, names or generated lines.
import { describe, expect, it } from 'vitest';
import type { CompiledProgram } from '../../../daemon/contract/program.ts';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { RUNTIME } from '../../../daemon/vcl/runtime/table.ts';
import { SOFT_FAILING } from '../../../daemon/vcl/typed-program.ts';
import { load, task, taskOf } from './fake-task.ts';

const HEAD = 'vcl 4.1;\nimport std;\nbackend d none;\n';

function program(text: string, head = HEAD): CompiledProgram {
  const { program: made, errors } = compile({ name: 'facts.vcl', text: head + text }, { errUnref: false });
  expect(errors?.map((e) => e.message) ?? []).toEqual([]);
  return made as CompiledProgram;
}

/** The generated function of a sub. */
function functionOf(text: string, sub: string): string {
  const source = program(text).pieces[0]?.text ?? '';
  const from = source.search(new RegExp(`^function\\*? sub_${sub}\\(`, 'm'));
  expect(from).toBeGreaterThan(0);
  return source.slice(from, source.indexOf('\n}\n', from));
}

describe('whether a sub waits', () => {
  it('is not determined by a string that looks like the code of waiting', () => {
    for (const text of ['yield/*wait*/', 'yield', '(yield/*wait*/ x)']) {
      const source = `sub vcl_deliver { set resp.http.x = "${text}"; }`;
      expect(functionOf(source, 'vcl_deliver')).not.toContain('function*');
      expect(load(source).states).not.toContainEqual(expect.objectContaining({ steps: expect.anything() }));
    }
  });

  it('is not determined by a string that looks like a call of a sub that waits', () => {
    const text = `sub body { std.cache_req_body(1KB); }
sub vcl_recv {
  call body;
  std.log({"
  if ((r = sub_body(ctx)) !== 0) return r;
"});
}`;
    const recv = functionOf(text, 'vcl_recv');
    expect(recv).toContain('function* sub_vcl_recv');
    expect(recv.match(/yield\*/g)).toHaveLength(1);
  });

  it('is determined by a call in a condition, an argument and a sub that is called', () => {
    for (const body of [
      'if (std.cache_req_body(1KB)) { }',
      'std.log("x" + std.cache_req_body(1KB));',
      'if (!(req.url == "a" && std.cache_req_body(1KB))) { }',
      'call body;',
    ]) {
      const text = `sub body { if (std.cache_req_body(1KB)) { return; } }\nsub vcl_recv { ${body} }`;
      expect(functionOf(text, 'vcl_recv'), body).toContain('function*');
    }
  });
});

describe('whether a statement may fail', () => {
  const CHECK = 'if (ctx.failure !== null)';

  it('is not determined by strings and headers that look like calls', () => {
    for (const body of [
      'set req.http.x = "fn_1(";',
      'set req.http.x = "make_2(" + req.url;',
      'set req.http.x = "set_resp_status(ctx";',
      'if (req.url == "get_beresp_do_gzip(ctx)") { }',
      'set req.http.get_resp_do_esi = "(";',
    ]) {
      expect(functionOf(`sub vcl_recv { ${body} }`, 'vcl_recv'), body).not.toContain(CHECK);
    }
  });

  it('is determined by what may fail: calls of extensions and the variables that refuse values', () => {
    for (const [state, body] of [
      ['recv', 'set req.http.x = std.integer("x");'],
      ['recv', 'std.log("x");'],
      ['recv', 'if (std.integer("x") == 1) { }'],
      ['recv', 'set req.http.x = "a" + std.integer("x");'],
      ['deliver', 'set resp.status = 99999;'],
      ['deliver', 'set resp.do_esi = true;'],
      ['deliver', 'if (resp.do_esi) { }'],
      ['backend_response', 'set beresp.status = 1;'],
      ['backend_response', 'set beresp.do_gzip = true;'],
      ['backend_response', 'set beresp.do_gunzip = beresp.do_esi;'],
    ]) {
      expect(functionOf(`sub vcl_${state} { ${body} }`, `vcl_${state}`), body).toContain(CHECK);
    }
  });

  it('ends the sub with the statement that failed', () => {
    const t = task(
      'sub vcl_deliver { set resp.status = 99999; set resp.http.after = "x"; return (deliver); }',
    );
    expect(t.run('deliver')).toBe('fail');
    expect(t.req.resp.get('after')).toBeNull();
  });
});

describe('which heads are kept', () => {
  const keeps = (text: string) => program(text).keeps;
  const NOTHING = { request: false, fetch: false };

  it('is none in a program that asks for none back, whatever its strings and names are', () => {
    for (const text of [
      '',
      'sub vcl_recv { set req.http.x = "rollback"; }',
      'sub vcl_recv { set req.http.rollback = "std.rollback(req)"; }',
      'sub rollback { } sub vcl_recv { call rollback; }',
      'backend rollback none; sub vcl_recv { set req.backend_hint = rollback; }',
    ]) {
      expect(keeps(text), text).toEqual(NOTHING);
    }
  });

  it('is that which std.rollback brings back', () => {
    expect(keeps('sub vcl_recv { std.rollback(req); }')).toEqual({ request: true, fetch: false });
    expect(
      keeps('sub s { std.rollback(req); } sub vcl_deliver { if (req.restarts == 0) { call s; } }'),
    ).toEqual({
      request: true,
      fetch: false,
    });
    expect(keeps('sub vcl_backend_response { std.rollback(bereq); return (retry); }')).toEqual({
      request: false,
      fetch: true,
    });
    const renamed = 'vcl 4.1;\nimport std as s;\nbackend d none;\n';
    expect(program('sub vcl_recv { s.rollback(req); }', renamed).keeps.request).toBe(true);
  });

  const CHANGES = 'sub vcl_recv { set req.url = "/x"; set req.http.a = "x"; unset req.http.b; }\n';

  it('is the request where a vcl_synth after a failure may look at what the program had changed', () => {
    for (const body of [
      'set resp.http.x = req.http.a;',
      'if (req.http.B) { set resp.http.x = "b"; }',
      'set resp.http.Location = "https://" + req.http.host + req.url;',
      'if (resp.status == 503) { return (restart); }',
    ]) {
      expect(keeps(`${CHANGES}sub vcl_synth { ${body} }`), body).toEqual({ request: true, fetch: false });
    }
    expect(keeps(`${CHANGES}sub page { synthetic(req.url); } sub vcl_synth { call page; }`).request).toBe(
      true,
    );
  });

  it('is none where vcl_synth looks at nothing that the program changes', () => {
    for (const body of [
      'set resp.http.Content-Type = "text/plain"; synthetic("sorry, " + resp.status); return (deliver);',
      'set resp.http.x = req.http.unchanged;',
      'set resp.http.x = req.method;',
      'set resp.http.x = req.restarts + req.xid;',
    ]) {
      expect(keeps(`${CHANGES}sub vcl_synth { ${body} }`), body).toEqual(NOTHING);
    }
  });

  it('is the request where the page may be a part by what the program changes', () => {
    const page = 'sub vcl_synth { set resp.status = 200; }';
    expect(keeps(`sub vcl_recv { unset req.http.Range; } ${page}`).request).toBe(true);
    expect(keeps(`sub vcl_recv { set req.method = "GET"; } ${page}`).request).toBe(true);
    expect(keeps(`sub vcl_recv { unset req.http.Range; set req.method = "GET"; }`)).toEqual(NOTHING);
  });

  it('is the request where it cannot be known what is read or changed', () => {
    const head = `${HEAD}import header;\n`;
    const any = 'sub vcl_synth { set resp.http.x = req.http.a; }';
    expect(program(`sub vcl_recv { header.append(req.http.a, "x"); } ${any}`, head).keeps.request).toBe(true);
    expect(program(`sub vcl_recv { header.append(req.http.c, "x"); } ${any}`, head).keeps.request).toBe(
      false,
    );
    expect(program(`sub vcl_recv { std.collect(req.http.a); } ${any}`).keeps.request).toBe(true);
  });
});

describe('numbers', () => {
  it('are an error as a divisor only if they are 0', () => {
    const codes = (text: string): string[] =>
      (compile({ name: 'n.vcl', text: `${HEAD}sub vcl_recv { ${text} }` }).errors ?? []).map((e) => e.code);
    expect(codes('set req.http.x = 1 / 0;')).toEqual(['division']);
    expect(codes('set req.http.x = 1 % 0;')).toEqual(['division']);
    expect(codes('set req.http.x = 1 / 10;')).toEqual([]);
    expect(codes('set req.http.x = 1 / (0);')).toEqual([]);
  });

  it('of backends may be negative nowhere', () => {
    const of = (field: string): string[] =>
      (
        compile({ name: 'n.vcl', text: `vcl 4.1; backend d { .host = "192.0.2.1"; ${field} }` }).errors ?? []
      ).map((e) => e.message);
    expect(of('.connect_timeout = 1.5s; .max_connections = 5;')).toEqual([]);
    expect(of('.connect_timeout = -1s;')).toEqual(["Field 'connect_timeout' cannot be negative"]);
  });
});

describe('helpers that may fail softly', () => {
  it('are those of the list', () => {
    const found = new Set<string>();
    const empty = load('sub vcl_recv { }');
    for (const [name, call] of Object.entries(RUNTIME)) {
      if (!/^[gs]et_/.test(name)) continue;
      for (const value of [-1, 0, 1, 99_999, 'x', '\n', true, null]) {
        const t = taskOf(empty);
        t.ctx.req = t.req;
        t.ctx.bo = t.bo;
        t.req.attempt.respFilters = 'x';
        t.bo.attempt.filters = 'x';
        try {
          (call as (ctx: unknown, value: unknown) => unknown)(t.ctx, value);
        } catch {
          // Throwing calls need no check afterwards.
        }
        if (t.ctx.failure !== null) found.add(name);
      }
    }
    expect([...found].sort()).toEqual([...SOFT_FAILING].sort());
  });
});
