// The extension math: values beside those of a C library (glibc), and how programs see what is no number.
import { describe, expect, it } from 'vitest';
import { math } from '../../../../daemon/extensions/math/math.ts';
import { FakeLog, task } from '../../vcl/fake-task.ts';

const HEAD = 'vcl 4.1; import math; import std; backend d none;';
const { POSITIVE_INFINITY: INF, NaN: NAN, MAX_VALUE, MIN_VALUE } = Number;

const ctx = { log: new FakeLog(), failure: null as string | null };

function value(name: string, ...args: readonly (number | string)[]): unknown {
  ctx.failure = null;
  return math.functions[name]?.call(ctx as never, ...args);
}

function recv(code: string) {
  const t = task(`${HEAD} sub vcl_recv { ${code} return (pass); }`);
  return { code: t.run('recv'), r: t.req.http.get('r'), log: t.log };
}

describe('functions with a result that is not exact', () => {
  it.each<[string, number[], number]>([
    ['erf', [0.3], 0.3286267594591274],
    ['erf', [-1.9], -0.9927904292352575],
    ['erf', [3.7], 0.9999998328489421],
    ['erfc', [1.9], 0.0072095707647425325],
    ['erfc', [10], 2.088487583762545e-45],
    ['erfc', [-2.5], 1.999593047982555],
    ['tgamma', [0.5], 1.772453850905516],
    ['tgamma', [-2.5], -0.9453087204829419],
    ['tgamma', [171.5], 9.4833675668248e307],
    ['tgamma', [7], 720.0],
    ['lgamma', [0.01], 4.599479878042021],
    ['lgamma', [-3.3], -0.8243558050174264],
    ['lgamma', [1e6], 12815504.569147611],
    ['j0', [2.5], -0.04838377646819799],
    ['j0', [100.25], 0.038427302481501335],
    ['j1', [12.25], -0.200357198755855],
    ['jn', [5, 3.7], 0.09948541700833392],
    ['jn', [30, 1.5], 6.611427616591075e-37],
    ['jn', [-3, 2.5], -0.21660039103911355],
    ['jn', [100, 100.25], 0.10107496797843013],
    ['y0', [0.01], -3.005455637083646],
    ['y1', [24.9], -0.08600255759555424],
    ['yn', [3, 1.5], -2.073541399060686],
    ['yn', [-1, 2], 0.10703243154093756],
  ])('%s of %j is %d', (name, args, expected) => {
    const got = value(name, ...args) as number;
    expect(Math.abs(got - expected)).toBeLessThan(Math.abs(expected) * 1e-11);
  });
});

describe('functions with an exact result', () => {
  it.each<[string, number[], number]>([
    ['fma', [1 + 2 ** -30, 1 - 2 ** -30, -1], -(2 ** -60)],
    ['fma', [MAX_VALUE, 2, -MAX_VALUE], MAX_VALUE],
    ['fma', [MAX_VALUE, -2.5, INF], INF],
    ['fma', [0, INF, 1], NAN],
    ['remainder', [5, 2], 1],
    ['remainder', [7, 2], -1],
    ['remainder', [-4, 2], -0],
    ['remainder', [1e300, 3.7], 1.765761626199355],
    ['remainder', [1, 0], NAN],
    ['remainder', [-3, INF], -3],
    ['fmod', [-5.5, 2], -1.5],
    ['nextafter', [1, 2], 1 + Number.EPSILON],
    ['nextafter', [0, -1], -MIN_VALUE],
    ['nextafter', [MAX_VALUE, INF], INF],
    ['nextafter', [-1, 0], -1 + Number.EPSILON / 2],
    ['ldexp', [1.5, 3], 12],
    ['ldexp', [1, -1074], MIN_VALUE],
    ['ldexp', [-1, -1080], -0],
    ['scalbn', [MIN_VALUE, 1074], 1],
    ['scalbln', [1, 1e15], INF],
    ['ilogb', [0.3], -2],
    ['ilogb', [MIN_VALUE], -1074],
    ['ilogb', [0], -(2 ** 31)],
    ['ilogb', [-INF], 2 ** 31 - 1],
    ['logb', [0], -INF],
    ['rint', [2.5], 2],
    ['rint', [-0.5], -0],
    ['nearbyint', [3.5], 4],
    ['round', [2.5], 3],
    ['round', [-2.5], -3],
    ['round', [0.49999999999999994], 0],
    ['lround', [-2.5], -3],
    ['lrint', [2.5], 2],
    ['pow', [1, NAN], 1],
    ['pow', [-1, -INF], 1],
    ['pow', [2, 0.5], Math.SQRT2],
    ['fmax', [NAN, 1], 1],
    ['fmin', [1, NAN], 1],
    ['fdim', [1, 3], 0],
    ['copysign', [3, -0], -3],
    ['isinf', [-INF], -1],
    ['isnan', [NAN], 1],
    ['isnormal', [MIN_VALUE], 0],
    ['signbit', [-0], 1],
    ['isgreater', [1, NAN], 0],
    ['islessgreater', [1, 2], 1],
    ['isunordered', [1, NAN], 1],
    ['tgamma', [-1], NAN],
    ['tgamma', [-0], -INF],
    ['lgamma', [-2], INF],
    ['lgamma', [2], 0],
    ['j0', [0], 1],
    ['jn', [3, -0], -0],
    ['jn', [9999, 1], 0],
    ['y0', [0], -INF],
    ['y1', [-1], NAN],
    ['erf', [-0], -0],
    ['erf', [INF], 1],
    ['erfc', [INF], 0],
  ])('%s of %j', (name, args, expected) => {
    expect(value(name, ...args)).toBe(expected);
    expect(ctx.failure).toBe(null);
  });
});

describe('strfromd', () => {
  it.each<[string, number, string]>([
    ['%f', 1e22, '10000000000000000000000.000000'],
    ['%.0f', 2.5, '2'],
    ['%.f', 0.5, '0'],
    ['%.20f', 0.1, '0.10000000000000000555'],
    ['%.3f', -0, '-0.000'],
    ['%e', 123456789, '1.234568e+08'],
    ['%.0e', 2.5, '2e+00'],
    ['%.1e', 9.95, '9.9e+00'],
    ['%.2E', 999999.5, '1.00E+06'],
    ['%.30e', MIN_VALUE, '4.940656458412465441765687928682e-324'],
    ['%g', 0.0001, '0.0001'],
    ['%g', 0.00001, '1e-05'],
    ['%g', 100000, '100000'],
    ['%g', 1000000, '1e+06'],
    ['%.0g', 0.00009999995, '0.0001'],
    ['%.17g', 0.1, '0.10000000000000001'],
    ['%a', 1.5, '0x1.8p+0'],
    ['%.0a', 1.5, '0x2p+0'],
    ['%.3a', -3.7, '-0x1.d9ap+1'],
    ['%A', MIN_VALUE, '0X0.0000000000001P-1022'],
    ['%a', 0, '0x0p+0'],
    ['%f', INF, 'inf'],
    ['%F', -INF, '-INF'],
    ['%G', NAN, 'NAN'],
  ])('%s of %d is %s', (format, x, expected) => {
    expect(value('strfromd', format, x)).toBe(expected);
  });

  it.each(['', '%', '%d', '%5f', '%.2000f', '%.99999f', 'x%f', '%f%f', '%.-1f'])('refuses %j', (format) => {
    expect(value('strfromd', format, 1)).toBe(null);
    expect(ctx.failure).toBe(`math.strfromd(): invalid format "${format}"`);
  });
});

describe('math in a program', () => {
  it('compares numbers that are about the same', () => {
    const pairs: [number, number, number, number, boolean][] = [
      [0.1 + 0.2, 0.3, 0, 0, true],
      [1, 1.001, 0, 0, false],
      [1, 1.001, 0.01, 0, true],
      [1000, 1001, 0, 0.01, true],
      [INF, INF, 0, 0, true],
      [INF, -INF, 0, 0.1, false],
      [NAN, NAN, 0, 0, false],
    ];
    for (const [a, b, most, share, same] of pairs) expect(value('approx', a, b, most, share)).toBe(same);
  });

  it('has constants and kinds of numbers by name', () => {
    const code = `set req.http.r = math.strfromd("%.15g", math.constant(M_PI)) + " " + (math.fpclassify(1.0) == math.fpclass(FP_NORMAL)) +
      (math.fpclassify(math.log(-1.0)) == math.fpclass(FP_NAN)) + (math.fpclassify(math.constant(HUGE_VAL)) == math.fpclass(FP_INFINITE));`;
    expect(recv(code).r).toBe('3.14159265358979 truetruetrue');
  });

  it('fails where what is no number becomes a text', () => {
    const t = recv('set req.http.r = math.log(-1.0);');
    expect(t.code).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([expect.stringContaining('nan')]);
    expect(recv('if (math.isnan(math.log(-1.0)) == 1) { set req.http.r = "nan"; }').r).toBe('nan');
  });

  it('fails where a whole number is no INT, and where an order is too large', () => {
    for (const [name, ...args] of [
      ['lrint', 1e300],
      ['lround', NAN],
      ['jn', 10_001, 1],
      ['yn', -1e15, 1],
    ] as const) {
      expect(value(name, ...args)).toBe(0);
      expect(ctx.failure).toContain(`math.${name}(): `);
    }
  });
});
