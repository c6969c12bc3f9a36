// The compiler and the loader with extensions, using one made for it: arguments, private data, objects, subs as
// values, events and failures. Rejected programs were compared with Varnish's.
import { describe, expect, it } from 'vitest';
import { type Director, type ExtensionEvent, VclContext } from '../../../daemon/contract/context.ts';
import type { Extension, ExtensionCall } from '../../../daemon/contract/extension.ts';
import { ExtensionError } from '../../../daemon/contract/failure.ts';
import { endPrivs, type Priv } from '../../../daemon/contract/priv.ts';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { finiProgram, initProgram, programEvent } from '../../../daemon/vcl/loader.ts';
import type { SubValue } from '../../../daemon/vcl/runtime/sub-value.ts';
import { FakeLog, host, load, type Task, task } from '../vcl/fake-task.ts';

const count: ExtensionCall = (_ctx, cell: Priv, by = 1) => {
  cell.value = ((cell.value as number | undefined) ?? 0) + by;
  return cell.value;
};

/** An extension that writes down what happens to it. */
function spy(seen: string[] = [], refuses: ExtensionEvent | null = null): Extension {
  return {
    name: 'spy',
    help: '',
    functions: {
      args: {
        help: '',
        signature: 'STRING args(STRING a, INT b=4, [STRING c], ENUM {one, two} d=one, DURATION e=1m)',
        call: (_ctx, ...args: unknown[]) => JSON.stringify(args.map((a) => a ?? (a === null ? 'null' : '-'))),
      },
      calls: { help: '', signature: 'INT calls(PRIV_CALL)', call: count },
      program: { help: '', signature: 'INT program(PRIV_VCL)', call: count },
      task: {
        help: '',
        signature: 'INT task(INT by=1, PRIV_TASK)',
        call: (c, by: number, p: Priv) => count(c, p, by),
      },
      top: { help: '', signature: 'INT top(PRIV_TOP, INT by)', call: count },
      fail: {
        help: '',
        signature: 'VOID fail(STRING text)',
        call: (_ctx, text: string) => {
          throw new ExtensionError(text);
        },
      },
      bug: {
        help: '',
        signature: 'INT bug()',
        call: () => {
          throw new TypeError('a bug');
        },
      },
      client: { help: '', signature: 'BOOL client()', places: 'client', call: () => true },
      run: { help: '', signature: 'VOID run(SUB what)', call: (ctx, what: SubValue) => what.call(ctx) },
      none: { help: '', signature: 'SUB none()', call: () => null },
      back: { help: '', signature: 'BACKEND back(BACKEND b)', call: (_ctx, b: Director) => b },
      head: { help: '', signature: 'VOID head(HEADER h)', call: () => undefined },
      message: { help: '', signature: 'VOID message(HTTP m)', call: () => undefined },
      word: { help: '', signature: 'STRING word(ENUM {a, b})', call: (_ctx, w: string) => w },
    },
    objects: {
      box: {
        help: '',
        signature: 'box(STRING text="empty", PRIV_VCL)',
        create: (_ctx, name: string, text: string, priv: Priv) => {
          seen.push(`create ${name} ${text}`);
          count(_ctx, priv);
          if (text === 'bad') throw new ExtensionError(`${name} is bad`);
          return { name, text };
        },
        destroy: (self: { name: string }) => seen.push(`destroy ${self.name}`),
        methods: {
          text: { help: '', signature: 'STRING text()', call: (_ctx, self: { text: string }) => self.text },
          calls: { help: '', signature: 'INT calls(PRIV_CALL)', call: (c, _self, p: Priv) => count(c, p) },
          task: { help: '', signature: 'INT task(PRIV_TASK)', call: (c, _self, p: Priv) => count(c, p) },
          top: { help: '', signature: 'INT top(PRIV_TOP)', call: (c, _self, p: Priv) => count(c, p) },
          sub: { help: '', signature: 'SUB sub()', call: () => null },
        },
      },
      maybe: {
        help: '',
        signature: 'maybe()',
        mayBeAbsent: true,
        create: () => ({}),
        methods: {
          there: { help: '', signature: 'BOOL there()', call: (_ctx, self: unknown) => self !== null },
        },
      },
    },
    event: (_ctx, event, priv) => {
      seen.push(`${event} ${String(priv.value ?? 0)}`);
      if (event === 'load') priv.end = (value) => seen.push(`end ${String(value)}`);
      return event === refuses ? `no ${event}` : undefined;
    },
  };
}

const lookup = (extension: Extension) => (name: string) => (name === extension.name ? extension : undefined);

const HEAD = 'vcl 4.1; import spy; backend d none; backend e { .host = "127.0.0.1"; }\n';
const USE = 'sub vcl_hash { if (req.backend_hint == e) {} }\n';

function errors(body: string): string[] {
  const r = compile({ name: 't.vcl', text: HEAD + USE + body }, { extensions: lookup(spy()) });
  return (r.errors ?? []).map((e) => e.message);
}

function start(body: string, extension = spy()): Task {
  const t = task(HEAD + USE + body, {}, { extensions: lookup(extension) });
  t.run('init');
  return t;
}

/** Value of the header `x` that a program sets in vcl_recv. */
function value(expression: string, more = ''): string | null {
  const t = start(`${more} sub vcl_recv { set req.http.x = ${expression}; return (pass); }`);
  t.run('recv');
  return t.req.http.get('x');
}

describe('arguments', () => {
  it.each([
    ['spy.args("s")', '["s",4,"-","one",60]'],
    ['spy.args("s", 5, "c", two, 1s)', '["s",5,"c","two",1]'],
    ['spy.args("s", e = 2s, b = 1)', '["s",1,"-","one",2]'],
    ['spy.args(a = req.http.none)', '["null",4,"-","one",60]'],
    ['spy.args(req.http.host + "!", d = two)', '["example.com!",4,"-","two",60]'],
    ['spy.word(b)', 'b'],
  ])('%s', (call, expected) => {
    expect(value(call)).toBe(expected);
  });

  it.each([
    ['spy.args()', "Argument 'a' missing"],
    ['spy.args("s", nix = 1)', "Unknown argument 'nix'"],
    ['spy.args("s", b = 1, b = 2)', "Argument 'b' already used"],
    ['spy.args("s", a = "t")', "Argument 'a' already used"],
    ['spy.args("s", 1, "c", one, 1s, 2)', "Too many arguments: 'args' takes 5"],
    ['spy.args("s", e = 1constructor)', "Unknown duration unit 'constructor'"],
    ['spy.word(c)', 'Wrong enum value. Expected one of: a, b'],
    ['spy.word("a")', 'Wrong enum value. Expected one of: a, b'],
    ['spy.calls(1)', "Too many arguments: 'calls' takes 0"],
    ['spy.fail("x")', 'Function returns VOID:'],
    ['spy.nix()', "Symbol not found: 'spy.nix'"],
    ['spy.constructor()', "Symbol not found: 'spy.constructor'"],
  ])('%s is refused', (call, expected) => {
    expect(errors(`sub vcl_recv { set req.http.x = ${call}; }`)[0]).toBe(expected);
  });

  it('gives a BACKEND back for a hint', () => {
    const t = start('sub vcl_recv { set req.backend_hint = spy.back(e); }');
    t.run('recv');
    expect(t.req.settings.backendHint?.vclName).toBe('e');
  });

  it('may be left unused as a statement, with its failures', () => {
    const t = start('sub vcl_recv { spy.calls(); spy.fail("stop"); spy.bug(); }');
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['stop']);
  });
});

describe('private data', () => {
  it('belongs to one place of a call', () => {
    const t = start(`sub both { set req.http.x = req.http.x + spy.calls() + spy.calls(); }
      sub vcl_recv { call both; call both; }`);
    t.run('recv');
    expect(t.req.http.get('x')).toBe('1122');
  });

  it('belongs to the program', () => {
    expect(value('spy.program() + "," + spy.program()')).toBe('1,2');
  });

  it('belongs to the task, and ends with it', () => {
    const t = start('sub vcl_recv { set req.http.x = spy.task(2) + "," + spy.task(); }');
    t.run('recv');
    expect(t.req.http.get('x')).toBe('2,3');
    endPrivs(t.ctx.priv);
    t.run('recv');
    expect(t.req.http.get('x')).toBe('2,3');
  });

  it('belongs to the top request, in client states alone', () => {
    const t = start('sub vcl_recv { set req.http.x = spy.top(1) + "," + spy.top(2); }');
    t.run('recv');
    expect(t.req.http.get('x')).toBe('1,3');
    expect(errors('sub vcl_backend_fetch { set bereq.http.x = spy.top(1); }')).toEqual([
      "Not available in subroutine 'vcl_backend_fetch'.",
    ]);
  });

  it('is there for methods: the place of the call, and what the extension has in the task', () => {
    const t = start(`sub vcl_init { new a = spy.box(); new b = spy.box(); }
      sub one { set req.http.x = req.http.x + a.calls() + b.calls() + a.task() + b.task() + spy.task() + a.top(); }
      sub vcl_recv { call one; call one; }`);
    t.run('recv');
    expect(t.req.http.get('x')).toBe('111231' + '224562');
  });

  it('ends one by one whatever an end does', () => {
    const seen: string[] = [];
    const t = start('sub vcl_recv { spy.task(); }');
    t.run('recv');
    const map = t.ctx.priv as NonNullable<typeof t.ctx.priv>;
    map.set({}, { value: 1, end: () => seen.push('older') });
    map.set(
      {},
      {
        value: 2,
        end: () => {
          throw new Error('an end that fails');
        },
      },
    );
    map.set({}, { value: 3, end: (v) => seen.push(`younger ${String(v)}`) });
    endPrivs(map);
    expect(seen).toEqual(['younger 3', 'older']);
    expect(map.size).toBe(0);
  });
});

describe('objects', () => {
  it('are made in vcl_init, several of one type', () => {
    const t = start(`sub vcl_init { new a = spy.box("1"); new b = spy.box(text = "2"); new c = spy.box(); }
      sub vcl_recv { if (a.text() == "1" && b.text() ~ "2") { set req.http.x = a.text() + b.text() + c.text(); } }`);
    t.run('recv');
    expect(t.req.http.get('x')).toBe('12empty');
  });

  it.each([
    ['sub vcl_recv { new a = spy.box(); }', "'new': Not available in subroutine 'vcl_recv'."],
    ['sub vcl_init { new a = spy.box(); new a = spy.box(); }', "Object name 'a' already used."],
    ['sub vcl_init { new d = spy.box(); }', "Object name 'd' already used."],
    ['sub vcl_init { new spy = spy.box(); }', "Object name 'spy' already used."],
    ['sub vcl_init { new a = spy.nix(); }', "Symbol not found: 'spy.nix'"],
    ['sub vcl_init { new a = spy.toString(); }', "Symbol not found: 'spy.toString'"],
    ['sub vcl_init { new a = spy.args("s"); }', "Symbol not found: 'spy.args'"],
    ['sub vcl_init { spy.box(); }', "Symbol not found: 'spy.box'"],
    ['sub vcl_init { a.text(); new a = spy.box(); }', "Symbol not found: 'a.text'"],
    ['sub vcl_init { new a = spy.box(); } sub vcl_recv { a.nix(); }', "Symbol not found: 'a.nix'"],
  ])('%s is refused', (body, expected) => {
    expect(errors(body)).toContain(expected);
  });

  it('may go unused, as imports may', () => {
    expect(errors('sub vcl_init { new a = spy.box(); }')).toEqual([]);
    expect(errors('')).toEqual([]);
  });

  it('fail the program when vcl_init ends without them', () => {
    const program = load(`${HEAD}${USE}sub vcl_init { if (spy.program() > 5) { new a = spy.box(); } }`, {
      extensions: lookup(spy()),
    });
    expect(initProgram(program, new VclContext(host, program, new FakeLog()))).toBe(
      'Object a not initialized',
    );
  });

  it('fail the state that uses them before they are there', () => {
    const t = task(
      `${HEAD}${USE}sub vcl_init { if (spy.program() > 5) { new a = spy.box(); } a.text(); }`,
      {},
      {
        extensions: lookup(spy()),
      },
    );
    expect(t.run('init')).toBe('fail');
    expect(t.log.of('VCL_Error')[0]).toMatch(/^Object a not initialized at 'test.vcl' Line 3 /);
  });

  it('may be absent where the extension declares it', () => {
    const t = start(`sub vcl_init { if (spy.program() > 5) { new a = spy.maybe(); } new b = spy.maybe(); }
      sub vcl_recv { set req.http.x = a.there() + " " + b.there(); }`);
    t.run('recv');
    expect(t.req.http.get('x')).toBe('false true');
  });
});

describe('subs as values', () => {
  const SUBS = `sub client_sub { set req.http.x = "ran"; }
    sub backend_sub { set bereq.http.x = "ran"; }
    sub ends { return (synth(201)); }
    sub again { spy.run(again); }\n`;
  const run = (body: string): Task => {
    const t = start(`${SUBS} sub vcl_recv { ${body} set req.http.after = "yes"; }
      sub vcl_miss { spy.run(backend_sub); spy.run(ends); spy.run(again); spy.run(client_sub); }`);
    t.run('recv');
    return t;
  };

  it('run when the extension calls them', () => {
    const t = run('spy.run(client_sub);');
    expect(t.req.http.get('x')).toBe('ran');
    expect(t.req.http.get('after')).toBe('yes');
  });

  it('end the state with what they return', () => {
    const t = run('spy.run(ends);');
    expect(t.log.of('VCL_return')).toEqual(['ok', 'synth']);
    expect(t.req.http.get('after')).toBeNull();
  });

  it.each([
    ['spy.run(backend_sub);', 'call to "sub backend_sub{}" not allowed from here'],
    ['spy.run(again);', 'Recursive call to "sub again{}"'],
    ['call again;', 'Recursive call to "sub again{}"'],
  ])('%s fails', (body, expected) => {
    const t = run(body);
    expect(t.log.of('VCL_Error')).toEqual([expected]);
    expect(t.log.of('VCL_return')).toEqual(['ok', 'fail']);
  });

  it('can be called by an expression', () => {
    const t = run('call spy.none();');
    expect(t.log.of('VCL_Error')[0]).toMatch(/^Tried to call NULL SUB/);
    expect(errors('sub vcl_recv { call spy.calls(); }')).toEqual(['Expression has type INT, expected SUB']);
  });
});

describe('failures', () => {
  it('say what an extension says, and the place of what it did not mean', () => {
    const t = start('sub vcl_recv { spy.bug(); }');
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([`Internal error: a bug at 'test.vcl' Line 3 Pos 16`]);
  });

  it('reach the loader from vcl_init, and nothing of the program stays', () => {
    const seen: string[] = [];
    const program = load(`${HEAD}${USE}sub vcl_init { new a = spy.box(); new b = spy.box("bad"); }`, {
      extensions: lookup(spy(seen)),
    });
    const context = () => new VclContext(host, program, new FakeLog());
    expect(initProgram(program, context())).toMatch(/^b is bad/);
    finiProgram(program, context());
    expect(seen).toEqual(['load 0', 'create a empty', 'create b bad', 'destroy a', 'end 2', 'discard 0']);
  });

  it('in vcl_fini stop nothing', () => {
    const seen: string[] = [];
    const program = load(
      `${HEAD}${USE}sub vcl_init { new a = spy.box(); } sub vcl_fini { spy.fail("late"); }`,
      {
        extensions: lookup(spy(seen)),
      },
    );
    const log = new FakeLog();
    expect(initProgram(program, new VclContext(host, program, new FakeLog()))).toBeNull();
    finiProgram(program, new VclContext(host, program, log));
    expect(log.of('VCL_Error')).toEqual(['late']);
    expect(seen.slice(-3)).toEqual(['destroy a', 'end 1', 'discard 0']);
  });
});

describe('events', () => {
  it('come before vcl_init and after vcl_fini, and can refuse', () => {
    for (const refused of ['load', 'warm', 'cold'] as const) {
      const seen: string[] = [];
      const program = load(HEAD + USE, { extensions: lookup(spy(seen, refused)) });
      const context = () => new VclContext(host, program, new FakeLog());
      const loaded = initProgram(program, context());
      expect(loaded).toBe(refused === 'load' ? 'spy: no load' : null);
      const warm = programEvent(program, 'warm', context());
      expect(warm).toBe(refused === 'warm' ? 'spy: no warm' : null);
    }
  });

  it('reach an extension once a program however often it is imported', () => {
    const seen: string[] = [];
    const extension = spy(seen);
    const program = load(
      `vcl 4.1; import spy; import spy; import spy as again; backend d none;
      sub vcl_recv { again.calls(); spy.calls(); }`,
      { extensions: lookup(extension) },
    );
    initProgram(program, new VclContext(host, program, new FakeLog()));
    expect(seen).toEqual(['load 0']);
  });
});

describe('what is known of header fields', () => {
  const facts = (body: string): { reads: string[]; writes: string[] } => {
    const r = compile({ name: 't.vcl', text: HEAD + USE + body }, { extensions: lookup(spy()) });
    const { reads = [], writes = [] } = r.program?.facts.vcl_recv ?? {};
    return { reads, writes };
  };

  it('is what the arguments name', () => {
    const { reads, writes } = facts('sub vcl_recv { spy.head(req.http.A); return (pass); }');
    expect(reads).toContain('req.a');
    expect(writes).toContain('req.a');
    expect(reads).not.toContain('*');
  });

  it('is nothing certain where a head or a sub is handed over', () => {
    expect(facts('sub vcl_recv { spy.message(req); }').writes).toContain('*');
    expect(facts('sub a { } sub vcl_recv { spy.run(a); }').reads).toContain('*');
    expect(facts('sub vcl_recv { spy.calls(); }').writes).not.toContain('*');
  });
});

describe('imports', () => {
  const result = (text: string, unsafePath = true): string[] => {
    const other: Extension = { ...spy(), name: 'other' };
    const both = (name: string) => lookup(spy())(name) ?? lookup(other)(name);
    const r = compile({ name: 't.vcl', text: `vcl 4.1; ${text}` }, { extensions: both, unsafePath });
    return (r.errors ?? []).map((e) => e.message);
  };

  it.each([
    ['import spy; import spy as p2; backend d none; sub vcl_recv { p2.calls(); spy.calls(); }', null],
    ['import spy as p2; backend d none; sub vcl_recv { spy.calls(); }', "Symbol not found: 'spy.calls'"],
    ['import spy; import other as spy; backend d none;', 'Another module already imported as spy.'],
    ['import nix; backend d none;', 'Could not find VMOD nix'],
    ['import spy; backend spy none;', "Symbol 'spy' has wrong type (backend), expected vmod"],
    ['backend spy none; import spy;', 'Module spy conflicts with other symbol.'],
    ['import spy as req; backend d none;', "Name 'req' is taken by the language."],
    ['import spy from "/x/libvmod_spy.so"; backend d none;', null],
    ['import spy from "/x/spy.js"; backend d none;', 'Could not find VMOD spy'],
  ])('%s', (text, expected) => {
    expect(result(text)[0] ?? null).toBe(expected);
  });

  it('that fail are the only error about their name', () => {
    const text =
      'import nix; backend d none; sub vcl_init { new x = nix.y(); } sub vcl_recv { nix.f(); x.g(); }';
    expect(result(text)).toEqual(['Could not find VMOD nix']);
  });

  it('take no paths where that is forbidden', () => {
    expect(result('import spy from "./libvmod_spy.so"; backend d none;', false)[0]).toBe(
      "'import ... from path ...' is unsafe.",
    );
    expect(result('import spy from "libvmod_spy.so"; backend d none;', false)).toEqual([]);
  });
});
