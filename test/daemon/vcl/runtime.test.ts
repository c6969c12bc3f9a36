import { describe, expect, it } from 'vitest';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { findExtension } from '../../../daemon/extensions/registry.ts';
import { loadProgram } from '../../../daemon/vcl/loader.ts';
import { packedAcl, VclAcl } from '../../../daemon/vcl/runtime/acl.ts';
import { VclIp } from '../../../daemon/vcl/runtime/ip.ts';
import { fakeDirector, load, task } from './fake-task.ts';

/** Value of an expression as a string, by way of a header; null when the state failed. */
function value(expression: string, headers: Record<string, string> = {}): string | null {
  const t = task(`sub vcl_recv { set req.http.out = ${expression}; return (pass); }`, headers);
  return t.run('recv') === 'pass' ? t.req.http.get('out') : null;
}

describe('names of headers', () => {
  it.each(['unset req.http.x-cache;', 'set req.http.x-cache = "";', 'if (req.http.x-cache) { }'])(
    'are spelled as where the program names them first: %s',
    (first) => {
      const t = task(`sub vcl_recv { ${first} set req.http.X-Cache = "hit"; return (pass); }`);
      expect(t.run('recv')).toBe('pass');
      expect(t.log.of('ReqHeader').at(-1)).toBe('x-cache: hit');
    },
  );
});

describe('values as 7.1.1 gives them', () => {
  it.each([
    ['7 / 2', '3'],
    ['-7 / 2', '-3'],
    ['-7 % 3', '-1'],
    ['1.5 + 2', '3.500'],
    ['5 / 2 + 1.0 * 3 - 2', '3.000'],
    ['1 + 2 + "a"', '3a'],
    ['"a" + 1 + 2 + (1 + 2)', 'a123'],
    ['10s + 5', '10.0005'],
    ['90s', '90.000'],
    ['1.5h', '5400.000'],
    ['1ms', '0.001'],
    ['now', 'Tue, 14 Nov 2023 22:13:20 GMT'],
    ['now + 1d', 'Wed, 15 Nov 2023 22:13:20 GMT'],
    ['now - now', '0.000'],
    ['now + 999999999999s', 'Wed, 10 Aug 33712 23:59:59 GM'],
    ['now - 1000000y', 'Mon, 24 Oct -997313 22:13:20 '],
    ['storage.s0', 'storage.s0'],
    ['req.backend_hint.resolve()', 'd'],
    ['REQ.http.HOST', 'example.com'],
    ['REGSUB(Req.Url, "p", "q")', '/qath?b=2&a=1'],
    ['true', 'true'],
    ['req.url ~ "path" && !req.http.none', 'true'],
    ['client.ip', '192.0.2.1'],
    ['d', 'd'],
    [':SGVsbG8=:', ':SGVsbG8=:'],
    [':qrqr:', ':rqrq:'],
    ['storage.s0.free_space', '1000'],
    ['req.http.none', ''],
    ['req.http.none + req.http.none', ''],
    ['"x" + req.http.none + "y"', 'xy'],
    ['("Ab" + req.http.host).upper()', 'ABEXAMPLE.COM'],
    ['regsub("foobar", "o(.)", "[\\1\\0\\9\\&]")', 'f[ooo&]bar'],
    ['regsuball("foobaroo", "o*", "x")', 'xfxbarx'],
    ['regsuball("a.b.c", "\\.", "")', 'abc'],
    ['std.querysort("/x?b=2&a=1&&c")', '/x?a=1&b=2&c'],
    ['querysort(req.url)', '/path?a=1&b=2'],
    ['std.integer("12abc", 5)', '5'],
    ['std.integer("-12", 5)', '-12'],
    ['std.integer(real=-1.5)', '-1'],
    ['std.real("1.5e3", 1.0)', '1.000'],
    ['std.duration("1.5h", 1s)', '5400.000'],
    ['std.time("784111777", now)', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['std.bytes("10K", 1B)', '10240'],
    ['std.round(-2.5)', '-3.000'],
    [
      'std.strftime(std.time("784111777", now), "%Y-%m-%d %H:%M:%S %a %b %j")',
      '1994-11-06 08:49:37 Sun Nov 310',
    ],
    ['std.fnmatch("/a/*", "/a/b")', 'true'],
    ['std.fnmatch("/a/*", "/a/b/c")', 'false'],
    ['std.port(client.ip) + 0', '1001'],
    ['std.ip("1.2.3.4:99", "0.0.0.0")', '1.2.3.4'],
    ['std.strstr("abcd", "bc")', 'bcd'],
  ])('%s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it.each([
    ['req.http.none == ""', false],
    ['req.http.none == req.http.none', false],
    ['req.http.none != "a"', true],
    ['req.http.none < "a"', false],
    ['req.http.none + "" == ""', true],
    ['req.http.empty == ""', true],
    ['req.http.empty', true],
    ['req.http.none ~ "^$"', true],
    ['req.http.none + req.http.none2', false],
    ['client.ip == "192.0.2.1"', true],
    ['req.restarts', false],
    ['req.ttl', false],
    ['req.backend_hint', true],
  ])('%s is %s', (condition, expected) => {
    const t = task(`sub vcl_recv { if (${condition}) { return (pass); } return (pipe); }`, { empty: '' });
    expect(t.run('recv')).toBe(expected ? 'pass' : 'pipe');
  });
});

describe('failures', () => {
  it.each([
    ['set req.http.x = std.integer("abc");', 'std.integer: conversion failed: Invalid number'],
    ['set req.http.x = {"a\nb"};', 'Bad header x: a'],
    ['set req.url = "";', 'Setting req.url to empty string'],
    ['set req.method = req.http.none;', 'Setting req.method to empty string'],
    ['return (fail);', 'Failed from VCL'],
    ['return (fail("why" + req.restarts));', 'why0'],
    ['return (synth(10));', 'illegal return(synth()) status code (10) (..0##)'],
    ['return (synth(70000));', 'return(synth()) status code (70000) > 65535'],
    ['set req.http.x = 999999999999999 + 1;', 'INT overflow converting to string (38D7EA4C68000)'],
    ['if (std.fnmatch("a", req.http.none)) { }', 'std.fnmatch(): subject is NULL'],
  ])('%s', (statement, message) => {
    const t = task(`sub vcl_recv { ${statement} set req.http.after = "1"; }`);
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([message]);
    expect(t.req.http.get('after')).toBeNull();
  });

  it.each([
    ['+validate_headers', 'a\x01b', 'fail'],
    ['none', 'a\x01b', 'pass'],
    ['none', 'a\rb', 'fail'],
    ['+short_panic', 'a\nb', 'fail'],
  ])('asks the feature about odd values: %s, %j', (feature, value, end) => {
    const t = task(`sub vcl_recv { set req.http.x = {"${value}"}; return (pass); }`);
    t.ctx.host = { ...t.ctx.host, param: (name) => (name === 'feature' ? feature : 0) };
    expect(t.run('recv')).toBe(end);
    expect(t.req.http.get('x')).toBe(end === 'pass' ? value : null);
  });

  it('loses fields at the limits of the workspace and of their number, and continues', () => {
    const limits: Record<string, number> = { workspace_client: 26_000, vsl_buffer: 16_000, http_max_hdr: 64 };
    const run = (body: string): { end: string; lost: string[]; overflowed: boolean; counted: string[] } => {
      const t = task(`sub vcl_recv { ${body} return (pass); }`);
      const counted: string[] = [];
      t.ctx.host = {
        ...t.ctx.host,
        param: (name) => limits[name] ?? 0,
        count: (counter) => counted.push(counter),
      };
      return {
        end: t.run('recv'),
        lost: t.log.of('LostHeader'),
        overflowed: t.ctx.overflowed,
        counted,
      };
    };
    const doubled = 'set req.http.a = "0123456789";\n'.concat(
      'set req.http.a = req.http.a + req.http.a;\n'.repeat(60),
    );
    // 1280 and 2560 bytes of 5000 are taken by then.
    expect(run(doubled)).toEqual({
      end: 'pass',
      lost: Array.from({ length: 52 }, () => 'a:'),
      overflowed: true,
      counted: ['ws_client_overflow'],
    });
    const many = Array.from({ length: 80 }, (_, i) => `set req.http.h${i} = "v";`).join('\n');
    const lost = Array.from({ length: 22 }, (_, i) => `h${i + 58}: v`);
    expect(run(many)).toMatchObject({ end: 'pass', lost, overflowed: true });
    const few = many.slice(0, many.indexOf('set req.http.h58'));
    expect(run(few)).toMatchObject({ lost: [], overflowed: false });
    expect(run(`${few} set req.http.h3 = "again";`)).toMatchObject({ lost: [], overflowed: false });
  });

  it('ends at the limit of the workspace where a start line has no room, naming the line', () => {
    const limits: Record<string, number> = { workspace_client: 26_000, vsl_buffer: 16_000 };
    const t = task(`sub vcl_recv { ${'set req.url += req.url;\n'.repeat(60)} return (pass); }`);
    t.ctx.host = { ...t.ctx.host, param: (name) => limits[name] ?? 0 };
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')[0]).toMatch(/^Workspace overflow \(req\.url\) at 'test\.vcl' Line 1\d/);
  });

  it('names the VCL line where Varnish has no words of its own', () => {
    const t = task('sub helper {\n  set req.http.x = 5 / req.restarts;\n}\nsub vcl_recv { call helper; }');
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(["Division by zero at 'test.vcl' Line 3 Pos 3"]);
  });

  it('turns a bug in a helper into a failure of the task, not of the worker', () => {
    const t = task('sub vcl_deliver { set resp.http.x = req.url; }');
    Object.defineProperty(t.req, 'http', {
      get: () => {
        throw new TypeError('broken');
      },
    });
    expect(t.run('deliver')).toBe('fail');
    expect(t.log.of('VCL_Error')[0]).toBe("Internal error: broken at 'test.vcl' Line 2 Pos 19");
  });
});

describe('states', () => {
  it('logs the call and the return', () => {
    const t = task('');
    expect(t.run('recv')).toBe('hash');
    expect(t.run('hash')).toBe('lookup');
    expect(t.log.lines).toEqual(['VCL_call RECV', 'VCL_return hash', 'VCL_call HASH', 'VCL_return lookup']);
    expect(t.req.attempt.hashKey).toBe('/path?b=2&a=1#example.com#');
    const absent = task(
      'sub vcl_hash { hash_data("a" + req.http.none + "b"); hash_data(req.http.none); return (lookup); }',
    );
    absent.run('hash');
    expect(absent.req.attempt.hashKey).toBe('a+\0+b#\0#');
  });

  it('decides as the builtin program documents', () => {
    const recv = (change: (t: ReturnType<typeof task>) => void): string => {
      const t = task('');
      change(t);
      return `${t.run('recv')} ${t.ctx.synthStatus}`;
    };
    expect(
      recv((t) => {
        t.req.http.method = 'POST';
      }),
    ).toBe('pass 0');
    expect(
      recv((t) => {
        t.req.http.method = 'FOO';
      }),
    ).toBe('pipe 0');
    expect(
      recv((t) => {
        t.req.http.method = 'PRI';
      }),
    ).toBe('synth 405');
    expect(
      recv((t) => {
        t.req.http.push('cookie', 'Cookie: a=b');
      }),
    ).toBe('pass 0');
    expect(
      recv((t) => {
        t.req.http.push('authorization', 'Authorization: x');
      }),
    ).toBe('pass 0');
    expect(
      recv((t) => {
        t.req.http.unset('host');
      }),
    ).toBe('synth 400');
    const upper = task('');
    upper.req.http.set('Host', 'EXAMPLE.com');
    upper.run('recv');
    expect(upper.req.http.get('host')).toBe('example.com');
  });

  it('marks responses that must not be shared, with the TTL records of Varnish', () => {
    const t = task('');
    t.bo.beresp.push('set-cookie', 'Set-Cookie: a');
    expect(t.run('backend_response')).toBe('deliver');
    expect(t.bo).toMatchObject({ uncacheable: true, ttl: 120 });
    expect(t.log.of('TTL')).toEqual([
      'VCL 120 10 0 1700000000 cacheable',
      'VCL 120 10 0 1700000000 uncacheable',
    ]);
  });

  it('shows status, reason and id on the pages it makes', () => {
    const t = task('');
    t.req.resp.status = 405;
    t.req.resp.reason = 'Method Not Allowed';
    expect(t.run('synth')).toBe('deliver');
    expect(t.req.attempt.synthBody).toContain('<title>405 Method Not Allowed</title>');
    expect(t.req.attempt.synthBody).toContain('1001');
    expect(t.req.resp.get('retry-after')).toBe('5');
  });

  it('leaves called subs at a bare return and continues in the caller', () => {
    const t = task(
      'sub a { if (req.url) { return; } return (pipe); }\nsub vcl_recv { call a; return (pass); }',
    );
    expect(t.run('recv')).toBe('pass');
  });

  it('spells a header field as the program did first', () => {
    const t = task('sub vcl_recv { set req.http.X-Foo = "1"; set req.http.x-fOO = "2"; }');
    t.run('recv');
    expect(t.log.of('ReqHeader')).toEqual(['X-Foo: 1', 'X-Foo: 2']);
    expect(t.log.of('ReqUnset')).toEqual(['X-Foo: 1']);
  });

  it('shows XYZ of a VWXYZ status to the log', () => {
    const t = task('sub vcl_deliver { set resp.status = 12404; set resp.http.s = resp.status; }');
    t.run('deliver');
    expect(t.log.of('RespStatus')).toEqual(['404']);
    expect(t.log.of('RespReason')).toEqual(['Not Found']);
    expect(t.req.resp.get('s')).toBe('12404');
  });

  it('fails when a switch is used once the filters are set, and lists the usual ones before', () => {
    const filters = (body: string): string => {
      const t = task(`sub vcl_backend_response { ${body} set beresp.http.f = "[" + beresp.filters + "]"; }`);
      const end = t.run('backend_response');
      return [end, t.bo.beresp.get('f'), ...t.log.of('VCL_Error')].join(' | ');
    };
    expect(filters('')).toBe('deliver | [ usual]');
    expect(filters('set beresp.filters = "gzip";')).toBe('deliver | [gzip]');
    for (const use of ['if (beresp.do_esi) { }', 'set beresp.do_esi = true;']) {
      expect(filters(`set beresp.filters = ""; ${use}`)).toBe(
        'fail |  | beresp.filters are already fixed, beresp.do_esi is undefined',
      );
    }
    const t = task('sub vcl_deliver { set resp.filters = ""; if (resp.do_esi) { set resp.http.x = "1"; } }');
    expect(t.run('deliver')).toBe('fail');
  });

  it('takes a timeout of nothing for the one of the backend, and names the storage an object will have, or none', () => {
    const t = task(
      'sub vcl_backend_fetch { set bereq.first_byte_timeout = -5s; set bereq.http.t = bereq.first_byte_timeout; }',
    );
    t.run('backend_fetch');
    expect([t.bo.firstByteTimeout, t.bo.bereq.get('t')]).toEqual([-1, '0.000']);
    const u = task('sub vcl_backend_response { set beresp.http.s = beresp.storage; }');
    u.run('backend_response');
    expect(u.bo.beresp.get('s')).toBe('storage.s0');
    u.bo.storage = null;
    u.run('backend_response');
    expect(u.bo.beresp.get('s') ?? '').toBe('');
  });

  it('keeps bytes beyond ASCII', () => {
    const t = task('sub vcl_synth { set resp.http.x = "ü"; set resp.body = "ü"; return (deliver); }');
    t.run('synth');
    expect(t.req.resp.get('x')).toBe('Ã¼');
    expect(t.req.attempt.synthBody).toBe('Ã¼');
    const u = task(
      'import blob; sub vcl_synth { set resp.body = blob.decode(HEX, encoded="00ffe9c3bc"); return (deliver); }',
    );
    u.run('synth');
    expect(Buffer.from(u.req.attempt.synthBody ?? '', 'latin1').toString('hex')).toBe('00ffe9c3bc');
  });

  it('keeps the life of an object at a pass without a duration', () => {
    const t = task('sub vcl_backend_response { return (pass); }');
    expect([t.run('backend_response'), t.ctx.passTtl]).toEqual(['pass', null]);
    const u = task('sub vcl_backend_response { return (pass(5s)); }');
    expect([u.run('backend_response'), u.ctx.passTtl]).toEqual(['pass', 5]);
  });

  it('appends with synthetic(), returns the missing part, and starts over with set', () => {
    const body = (statements: string): string | null => {
      const t = task(`sub vcl_synth { ${statements} return (deliver); }`);
      t.run('synth');
      return t.req.attempt.synthBody;
    };
    expect(body('synthetic("a"); synthetic("b" + req.http.none + "c");')).toBe('ab(null)c');
    expect(body('synthetic(req.http.none);')).toBe('(null)');
    expect(body('set resp.body = "x" + req.http.none; synthetic("y");')).toBe('xy');
    expect(body('synthetic("y"); set resp.body = "x";')).toBe('x');
  });

  it('takes an empty reason for one, and no reason for the usual', () => {
    const reason = (argument: string): string => {
      const t = task(`sub vcl_recv { return (synth(404, ${argument})); }`);
      t.run('recv');
      return t.ctx.synthReason;
    };
    expect(reason('""')).toBe('');
    expect(reason('req.http.none')).toBe('Not Found');
  });
});

describe('acls', () => {
  const decide = (entries: string, ip: string): string => {
    const t = task(
      `acl a +log { ${entries} } sub vcl_recv { if (std.ip("${ip}", "0.0.0.0") ~ a) { return (pass); } return (pipe); }`,
    );
    return `${t.run('recv')} ${t.log.of('VCL_acl').join()}`;
  };
  it('lets the most specific network decide, and logs it', () => {
    expect(decide('"10.0.0.0"/8; ! "10.1.0.0"/16;', '10.2.0.1')).toBe('pass MATCH a "10.0.0.0"/8');
    expect(decide('"10.0.0.0"/8; ! "10.1.0.0"/16;', '10.1.0.1')).toBe('pipe NEG_MATCH a "10.1.0.0"/16');
    expect(decide('"10.0.0.0"/8;', '11.0.0.1')).toBe('pipe NO_MATCH a');
    expect(decide('"2001:db8::"/33;', '2001:db8:7fff::1')).toBe('pass MATCH a "2001:db8::"/33');
    expect(decide('"2001:db8::"/33;', '2001:db8:8000::1')).toBe('pipe NO_MATCH a');
    expect(decide('"10"; ! "10.1"/24;', '10.1.1.1')).toBe('pass MATCH a "10"');
    expect(decide('"10"; ! "10.1"/24;', '10.1.0.1')).toBe('pipe NEG_MATCH a "10.1"/24');
    expect(decide('"127.1";', '127.0.0.1')).toBe('pipe NO_MATCH a');
    expect(decide('"192.168/17";', '192.168.127.1')).toBe('pass MATCH a "192.168"');
    const network = { bytes: [1, 2, 3, 4], bits: 32, negate: false, shown: '"1.2.3.4"' };
    const acl = new VclAcl('a', packedAcl(false, [network]));
    expect(acl.find(new VclIp('::ffff:1.2.3.4', 0))).toBe(0);
    expect(acl.allows(new VclIp('1.2.3.4', 0))).toBe(true);
  });
});

describe('loading', () => {
  it('refuses a program whose backend or extension is not there', () => {
    const { program } = compile({
      name: 'm',
      text: 'vcl 4.1; import std; backend d none; sub vcl_recv { std.log("a"); }',
    });
    if (program === undefined) throw new Error('did not compile');
    expect(() => loadProgram('m', program, new Map(), findExtension)).toThrow('backend d');
    const directors = new Map([['d', fakeDirector('d')]]);
    expect(() => loadProgram('m', program, directors, () => undefined)).toThrow('extension std');
  });

  it('survives the trip through JSON', () => {
    const program = load('sub vcl_recv { if (req.url ~ "p(.)th") { return (pass); } }');
    const again = loadProgram(
      'again',
      JSON.parse(JSON.stringify(program.compiled)),
      new Map([['d', fakeDirector('d')]]),
      findExtension,
    );
    expect(again.states).toHaveLength(15);
  });
});
