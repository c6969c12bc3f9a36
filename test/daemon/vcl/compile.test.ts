import { describe, expect, it } from 'vitest';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { renderProgram } from '../../../daemon/vcl/compile.ts';
import { type Diagnostic, formatDiagnostics } from '../../../daemon/vcl/diagnostics.ts';

const HEAD = 'vcl 4.1;\nimport std;\nbackend d none;\n';

function errors(text: string, files: Record<string, string> = {}): Diagnostic[] {
  const readFile = (path: string): string => {
    const found = files[path];
    if (found === undefined) throw Object.assign(new Error('no file'), { code: 'ENOENT' });
    return found;
  };
  const readDir = (path: string): string[] =>
    Object.keys(files).flatMap((f) => (f.startsWith(`${path}/`) ? [f.slice(path.length + 1)] : []));
  const options = { vclPath: ['/etc/vcl'], readFile, readDir, resolveHost: () => [] };
  return compile({ name: '/etc/vcl/main.vcl', text }, options).errors ?? [];
}

function codes(text: string, files?: Record<string, string>): string[] {
  return errors(text, files).map((e) => e.code);
}

describe('the work of one run', () => {
  const levels = (n: number): string =>
    Array.from(
      { length: n },
      (_, i) => `sub s${i} { ${i === 0 ? 'set req.http.a = "b";' : `call s${i - 1}; call s${i - 1};`} }\n`,
    ).join('');

  it('refuses calls that double at each level beyond reason', () => {
    const found = errors(`${HEAD}${levels(150)}sub vcl_recv { call s149; }\n`);
    expect(found.map((e) => e.code)).toEqual(['work']);
  });

  it('takes many calls that do not', () => {
    expect(codes(`${HEAD}${levels(10)}sub vcl_recv { call s9; }\n`)).toEqual([]);
    const many = Array.from({ length: 5000 }, (_, i) => `sub s${i} { set req.http.a = "b"; }\n`).join('');
    const calls = Array.from({ length: 5000 }, (_, i) => `call s${i};`).join('\n');
    expect(codes(`${HEAD}${many}sub vcl_recv { ${calls} }\n`)).toEqual([]);
  });
});

describe('diagnostics', () => {
  it('names file, line, column, source line and what is near', () => {
    const [e] = errors(`${HEAD}sub vcl_recv {\n\tset req.htp.x = "a";\n}\n`);
    expect(e).toMatchObject({ code: 'undefined', line: 5, column: 6, source: '\tset req.htp.x = "a";' });
    const [f] = errors(`${HEAD}sub vcl_recv {\n  set req.ur = "a";\n}\n`);
    expect(f?.hint).toBe("Did you mean 'req.url'?");
  });

  it('draws the caret under the span, tabs kept', () => {
    const text = formatDiagnostics(errors(`${HEAD}sub vcl_recv {\n\tset req.ttl = 10;\n}\n`));
    expect(text).toContain(
      "('/etc/vcl/main.vcl' Line 5 Pos 23) -- (Pos 24)\n        set req.ttl = 10;\n----------------------##-\n",
    );
    expect(text).toContain('Hint: A duration needs a unit');
  });

  it('refuses to unset a part of a header or of a variable, as Varnish does', () => {
    const named = (target: string): string[] =>
      errors(`${HEAD}sub vcl_recv { unset ${target}; }\n`).map((e) => e.message);
    expect(named('req.http.Cookie.x')).toEqual(["Symbol not found: 'req.http.Cookie.x'"]);
    expect(named('req.http.Cookie.lower')).toEqual(["Symbol not found: 'req.http.Cookie.lower'"]);
    expect(named('req.http."x.y"')).toEqual([]);
  });

  it('reports several errors of one run, each once', () => {
    const text = `${HEAD}acl a { "1.2.3.4"/40; }
sub vcl_recv {
  set req.ttl = 1;
  set beresp.nope = 1;
  if (client.ip ~ "x") { set req.restarts = 2; }
  call nosuch;
}
sub vcl_deliver { return (hash) }
sub vcl_hit { set resp.status = "a"; }
`;
    expect(codes(text)).toEqual([
      'syntax',
      'acl',
      'type',
      'undefined',
      'type',
      'direction',
      'undefined',
      'type',
    ]);
  });

  it('shows the chain of includes of a file', () => {
    const files = {
      '/etc/vcl/a.vcl': 'include "./sub/b.vcl";\n',
      '/etc/vcl/sub/b.vcl': 'sub vcl_recv {\n  set now = now;\n}\n',
    };
    const [e] = errors(`${HEAD}include "a.vcl";\n`, files);
    expect(e).toMatchObject({ file: '/etc/vcl/sub/b.vcl', line: 2, column: 7, code: 'direction' });
    expect(e?.includedFrom.map((i) => `${i.file}:${i.line}`)).toEqual([
      '/etc/vcl/a.vcl:1',
      '/etc/vcl/main.vcl:4',
    ]);
  });

  it.each([
    '// a\0b',
    '# a\0b',
    '/* a\0b */',
    '\0',
    'sub vcl_recv { std.log("\0"); }',
    'sub vcl_recv { std.log({"\0"}); }',
  ])('refuses a NUL wherever it is: %j', (text) => {
    const all = `${HEAD}sub vcl_recv { }\n${text}\n`;
    expect(errors(all)).toMatchObject([{ code: 'nul', file: '/etc/vcl/main.vcl', line: 5 }]);
    expect(errors(`${HEAD}include "a.vcl";`, { '/etc/vcl/a.vcl': text })).toMatchObject([
      { code: 'nul', file: '/etc/vcl/a.vcl', line: 1 },
    ]);
  });

  it('takes other control bytes in comments and long strings, and ends a string at the end of a line', () => {
    const bytes = '\x01\x07\b\x0b\x1b\x7f\r';
    expect(codes(`${HEAD}# ${bytes}\n/* ${bytes} */ sub vcl_recv { std.log({"${bytes}"}); }`)).toEqual([]);
    expect(codes(`${HEAD}sub vcl_recv { std.log("a\rb"); }`)).toContain('unterminated-string');
  });

  it('refuses include loops and files that are not there', () => {
    expect(codes(`${HEAD}include "a.vcl";`, { '/etc/vcl/a.vcl': 'include "a.vcl";' })).toEqual([
      'include-loop',
    ]);
    expect(errors(`${HEAD}include "b.vcl";`)[0]?.message).toBe(
      "Cannot read file 'b.vcl' (No such file or directory)",
    );
  });

  it('takes all files of a glob in name order', () => {
    const files = {
      '/etc/vcl/x/b.vcl': 'sub vcl_recv { nope(); }',
      '/etc/vcl/x/a.vcl': 'sub vcl_recv { nada(); }',
    };
    expect(errors(`${HEAD}include +glob "./x/*.vcl";`, files).map((e) => e.file)).toEqual([
      '/etc/vcl/x/a.vcl',
      '/etc/vcl/x/b.vcl',
    ]);
  });

  it('shows the calls that lead from a state to what is illegal there', () => {
    const [e] = errors(
      `${HEAD}sub inner { set beresp.ttl = 1s; }\nsub outer { call inner; }\nsub vcl_recv { call outer; }`,
    );
    expect(e?.message).toBe("'beresp.ttl': Cannot be set from subroutine 'vcl_recv'.");
    expect(e?.related.map((r) => r.message)).toEqual([
      "...called from 'outer':",
      "...called from 'vcl_recv':",
    ]);
  });

  it('stops recursion, also through several subs', () => {
    expect(codes(`${HEAD}sub a { call b; }\nsub b { call a; }\nsub vcl_recv { call a; }`)).toContain(
      'recursion',
    );
  });

  it.each([
    [
      'its own statements',
      'sub x { set req.url = "/a"; set beresp.ttl = 1s; }',
      ['hash', 'backend_response'],
    ],
    [
      'a sub that it calls',
      'sub y { set req.url = "/a"; }\nsub x { call y; return (abandon); }',
      ['hash', 'backend_fetch'],
    ],
    [
      'a variable and a return',
      'sub x { set beresp.ttl = 1s; return (synth(200)); }',
      ['backend_response', 'recv'],
    ],
  ])('refuses a sub that no state can call, even if none does: %s', (_, text, states) => {
    const { errors: found = [] } = compile({ name: 'm', text: `${HEAD}${text}` }, { errUnref: false });
    expect(found.map((e) => e.message)).toEqual(["Impossible subroutine 'x': no state has all that it uses"]);
    const notes = found[0]?.related.map((r) => r.message) ?? [];
    for (const state of states) expect(notes.join('\n')).toContain(`vcl_${state}`);
    // Whoever calls it gets the error of the call instead, as before.
    expect(codes(`${HEAD}${text}\nsub vcl_recv { call x; }`)).not.toContain('impossible-sub');
  });

  it('takes a sub that some state could call', () => {
    const text =
      'sub x { if (req.url ~ "a") { set req.url = "/a"; } call y; }\nsub y { set req.http.a = "b"; }';
    expect(compile({ name: 'm', text: `${HEAD}${text}` }, { errUnref: false }).errors ?? []).toEqual([]);
  });

  it('makes unused declarations errors by default', () => {
    const text = `${HEAD}acl lonely { "1.2.3.4"; }\nsub alone { }\nprobe p { }\nbackend e none;`;
    expect(errors(text).map((e) => e.message)).toEqual([
      'Unused sub alone, defined:',
      'Unused acl lonely, defined:',
      'Unused probe p, defined:',
      'Unused backend e, defined:',
    ]);
    const loose = compile({ name: 'm', text }, { errUnref: false });
    expect(loose.program).toBeDefined();
    expect(loose.warnings).toHaveLength(4);
  });
});

describe('the compiled program', () => {
  it('joins the parts of a state in source order, the builtin last', () => {
    const text = `${HEAD}sub vcl_recv { std.log("one"); }\nsub vcl_recv { std.log("two"); }\nsub vcl_req_host { std.log("three"); }`;
    const { program } = compile({ name: 'm', text });
    const js = program?.pieces[0]?.text ?? '';
    const recv = js.slice(js.indexOf('function sub_vcl_recv('), js.indexOf('// vcl_req_host'));
    expect(recv.indexOf('"one"')).toBeGreaterThan(0);
    expect(recv.indexOf('"two"')).toBeGreaterThan(recv.indexOf('"one"'));
    expect(recv.indexOf('sub_vcl_builtin_recv')).toBeGreaterThan(recv.indexOf('"two"'));
    const host = js.slice(js.indexOf('function sub_vcl_req_host('));
    expect(host.indexOf('"three"')).toBeLessThan(host.indexOf('lowerCase'));
  });

  it('carries backends, probes, labels and what each state touches', () => {
    const text = `vcl 4.1; probe default { .url = "/ok"; .interval = 1m; }
backend a { .host = "127.0.0.1:8080"; .first_byte_timeout = 1.5s; .max_connections = 7; }
backend default { .path = "/run/x.sock"; .probe = { .request = "GET / HTTP/1.1" "Host: x"; .window = 3; .threshold = 2; } }
sub vcl_recv { set req.backend_hint = a; if (req.http.X-Env == "b") { return (vcl(blue)); } unset req.http.Cookie; }`;
    const { program } = compile({ name: 'm', text }, { labels: ['blue'] });
    expect(program?.backends).toEqual([
      {
        name: 'a',
        host: '127.0.0.1',
        port: '8080',
        hostHeader: '127.0.0.1:8080',
        firstByteTimeout: 1.5,
        maxConnections: 7,
        probe: { name: 'default', url: '/ok', interval: 60 },
      },
      {
        name: 'default',
        path: '/run/x.sock',
        probe: { request: ['GET / HTTP/1.1', 'Host: x'], window: 3, threshold: 2 },
      },
    ]);
    expect(program?.defaultBackend).toBe('default');
    expect(program?.labels).toEqual(['blue']);
    expect(program?.facts.vcl_recv).toMatchObject({ builtinOnly: false, writes: ['req.cookie', 'req.host'] });
    expect(program?.facts.vcl_recv?.reads).toContain('req.x-env');
    expect(program?.facts.vcl_hit).toEqual({ builtinOnly: true, reads: [], writes: [] });
  });

  it('gives the last default probe to every backend without one of its own', () => {
    const host = '.host = "127.0.0.1";';
    const text = `vcl 4.1; backend a { ${host} } probe default { .url = "/1"; } backend b { ${host} .probe = default; }
backend n none; backend own { ${host} .probe = { .url = "/own"; } } probe default { .url = "/2"; }
sub vcl_recv { set req.backend_hint = b; set req.backend_hint = n; set req.backend_hint = own; }`;
    const { program } = compile({ name: 'm', text });
    expect(program?.backends.map((b) => [b.name, b.probe?.url])).toEqual([
      ['a', '/2'],
      ['b', '/2'],
      ['n', undefined],
      ['own', '/own'],
    ]);
  });

  it('renders what -C prints', () => {
    const { program } = compile({ name: 'm.vcl', text: HEAD });
    expect(program && renderProgram(program)).toMatch(/0: m\.vcl[\s\S]*function sub_vcl_recv\(ctx\) \{/);
  });

  it('has backends with a path from 4.1 on', () => {
    expect(codes('vcl 4.1; backend d { .path = "/run/none.sock"; }')).toEqual([]);
    expect(codes('vcl 4.0; backend d { .path = "/run/none.sock"; }')).toEqual(['backend']);
  });

  it('takes the language version of the main file for all files', () => {
    const old = 'sub vcl_recv { set req.esi = false; }';
    expect(codes(`vcl 4.0; backend d none; ${old}`)).toEqual([]);
    expect(codes(`vcl 4.1; backend d none; ${old}`)).toEqual(['version']);
    expect(
      codes('vcl 4.1; backend d none; include "o.vcl";', { '/etc/vcl/o.vcl': `vcl 4.0; ${old}` }),
    ).toEqual(['version']);
    expect(codes('vcl 4.0; backend d none; include "o.vcl";', { '/etc/vcl/o.vcl': 'vcl 4.1;' })).toEqual([
      'version',
    ]);
  });
});
