// An outside extension as a program meets it: values on their way in and out, the context, and what is refused.
import { describe, expect, it } from 'vitest';
import { adaptExtension } from '../../../daemon/extensions/load/adapt.ts';
import type {
  OutsideContext,
  OutsideExtension,
  OutsideHead,
} from '../../../daemon/extensions/load/interface.ts';
import { readManifest } from '../../../daemon/extensions/load/manifest.ts';
import { type Task, task } from '../vcl/fake-task.ts';

type Call = (ctx: OutsideContext, ...args: never[]) => unknown;

/** A task of a program that imports an extension with these functions, after vcl_init. */
function start(functions: Record<string, [signature: string, call: Call]>, body: string): Task {
  const exported: OutsideExtension = {
    abi: 1,
    functions: Object.fromEntries(
      Object.entries(functions).map(([name, [signature, call]]) => [
        name,
        { signature, call: call as never },
      ]),
    ),
  };
  const extension = adaptExtension(readManifest({ extension: exported }, 'ext'), exported);
  const text = `vcl 4.1; import ext; backend d { .host = "127.0.0.1"; } backend e { .host = "127.0.0.1"; }
    acl ten { "10.0.0.0"/8; ! "10.1.0.0"/16; } probe pr { .url = "/p"; }
    sub called { set req.http.called = "yes"; }
    sub vcl_hash { if (req.backend_hint == e || client.ip ~ ten) { } }
    ${body}`;
  return task(
    text,
    {},
    {
      extensions: (name) => (name === 'ext' ? extension : undefined),
      errUnref: false,
    },
  );
}

/** The arguments that the extension receives from a call, and the result that the program gets back. */
function through(parameters: string, args: string, call: Call, returns = 'STRING'): string | null {
  const t = start(
    { f: [`${returns} f(${parameters})`, call] },
    `sub vcl_recv { set req.http.x = ext.f(${args}); }`,
  );
  t.run('recv');
  const errors = t.log.of('VCL_Error');
  return errors.length > 0 ? `! ${errors.join('; ')}` : t.req.http.get('x');
}

describe('values on their way in', () => {
  const shown = (value: unknown): string => JSON.stringify(value) ?? 'undefined';
  it.each([
    ['STRING s', 'req.http.none', 'null'],
    ['STRING s', '"a" + 1', '"a1"'],
    ['STRANDS s', '"a" + req.http.none + "b"', '"ab"'],
    ['[INT i]', '', 'undefined'],
    ['INT i', '2 + 3', '5'],
    ['DURATION d', '1m', '60'],
    ['BYTES b', '2KB', '2048'],
    ['BOOL b', 'req.http.host', 'true'],
    ['IP ip', '"192.0.2.7"', '{"address":"192.0.2.7","port":80,"family":4}'],
    ['PROBE p', 'pr', '{"name":"pr","url":"/p"}'],
    ['BACKEND b', 'e', '{"name":"e"}'],
    ['ACL a', 'ten', '{"name":"ten"}'],
    ['REGEX r', '"a+"', '{"pattern":"a+"}'],
    ['SUB s', 'called', '{"name":"called"}'],
    ['BLOB b', ':YWI=:', '{"type":"Buffer","data":[97,98]}'],
  ])('%s of %s', (parameters, args, expected) => {
    const got = through(parameters, args, (_ctx, value) => shown(value));
    if (parameters === 'IP ip') expect(got).toMatch(/"address":"192\.0\.2\.7".*"family":4/);
    else if (parameters === 'PROBE p') expect(got).toContain('"url":"/p"');
    else expect(got).toBe(expected);
  });

  it('can be asked', () => {
    const acl = (_ctx: OutsideContext, a: { matches(x: unknown): boolean }, ip: unknown) =>
      [a.matches(ip), a.matches('10.2.3.4'), a.matches('10.1.3.4'), a.matches('nonsense')].join();
    expect(through('ACL a, IP ip', 'ten, "10.9.9.9"', acl as Call)).toBe('true,true,false,false');
    const regex = (_ctx: OutsideContext, r: { test(x: string): boolean }) =>
      `${r.test('baa')} ${r.test('b')}`;
    expect(through('REGEX r', '"a+"', regex as Call)).toBe('true false');
    const backend = (_ctx: OutsideContext, b: { healthy(now: number): boolean }) => String(b.healthy(1));
    expect(through('BACKEND b', 'd', backend as Call)).toBe('true');
  });
});

describe('values on their way out', () => {
  it.each([
    ['STRING', 'text', 'text'],
    ['STRING', null, ''],
    ['STRING', 'é', 'é'],
    ['STRING', '€', 'â\x82¬'],
    ['BOOL', true, 'true'],
    ['INT', -3, '-3'],
    ['REAL', 1.5, '1.500'],
    ['DURATION', 2, '2.000'],
    ['TIME', 0, 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['IP', '::1', '::1'],
    ['BLOB', Buffer.from('ab'), ':YWI=:'],
    ['BLOB', null, ''],
    ['STRING', 5, '! ext.f() returned number 5, not STRING'],
    ['STRING', ['a'], '! ext.f() returned an array, not STRING'],
    ['BOOL', 1, '! ext.f() returned number 1, not BOOL'],
    ['INT', 1.5, '! ext.f() returned number 1.5, not INT'],
    ['INT', undefined, '! ext.f() returned undefined undefined, not INT'],
    ['REAL', Number.NaN, '! ext.f() returned number NaN, not REAL'],
    ['BYTES', -1, '! ext.f() returned number -1, not BYTES'],
    ['IP', '1.2.3', '! ext.f() returned string 1.2.3, not IP'],
    ['STEVEDORE', null, ''],
    ['STEVEDORE', undefined, ''],
    ['BACKEND', null, ''],
    ['IP', null, '! VRT_IP_string: Illegal IP'],
    ['STEVEDORE', 5, '! ext.f() returned number 5, not STEVEDORE'],
    ['IP', 7, '! ext.f() returned number 7, not IP'],
    ['BLOB', 'ab', '! ext.f() returned string ab, not BLOB'],
    ['BACKEND', { name: 'd' }, '! ext.f() returned an object, not BACKEND'],
    ['STRING', Promise.resolve('x'), "! ext.f() returned a promise: its row has no 'waits'"],
  ])('%s from %s', (returns, value, expected) => {
    expect(through('', '', () => value, returns)).toBe(expected);
  });

  it('may be absent, and are again as arguments', () => {
    const seen: unknown[] = [];
    const take: Call = (_ctx, ...values) => void seen.push(...values);
    const functions: Parameters<typeof start>[0] = {
      none: ['IP none()', () => null],
      nowhere: ['BACKEND nowhere()', () => undefined],
      unstored: ['STEVEDORE unstored()', () => undefined],
      unprobed: ['PROBE unprobed()', () => undefined],
      take: ['VOID take(IP i, BACKEND b, STEVEDORE s, PROBE p, [IP x])', take],
    };
    const call = 'ext.take(ext.none(), ext.nowhere(), ext.unstored(), ext.unprobed());';
    const t = start(functions, `sub vcl_recv { ${call} }`);
    t.run('recv');
    expect(t.log.of('VCL_Error')).toEqual([]);
    // Omitted optional arguments are absent.
    expect(seen).toEqual([null, null, null, null]);
    const used = start(functions, 'sub vcl_recv { if (ext.none() ~ ten) { set req.http.x = "in"; } }');
    used.run('recv');
    expect(used.log.of('VCL_Error')).toEqual([expect.stringContaining('Illegal IP')]);
  });

  it('are ours again when they came as arguments', () => {
    const same: Call = (_ctx, value) => value;
    expect(through('IP i', '"192.0.2.7"', same, 'IP')).toBe('192.0.2.7');
    expect(through('BACKEND b', 'e', same, 'BACKEND')).toBe('e');
    const t = start(
      { a: ['ACL a(ACL a)', same], r: ['REGEX r(REGEX r)', same], s: ['SUB s(SUB s)', same] },
      `sub vcl_recv { if (client.ip !~ ext.a(ten) && req.url ~ ext.r("path")) { call ext.s(called); } }`,
    );
    t.run('recv');
    expect(t.log.of('VCL_Error')).toEqual([]);
    expect(t.req.http.get('called')).toBe('yes');
  });
});

describe('the context', () => {
  it('reports where a call stands', () => {
    const call: Call = (ctx) => `${ctx.abi} ${ctx.state} ${ctx.program} ${ctx.now} ${ctx.xid}`;
    expect(through('', '', call)).toBe('1 recv test 1700000000 1001');
  });

  it('has the heads that the state has', () => {
    const heads: Call = (ctx) =>
      (['req', 'resp', 'obj', 'bereq', 'beresp'] as const).filter((h) => ctx[h] !== null).join();
    const t = start(
      { h: ['STRING h()', heads], log: ['VOID log(STRING s)', ((ctx, s) => ctx.log(s)) as Call] },
      `sub vcl_recv { ext.log(ext.h()); } sub vcl_deliver { ext.log(ext.h()); }
       sub vcl_hit { ext.log(ext.h()); } sub vcl_synth { ext.log(ext.h()); } sub vcl_init { ext.log(ext.h()); }
       sub vcl_backend_fetch { ext.log(ext.h()); } sub vcl_backend_response { ext.log(ext.h()); }`,
    );
    for (const s of [
      'recv',
      'hit',
      'deliver',
      'synth',
      'backend_fetch',
      'backend_response',
      'init',
    ] as const) {
      t.run(s);
    }
    expect(t.log.of('VCL_Log')).toEqual([
      ...['req', 'req,obj', 'req,resp,obj', 'req,resp', 'bereq', 'bereq,beresp', ''],
    ]);
  });

  it('changes heads as a program would, and no more', () => {
    const seen: string[] = [];
    const attempt = (what: () => void): void => {
      try {
        what();
        seen.push('done');
      } catch (error) {
        seen.push((error as Error).message);
      }
    };
    const t = start(
      {
        f: [
          'VOID f()',
          (ctx) => {
            const req = ctx.req as OutsideHead;
            req.set('A', '1');
            req.add('A', '2');
            req.add('B', '3');
            seen.push(req.getAll('a').join(), req.names().join(), String(req.get('none')), req.url);
            req.unset('HOST');
            attempt(() => req.set('A', 'one\r\ntwo: three'));
            attempt(() => req.set('A B', 'x'));
            attempt(() => req.set('A', 5 as never));
            attempt(() => req.add('A', '\0'));
            attempt(() => ctx.obj?.set('A', 'x'));
            seen.push(req.getAll('a').join());
          },
        ],
      },
      'sub vcl_hit { ext.f(); }',
    );
    t.run('hit');
    expect(seen).toEqual([
      '1,2',
      'Host,A,A,B',
      'null',
      '/path?b=2&a=1',
      expect.stringMatching(/^Bad header A/),
      "'A B' is not a valid header name",
      'a header field is a string, not number',
      expect.stringMatching(/^Bad header A/),
      'the head of an object cannot be changed',
      '1,2',
    ]);
    expect(t.req.http.has('host')).toBe(false);
    expect(t.req.http.getAll('a')).toBe('1, 2');
  });

  it('never changes a cached object by a field of it', () => {
    const call = ((_ctx, h: OutsideHead) => h.set('b', 'c')) as Call;
    const t = start({ f: ['VOID f(HEADER h)', call] }, 'sub vcl_hit { ext.f(obj.http.a); }');
    t.run('hit');
    expect(t.log.of('VCL_Error')).toEqual(['the head of an object cannot be changed']);
    expect(t.req.obj?.http.n).toBe(0);
  });

  it('is of no use after the call', () => {
    const kept: (() => unknown)[] = [];
    const t = start(
      {
        f: [
          'VOID f(HEADER h, SUB s)',
          ((ctx: OutsideContext, h: { get(): string; set(s: string): void }, s: { call(): void }) => {
            const { req } = ctx;
            h.set('now');
            kept.push(
              () => ctx.now,
              () => ctx.req,
              () => ctx.log('x'),
              () => ctx.fail('x'),
              () => req?.get('x'),
              () => req?.set('x', 'y'),
              () => h.get(),
              () => s.call(),
            );
          }) as Call,
        ],
      },
      'sub vcl_recv { ext.f(req.http.x, called); }',
    );
    t.run('recv');
    expect(t.req.http.get('x')).toBe('now');
    for (const use of kept) expect(use).toThrow('used after the call it belongs to');
    expect(t.req.http.get('x')).toBe('now');
    expect(t.req.http.get('called')).toBeNull();
  });
});

describe('what is thrown', () => {
  it.each([
    [new Error('words'), 'ext.f: words'],
    ['a text', 'ext.f: a text'],
    [undefined, 'ext.f: undefined'],
    [Object.create(null), 'ext.f: an error without a text'],
  ])('%s fails the state', (thrown, expected) => {
    const call: Call = () => {
      throw thrown;
    };
    expect(through('', '', call)).toBe(`! ${expected}`);
  });

  it('by ctx.fail is the text alone', () => {
    expect(through('', '', (ctx) => ctx.fail('only this'))).toBe('! only this');
  });

  it('from a stack without end is a failure like others', () => {
    const forever = (): unknown => [forever()];
    expect(through('', '', forever)).toMatch(/^! ext\.f: Maximum call stack/);
  });
});
