// Variables of Varnish 7.2 to 9.0, which every program may use; their places are those of vcl-var(7) of 9.0.
import { describe, expect, it } from 'vitest';
import { compile } from '../../../../daemon/extensions/compile-with-builtins.ts';
import { NEVER } from '../../../../protocol/tables/params.ts';
import { Tag } from '../../../../protocol/tables/tags.ts';
import { host, load, type Task, task, taskOf } from '../fake-task.ts';

/** A request after statements of vcl_recv. */
function received(statements: string): Task {
  const t = task(`sub vcl_recv { ${statements} return (pass); }`);
  t.run('recv');
  return t;
}

/** Value of an expression in vcl_recv as a string. */
function value(expression: string): string | null {
  return received(`set req.http.out = ${expression};`).req.http.get('out');
}

/** The first error of a program, or null. */
function refusal(text: string): string | null {
  const source = { name: 'a.vcl', text: `vcl 4.1; import std; backend d none;\n${text}` };
  const { errors } = compile(source, { errUnref: false });
  return errors?.[0]?.message ?? null;
}

describe('the oldest object a request takes', () => {
  it('has two names', () => {
    expect(received('set req.max_age = 5s;').req.settings.ttl).toBe(5);
    expect(value('req.max_age')).toBe('-1.000');
    const t = received('set req.ttl = 7s; set req.http.out = req.max_age;');
    expect(t.req.http.get('out')).toBe('7.000');
  });

  it('is no limit once it is unset, by either name, and so is grace', () => {
    expect(received('set req.max_age = 5s; unset req.ttl;').req.settings.ttl).toBe(-1);
    expect(received('set req.ttl = 5s; unset req.max_age;').req.settings.ttl).toBe(-1);
    expect(received('set req.grace = 5s; unset req.grace;').req.settings.grace).toBe(-1);
  });
});

describe('a timeout that is unset', () => {
  it.each(['connect', 'first_byte', 'between_bytes'])('is the backend’s again: %s', (name) => {
    const t = task(`sub vcl_backend_fetch {
      set bereq.${name}_timeout = 9s; set bereq.http.a = bereq.${name}_timeout;
      unset bereq.${name}_timeout; set bereq.http.b = bereq.${name}_timeout;
    }`);
    t.run('backend_fetch');
    expect([t.bo.bereq.get('a'), t.bo.bereq.get('b')]).toEqual(['9.000', '0.000']);
    expect([t.bo.connectTimeout, t.bo.firstByteTimeout, t.bo.betweenBytesTimeout]).toEqual([-1, -1, -1]);
  });

  it.each(['timeout_idle', 'timeout_linger', 'idle_send_timeout', 'send_timeout'])(
    'of a session is the parameter’s again: %s',
    (name) => {
      const t = task(`sub vcl_recv {
        set sess.${name} = 9s; set req.http.a = sess.${name};
        unset sess.${name}; set req.http.b = sess.${name};
      }`);
      const asked: string[] = [];
      t.ctx.host = {
        ...host,
        param: (param) => {
          asked.push(param);
          return 42;
        },
      };
      t.run('recv');
      expect([t.req.http.get('a'), t.req.http.get('b')]).toEqual(['9.000', '42.000']);
      expect(asked).toEqual([name]);
    },
  );

  it.each([
    ['7.1', -1, undefined],
    ['9.0', 0, 0],
  ] as const)(
    'is that of the backend or the parameter when it is 0 in 7.1, and over at once since 7.5: %s',
    (release, own, attribute) => {
      const t = task('sub vcl_backend_fetch { set bereq.first_byte_timeout = 0s; }', {}, { release });
      t.run('backend_fetch');
      expect(t.bo.firstByteTimeout).toBe(own);
      const text =
        'vcl 4.1; backend d { .host = "127.0.0.1"; .first_byte_timeout = 0s; .between_bytes_timeout = 0s; .connect_timeout = 0s; }';
      const [declared] = compile({ name: 'a.vcl', text }, { release }).program?.backends ?? [];
      expect(declared?.firstByteTimeout).toBe(attribute);
      expect([declared?.connectTimeout, declared?.betweenBytesTimeout]).toEqual([attribute, attribute]);
    },
  );

  it('is the largest number in text where the parameter says never, as in 7.7.0', () => {
    const longest = '999999999999.999';
    const fetch = task(
      'sub vcl_backend_fetch { set bereq.http.a = bereq.connect_timeout; set bereq.http.b = param.connect_timeout; }',
      {},
      { release: '9.0' },
    );
    Object.assign(fetch.bo.params, { connect_timeout: NEVER });
    fetch.ctx.host = { ...host, param: () => NEVER };
    fetch.run('backend_fetch');
    expect([fetch.bo.bereq.get('a'), fetch.bo.bereq.get('b')]).toEqual([longest, longest]);
    const request = task(
      'sub vcl_recv { set req.http.a = sess.send_timeout; set req.http.b = sess.idle_send_timeout; return (pass); }',
    );
    Object.assign(request.req, {
      session: { ...request.req.session, sendTimeout: NEVER, idleSendTimeout: NEVER },
    });
    request.run('recv');
    expect([request.req.http.get('a'), request.req.http.get('b')]).toEqual([longest, longest]);
  });

  it('can be unset before a pipe, too, where only connecting has a timeout to read', () => {
    expect(refusal('sub vcl_pipe { unset bereq.first_byte_timeout; unset bereq.connect_timeout; }')).toBe(
      null,
    );
    expect(refusal('sub vcl_pipe { set bereq.first_byte_timeout = 1s; }')).toContain(
      'bereq.first_byte_timeout',
    );
  });
});

describe('ids', () => {
  it('are numbers where a number fits', () => {
    expect(value('req.xid > 1000 && req.xid < 1002')).toBe('true');
    expect(value('1001 == req.xid')).toBe('true');
    expect(value('req.xid % 10 == 1')).toBe('true');
    expect(value('std.time(integer = req.xid)')).toBe('Thu, 01 Jan 1970 00:16:41 GMT');
    expect(value('sess.xid * 2')).toBe('2');
    const sum = received('if (sess.xid + 1 == 2) { set req.http.out = "is"; }');
    expect(sum.req.http.get('out')).toBe('is');
  });

  it('are texts where a text fits, as they were', () => {
    expect(value('req.xid')).toBe('1001');
    expect(value('req.xid + 1')).toBe('10011');
    expect(value('"a" + req.xid')).toBe('a1001');
    expect(value('req.xid ~ "^1"')).toBe('true');
    expect(value('req.xid == "1001"')).toBe('true');
    expect(value('req.xid.upper()')).toBe('1001');
    expect(received('if (req.xid) { set req.http.out = "is"; }').req.http.get('out')).toBe('is');
  });

  it('are summed under 9.0, and joined with texts all the same', () => {
    const sum = (expression: string): string | null => {
      const t = task(
        `sub vcl_recv { set req.http.out = ${expression}; return (pass); }`,
        {},
        { release: '9.0' },
      );
      t.run('recv');
      return t.req.http.get('out');
    };
    expect([sum('req.xid + 1'), sum('1 + req.xid'), sum('req.xid + sess.xid')]).toEqual([
      ...['1002', '1002', '1002'],
    ]);
    expect([sum('"a" + req.xid'), sum('req.xid + "a"'), sum('req.xid + req.url')]).toEqual([
      ...['a1001', '1001a', '1001/path?b=2&a=1'],
    ]);
    expect([sum('req.xid'), sum('req.xid ~ "^1"'), sum('req.xid == "1001"')]).toEqual([
      '1001',
      'true',
      'true',
    ]);
  });

  it('of a fetch are both, too', () => {
    const t = task('sub vcl_backend_fetch { if (bereq.xid == 1002) { set bereq.http.x = bereq.xid; } }');
    t.run('backend_fetch');
    expect(t.bo.bereq.get('x')).toBe('1002');
  });

  it('cannot be compared with what is neither', () => {
    expect(refusal('sub vcl_recv { if (req.xid == 1s) { } }')).toMatch(/INT|STRING/);
  });
});

describe('the hash of a request', () => {
  it('can be read where a response is made and before a pipe', () => {
    expect(refusal('sub vcl_synth { set resp.http.h = req.hash; }')).toBe(null);
    expect(refusal('sub vcl_pipe { set bereq.http.h = req.hash; }')).toBe(null);
    expect(refusal('sub vcl_recv { set req.http.h = req.hash; }')).toContain('req.hash');
  });
});

describe('parameters', () => {
  it('can be read in every state, with their types', () => {
    const t = task(`sub vcl_backend_response {
      set beresp.ttl = param.default_ttl * 2;
      set beresp.http.r = param.max_retries + 1;
      set beresp.http.t = param.default_ttl;
    }`);
    t.ctx.host = { ...host, param: (name) => (name === 'default_ttl' ? 120 : 4) };
    t.run('backend_response');
    expect(t.bo.ttl).toBe(240);
    expect([t.bo.beresp.get('r'), t.bo.beresp.get('t')]).toEqual(['5', '120.000']);
    expect(refusal('sub vcl_init { std.log(param.max_retries); }')).toBe(null);
  });

  it('of pipes are there, too', () => {
    const program =
      'sub vcl_pipe { if (param.pipe_task_deadline > param.pipe_timeout) { set bereq.http.x = "long"; } }';
    const t = task(program);
    t.ctx.host = { ...host, param: (name) => (name === 'pipe_timeout' ? 60 : 1e20) };
    t.run('pipe');
    expect(t.bo.bereq.get('x')).toBe('long');
  });

  it('cannot be changed, and others are unknown', () => {
    expect(refusal('sub vcl_recv { set param.default_ttl = 1s; }')).toContain('param.default_ttl');
    expect(refusal('sub vcl_recv { std.log(param.vsl_mask); }')).toContain('param.vsl_mask');
  });
});

describe('traces of single tasks', () => {
  const PROGRAM = load(
    'sub vcl_recv { set req.trace = true; if (req.url) { std.log("x"); } return (hash); } sub vcl_hash { return (lookup); }',
    { noBuiltin: true },
  );

  it('are logged from where the program asks for them, in later states, too', () => {
    const t = taskOf(PROGRAM);
    t.run('recv');
    expect(t.log.of('VCL_trace')).toHaveLength(2);
    t.run('hash');
    expect(t.log.of('VCL_trace')).toHaveLength(3);
  });

  it('are not logged when the program refuses them, whatever the log wants', () => {
    const t = task('sub vcl_recv { set req.trace = false; if (req.url) { } return (hash); }');
    t.log.wanted.add(Tag.VCL_trace);
    t.run('recv');
    expect(t.log.of('VCL_trace')).toHaveLength(1);
    t.run('hash');
    expect(t.log.of('VCL_trace')).toHaveLength(1);
  });

  it('are what the log wants unless the program says something', () => {
    const t = task('sub vcl_recv { set req.http.out = req.trace; return (hash); }');
    t.run('recv');
    expect(t.req.http.get('out')).toBe('false');
    t.log.wanted.add(Tag.VCL_trace);
    t.run('recv');
    expect(t.req.http.get('out')).toBe('true');
  });

  it('of a fetch follow bereq.trace', () => {
    const t = task(
      'sub vcl_backend_fetch { set bereq.trace = true; set bereq.http.out = bereq.trace; return (fetch); }',
    );
    t.run('backend_fetch');
    expect(t.bo.trace).toBe(true);
    expect(t.bo.bereq.get('out')).toBe('true');
  });
});

describe('the second try on another connection', () => {
  it('can be refused for a fetch', () => {
    const t = task(
      'sub vcl_backend_fetch { set bereq.http.was = bereq.retry_connect; set bereq.retry_connect = false; }',
    );
    t.run('backend_fetch');
    expect(t.bo.bereq.get('was')).toBe('true');
    expect(t.bo.retryConnect).toBe(false);
  });
});

describe('return (fail(…))', () => {
  it('takes any text, of a function, too', () => {
    const t = task('sub vcl_recv { return (fail(std.tolower("A") + req.url)); }');
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['a/path?b=2&a=1']);
  });
});
