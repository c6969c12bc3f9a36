// Programs so large that their code is in pieces: they do what they do in one, wherever the borders between pieces are.
import { describe, expect, it } from 'vitest';
import { type StateSteps, VclContext, type VclProgram } from '../../../daemon/contract/context.ts';
import { State } from '../../../daemon/contract/program.ts';
import { Waiting } from '../../../daemon/contract/waiting.ts';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { findExtension } from '../../../daemon/extensions/registry.ts';
import { initProgram, loadSteps } from '../../../daemon/vcl/loader.ts';
import { runWaitingState } from '../../../daemon/vcl/runtime/run-state.ts';
import { FakeLog, fakeDirector, host, load, type Task, taskOf } from './fake-task.ts';

const times = (n: number, text: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => text(i)).join('\n');

/** Statements that are long enough to begin a new piece. */
const FILLING = 100;
const LONG = 'x'.repeat(1400);
const filler = (i: number): string =>
  `sub filler${i} { ${times(FILLING, (j) => `if (req.url == "/${i}/${j}") { set req.http.out = "filler ${i} ${j}"; set req.http.long = "${LONG}"; }`)} }`;

/** Sources between the fillers: each uses declarations before and behind it. */
const PARTS = [
  'acl known { "192.0.2.0"/24; }',
  `sub add { set req.http.out = req.http.out + req.http.add; if (client.ip ~ known) { set req.http.out = req.http.out + "!"; } }`,
  `sub early { set req.http.add = "early"; call late; call add; }`,
  `sub vcl_init { new rr = directors.round_robin(); rr.add_backend(d); }`,
  `sub fails { set req.http.x = 5 / req.restarts; }`,
  `sub late { if (req.url ~ "^/(both|late)" && client.ip ~ known) { set req.http.add = req.http.add + "late"; } }`,
  `sub hint { set req.backend_hint = rr.backend(); set req.http.hint = rr.backend(); }`,
  `sub waits { if (std.cache_req_body(1KB)) { set req.http.out = req.http.out + "read"; call add; } }`,
  `sub vcl_recv {
    set req.http.out = "";
    if (req.url ~ "^/(both|early)") { call early; }
    if (req.url ~ "^/late") { set req.http.add = ""; call late; call add; }
    if (req.url ~ "^/fails") { call fails; }
    if (req.url ~ "^/waits") { set req.http.add = "w"; call waits; }
    call hint;
    return (pass);
  }`,
];

const HEAD = 'vcl 4.1; import directors; import std; backend d { .host = "127.0.0.1"; }\n';
const small = HEAD + PARTS.join('\n');
const fillers = PARTS.map((_, i) => `call filler${i};`).join(' ');
const large = `${HEAD}${PARTS.map((part, i) => `${part}\n${filler(i)}`).join('\n')}\nsub vcl_recv { ${fillers} }`;

function begun(text: string): VclProgram {
  const program = load(text);
  expect(initProgram(program, new VclContext(host, program, new FakeLog()))).toBeNull();
  return program;
}

const programs = { small: begun(small), large: begun(large) };

function asked(program: VclProgram, url: string): Task {
  const t = taskOf(program);
  t.req.http.setUrl(url);
  return t;
}

describe('a program in pieces', () => {
  it('has many, and a small one has one', () => {
    expect(programs.large.compiled.pieces.length).toBeGreaterThan(PARTS.length);
    expect(programs.small.compiled.pieces).toHaveLength(1);
  });

  it.each(['/both', '/early', '/late', '/none'])('does with %s what it does in one', (url) => {
    const [one, many] = [programs.small, programs.large].map((program) => {
      const t = asked(program, url);
      return [t.run('recv'), t.req.http.get('out'), t.req.http.get('hint'), t.req.http.get('add')];
    });
    expect(many).toEqual(one);
    expect(one?.slice(0, 3)).toEqual(['pass', expect.any(String), 'rr']);
  });

  it('runs the last of its statements', () => {
    const program = load(`${HEAD}${times(PARTS.length, filler)} sub vcl_recv { ${fillers} return (pass); }`);
    const t = asked(program, `/8/${FILLING - 1}`);
    t.run('recv');
    expect(t.req.http.get('out')).toBe(`filler 8 ${FILLING - 1}`);
  });

  it('names the line where it fails', () => {
    for (const [program, text] of [
      [programs.small, small],
      [programs.large, large],
    ] as const) {
      const t = asked(program, '/fails');
      expect(t.run('recv')).toBe('fail');
      const line = text.slice(0, text.indexOf('sub fails')).split('\n').length;
      expect(t.log.of('VCL_Error')[0]).toMatch(
        new RegExp(`^Division by zero at 'test.vcl' Line ${line} Pos`),
      );
    }
  });

  it('waits in a sub of another piece', () => {
    for (const program of [programs.small, programs.large]) {
      const t = asked(program, '/waits');
      const open: ((value: unknown) => void)[] = [];
      t.ctx.req = Object.assign(t.req, { cacheBody: () => new Waiting((done) => open.push(done)) });
      const ended: (number | null)[] = [];
      const steps = program.waiting[State.recv] as StateSteps;
      expect(runWaitingState(program, State.recv, steps, t.ctx, (code) => ended.push(code))).toBeNull();
      open[0]?.(true);
      expect([ended.length, t.req.http.get('out')]).toEqual([1, 'readw!']);
    }
  });

  it('is loaded in steps, between which others have their turn', () => {
    const { program } = compile({ name: 'test.vcl', text: large });
    if (program === undefined) throw new Error('refused');
    const steps = [...loadSteps('test', program, new Map([['d', fakeDirector('d')]]), findExtension)];
    expect(steps).toHaveLength(program.pieces.length - 1);
  });
});
