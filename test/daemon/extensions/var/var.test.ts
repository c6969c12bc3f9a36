// Variables of a task and of a worker.

import { describe, expect, it } from 'vitest';
import { OwnState } from '../../../../daemon/contract/own-state.ts';
import { GlobalVariables } from '../../../../daemon/extensions/var/var.ts';
import { task } from '../../vcl/fake-task.ts';

const make = (body: string) =>
  task(
    `vcl 4.1; import var; backend d { .host = "127.0.0.1"; } sub vcl_recv { ${body} return (synth(200)); }`,
  );
const run = (body: string) => {
  const t = make(body);
  const code = t.run('recv');
  return { code, r: t.req.http.get('r'), errors: t.log.of('VCL_Error') };
};

describe('var', () => {
  it('gives the empty value of a type that was not set last', () => {
    const t = run(
      'var.set("a", "x"); var.set_int("a", 5); set req.http.r = "[" + var.get("a") + "]" + var.get_int("a") + var.get_real("a");',
    );
    expect(t.r).toBe('[]50.000');
  });

  it('holds every type', () => {
    const t = run(
      'var.set_ip("i", client.ip); var.set_backend("b", d); var.set_duration("d", 5s); var.set_real("r", 1.5); set req.http.r = "" + var.get_ip("i") + var.get_backend("b") + var.get_duration("d") + var.get_real("r");',
    );
    expect(t.r).toBe('192.0.2.1d5.0001.500');
  });

  it('has no address where none was set', () => {
    const t = run('set req.http.r = "" + var.get_ip("none");');
    expect(t.code).toBe('fail');
    expect(t.errors).toEqual(['VRT_IP_string: Illegal IP']);
  });

  it('takes names of an object’s own for names', () => {
    expect(run('set req.http.r = "[" + var.get("constructor") + var.get("__proto__") + "]";').r).toBe('[]');
  });

  it('shares the global ones between programs, and clear() leaves them', () => {
    expect(run('var.global_set("g", "1"); var.set("g", "2"); var.clear();').code).toBe('synth');
    expect(run('set req.http.r = var.global_get("g") + var.get("g");').r).toBe('1');
  });
});

describe('global variables', () => {
  it('have an end', () => {
    const g = new GlobalVariables(new OwnState());
    const half = 'x'.repeat(8 * 1024 * 1024 - 1);
    g.set('a', half);
    g.set('b', half);
    expect(() => g.set('c', 'x')).toThrow('out of space');
    // A value that takes another's place is not counted twice.
    g.set('a', half);
    g.set('b', null);
    g.set('c', 'x');
    expect(g.get('b')).toBeNull();
    expect(g.get('c')).toBe('x');
  });
});
