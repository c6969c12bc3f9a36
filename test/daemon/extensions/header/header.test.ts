// Fields that occur more than once, and names and lines made at run time.

import { describe, expect, it } from 'vitest';
import { HttpMessage } from '../../../../daemon/http1/message.ts';
import { task } from '../../vcl/fake-task.ts';

const run = (body: string) => {
  const t = task(`vcl 4.1; import header; backend d none; sub vcl_recv { ${body} return (synth(200)); }`, {
    'X-A': '1',
  });
  t.req.http.push('x-a', 'X-A: 2');
  t.log.lines.length = 0;
  const code = t.run('recv');
  const { http } = t.req;
  return { code, lines: http.lines.slice(1, http.n), log: t.log, get: (name: string) => http.get(name) };
};

describe('header', () => {
  it('appends and copies, and logs it', () => {
    const t = run('header.append(req.http.X-A, "3"); header.copy(req.http.X-A, req.http.X-B);');
    expect(t.lines).toEqual(['X-A: 1', 'X-A: 2', 'X-A: 3', 'X-B: 1', 'X-B: 2', 'X-B: 3']);
    expect(t.log.of('ReqHeader')).toEqual(['X-A: 3', 'X-B: 1', 'X-B: 2', 'X-B: 3']);
  });

  it('gets and removes by value', () => {
    expect(run('set req.http.r = header.get(req.http.X-A, "2");').get('r')).toBe('2');
    const t = run('header.remove(req.http.X-A, "1");');
    expect(t.lines).toEqual(['X-A: 2']);
    expect(t.log.of('ReqUnset')).toEqual([]);
  });

  it('substitutes in whole lines, and finds them by their new names', () => {
    const t = run('header.regsub(req, "^X-A: (.)", "Y-\\1: \\1\\1"); set req.http.r = req.http.Y-2;');
    expect(t.lines).toEqual(['Y-1: 11', 'Y-2: 22', 'r: 22']);
    expect(t.log.of('ReqUnset')).toEqual(['X-A: 1', 'X-A: 2']);
    expect(t.log.of('ReqHeader')).toEqual(['Y-1: 11', 'Y-2: 22', 'r: 22']);
    expect(run('header.regsub(req, "^X-A: 1", "");').lines).toEqual(['X-A: 2']);
  });

  it('takes names made at run time', () => {
    const t = run('header.append(header.dyn(req, "X" + 7), "v"); set req.http.r = header.dyn(req, "x7");');
    expect(t.lines.slice(2)).toEqual(['X7: v', 'r: v']);
  });

  it.each([
    ['a line end in a name', 'header.append(header.dyn(req, {"a\r\nB: c"}), "v");'],
    ['a blank in a name', 'header.append(header.dyn(req, "a b"), "v");'],
    ['no name', 'header.append(header.dyn(req, req.http.none), "v");'],
    ['a line end in a value', 'header.append(req.http.a, {"v\nB: c"});'],
    ['a line that is no field', 'header.regsub(req, "^X-A: 1", "no field");'],
    ['a line end in a line', 'header.regsub(req, "^X-A: 1", {"A: b\nC: d"});'],
    ['a copy onto itself', 'header.copy(req.http.X-A, req.http.x-a);'],
  ])('fails on %s', (_what, body) => {
    const t = run(body);
    expect(t.code).toBe('fail');
    expect(t.lines.filter((l) => /[\r\n]|^no|B:|C:/.test(l))).toEqual([]);
    expect(t.log.of('VCL_Error')).toHaveLength(1);
  });

  it('does not change a cached object', () => {
    const t = task('vcl 4.1; import header; backend d none; sub vcl_hit { header.append(obj.http.a, "x"); }');
    expect(t.run('hit')).toBe('fail');
    expect(t.req.obj?.http.n).toBe(0);
  });
});

describe('fields in place', () => {
  const message = (): HttpMessage => {
    const m = new HttpMessage(1);
    for (const n of ['a', 'b', 'c', 'd']) m.push(n, `${n}: ${n}`);
    m.lend(Buffer.from('a: a\r\nb: b\r\nc: c\r\nd: d\r\n'), 0);
    return m;
  };

  it('a replaced field is no longer the bytes it came from', () => {
    const m = message();
    m.replaceAt(2, 'x', 'X: y');
    expect(m.rawLines).toBe(2);
    expect(m.get('x')).toBe('y');
    expect(m.get('c')).toBeNull();
  });

  it('nor those after a removed one', () => {
    const m = message();
    m.removeWhere(0, (i) => m.keys[i] === 'b');
    expect(m.rawLines).toBe(1);
    expect(m.lines.slice(0, m.n)).toEqual(['a: a', 'c: c', 'd: d']);
    m.removeWhere(0, () => false);
    expect(m.n).toBe(3);
  });
});
