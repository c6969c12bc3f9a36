// The extension math: the functions and constants of math.h. Follows vmod_math(3) of 9.0.
//
// A REAL may be infinite or no number (NaN): only where it becomes a text, or is stored somewhere, does that fail.

import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';
import { besselJ, besselY, MOST_ORDER } from './bessel.ts';
import {
  exponentOf,
  fma,
  nextAfter,
  remainder,
  roundToEven,
  signOf,
  timesPowerOfTwo,
} from './exact-number.ts';
import { erf, erfc, lgamma, tgamma } from './gamma.ts';
import { formatNumber } from './number-format.ts';

/** Of float.h and math.h. */
const CONSTANTS: Readonly<Record<string, number>> = {
  DBL_MANT_DIG: 53,
  DBL_DIG: 15,
  DBL_MIN_EXP: -1021,
  DBL_MIN_10_EXP: -307,
  DBL_MAX_EXP: 1024,
  DBL_MAX_10_EXP: 308,
  DBL_MAX: Number.MAX_VALUE,
  DBL_EPSILON: Number.EPSILON,
  DBL_MIN: 2 ** -1022,
  HUGE_VAL: Number.POSITIVE_INFINITY,
  M_E: Math.E,
  M_LOG2E: Math.LOG2E,
  M_LOG10E: Math.LOG10E,
  M_LN2: Math.LN2,
  M_LN10: Math.LN10,
  M_PI: Math.PI,
  M_PI_2: Math.PI / 2,
  M_PI_4: Math.PI / 4,
  M_1_PI: 1 / Math.PI,
  M_2_PI: 2 / Math.PI,
  M_2_SQRTPI: 2 / Math.sqrt(Math.PI),
  M_SQRT2: Math.SQRT2,
  M_SQRT1_2: Math.SQRT1_2,
};

/** The values of the C library of Linux. */
const CLASSES = { FP_INFINITE: 1, FP_NAN: 0, FP_NORMAL: 4, FP_SUBNORMAL: 3, FP_ZERO: 2 } as const;

/** Results of ilogb() where there is no exponent, as in the C library of Linux. */
const ILOGB_NONE = -(2 ** 31);
const ILOGB_INFINITE = 2 ** 31 - 1;
const LARGEST_WHOLE = Number.MAX_SAFE_INTEGER;

function classOf(x: number): number {
  if (Number.isNaN(x)) return CLASSES.FP_NAN;
  if (!Number.isFinite(x)) return CLASSES.FP_INFINITE;
  if (x === 0) return CLASSES.FP_ZERO;
  return Math.abs(x) < (CONSTANTS.DBL_MIN as number) ? CLASSES.FP_SUBNORMAL : CLASSES.FP_NORMAL;
}

function approx(_ctx: VclContext, a: number, b: number, most: number, mostOfSize: number): boolean {
  if (a === b) return true;
  const apart = Math.abs(a - b);
  if (!(apart < Number.POSITIVE_INFINITY)) return false;
  const limit = most === 0 ? 4 * Number.EPSILON : most;
  const share = mostOfSize === 0 ? Number.EPSILON : mostOfSize;
  return apart <= limit || apart <= Math.max(Math.abs(a), Math.abs(b)) * share;
}

function strfromd(ctx: VclContext, format: string | null, x: number): string | null {
  const text = formatNumber(format ?? '', x);
  if (text === null) softFail(ctx, `math.strfromd(): invalid format "${format ?? ''}"`);
  return text;
}

/** An INT; a failure where it cannot hold the value. */
function whole(ctx: VclContext, name: string, x: number): number {
  if (Math.abs(x) <= LARGEST_WHOLE) return x + 0;
  softFail(ctx, `math.${name}(): out of range`);
  return 0;
}

function ilogb(x: number): number {
  if (x === 0 || Number.isNaN(x)) return ILOGB_NONE;
  return Number.isFinite(x) ? exponentOf(x) : ILOGB_INFINITE;
}

function logb(x: number): number {
  if (x === 0) return Number.NEGATIVE_INFINITY;
  return Number.isFinite(x) ? exponentOf(x) : Math.abs(x);
}

/** Half goes away from zero. */
function roundAway(x: number): number {
  const size = Math.abs(x);
  const down = Math.floor(size);
  return copysign(size - down >= 0.5 ? down + 1 : down, x);
}

function copysign(x: number, y: number): number {
  const size = Math.abs(x);
  return signOf(y) ? -size : size;
}

/** The other one where one is no number. */
function either(x: number, y: number, choose: (x: number, y: number) => number): number {
  if (Number.isNaN(x)) return y;
  return Number.isNaN(y) ? x : choose(x, y);
}

function fdim(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  return x > y ? x - y : 0;
}

/** As in C, which knows powers of 1 and of -1 that the runtime has no number for. */
function pow(x: number, y: number): number {
  if (x === 1 || (x === -1 && Math.abs(y) === Number.POSITIVE_INFINITY)) return 1;
  return x ** y;
}

type Order = (order: number, x: number) => number;

function ofOrder(name: string, bessel: Order): (ctx: VclContext, order: number, x: number) => number {
  return (ctx, order, x) => {
    if (Math.abs(order) <= MOST_ORDER) return bessel(order, x);
    softFail(ctx, `math.${name}(): the order is beyond ${MOST_ORDER}`);
    return 0;
  };
}

const one = (name: string, f: (x: number) => number, help: string): ExtensionFunction =>
  row(`REAL ${name}(REAL x)`, (_ctx, x: number) => f(x), help);

const two = (name: string, f: (x: number, y: number) => number, help: string): ExtensionFunction =>
  row(`REAL ${name}(REAL x, REAL y)`, (_ctx, x: number, y: number) => f(x, y), help);

/** In C these are INT: 1 for true. */
const is = (name: string, test: (x: number) => boolean, help: string): ExtensionFunction =>
  row(`INT ${name}(REAL x)`, (_ctx, x: number) => Number(test(x)), `Returns 1 ${help}, else 0.`);

const compared = (name: string, test: (x: number, y: number) => boolean, help: string): ExtensionFunction =>
  row(
    `INT ${name}(REAL x, REAL y)`,
    (_ctx, x: number, y: number) => Number(test(x, y)),
    `Returns 1 ${help}, else 0.`,
  );

const scaling = (signature: string): ExtensionFunction =>
  row(
    signature,
    (_ctx, x: number, e: number) => timesPowerOfTwo(x, e),
    'Returns x times 2 to the power of the other.',
  );

const wholeBy = (name: string, f: (x: number) => number, help: string): ExtensionFunction =>
  row(
    `INT ${name}(REAL x)`,
    (ctx, x: number) => whole(ctx, name, f(x)),
    `${help} Fails where an INT cannot hold it.`,
  );

const enumOf = (names: object): string => `ENUM {${Object.keys(names).join(', ')}} name`;

export const math: Extension = {
  name: 'math',
  help: 'the functions and constants of math.h',
  notes: {
    results:
      'Angles are in radians. A REAL may be infinite or no number (NaN), for example the logarithm of 0 or of -1; isfinite() tells. Such a value becomes no text: where a program writes it into a header, the transaction fails. strfromd() writes it.',
  },
  // biome-ignore format: a row is a line
  functions: byName(
    row('BOOL approx(REAL a, REAL b, REAL maxDiff=0.0, REAL maxRelDiff=0.0)', approx,
      'Whether the two are about the same: not further apart than maxDiff, or than maxRelDiff times the larger one. 0 stands for 4 * DBL_EPSILON and for DBL_EPSILON.'),
    row('STRING strfromd(STRING format, REAL fp)', strfromd,
      'Writes fp as a text by a format such as "%.3f": %, perhaps a point and how many digits (1100 at most), and one of a A e E f F g G, as for strfromd(3). Another format fails the transaction.'),
    row(`REAL constant(${enumOf(CONSTANTS)})`, (_ctx, name: string) => CONSTANTS[name], 'The constant of float.h (DBL_*) or math.h.'),
    row(`INT fpclass(${enumOf(CLASSES)})`, (_ctx, name: keyof typeof CLASSES) => CLASSES[name], 'The number that fpclassify() returns for this kind.'),
    row('INT fpclassify(REAL x)', (_ctx, x: number) => classOf(x), 'The number of the kind of x, to be compared with fpclass().'),
    is('isfinite', Number.isFinite, 'for what is neither infinite nor NaN'),
    compared('isgreater', (x, y) => x > y, 'where x is greater'),
    compared('isgreaterequal', (x, y) => x >= y, 'where x is greater or equal'),
    row('INT isinf(REAL x)', (_ctx, x: number) => (Math.abs(x) === Number.POSITIVE_INFINITY ? Math.sign(x) : 0), 'Returns 1 for infinity, -1 for the negative one, else 0.'),
    compared('isless', (x, y) => x < y, 'where x is less'),
    compared('islessequal', (x, y) => x <= y, 'where x is less or equal'),
    compared('islessgreater', (x, y) => x < y || x > y, 'where x is less or greater'),
    is('isnan', Number.isNaN, 'for NaN'),
    is('isnormal', (x) => classOf(x) === CLASSES.FP_NORMAL, 'for a number that is finite, not 0, and has all its digits'),
    compared('isunordered', (x, y) => Number.isNaN(x) || Number.isNaN(y), 'where one is NaN'),
    is('signbit', signOf, 'where the sign is minus, also that of -0'),
    one('acos', Math.acos, 'Arc cosine.'),
    one('acosh', Math.acosh, 'Area hyperbolic cosine.'),
    one('asin', Math.asin, 'Arc sine.'),
    one('asinh', Math.asinh, 'Area hyperbolic sine.'),
    one('atan', Math.atan, 'Arc tangent.'),
    row('REAL atan2(REAL y, REAL x)', (_ctx, y: number, x: number) => Math.atan2(y, x), 'Angle of the point (x, y).'),
    one('atanh', Math.atanh, 'Area hyperbolic tangent.'),
    one('cbrt', Math.cbrt, 'Cube root.'),
    one('ceil', Math.ceil, 'The smallest whole number that is not less.'),
    two('copysign', copysign, 'Returns x with the sign of y.'),
    one('cos', Math.cos, 'Cosine.'),
    one('cosh', Math.cosh, 'Hyperbolic cosine.'),
    one('erf', erf, 'The error function.'),
    one('erfc', erfc, 'Returns 1 less the error function.'),
    one('exp', Math.exp, 'Returns e to the power of x.'),
    one('exp2', (x) => 2 ** x, 'Returns 2 to the power of x.'),
    one('expm1', Math.expm1, 'Returns e to the power of x, less 1.'),
    one('fabs', Math.abs, 'The number without its sign.'),
    two('fdim', fdim, 'Returns x less y, or 0 where that is negative.'),
    one('floor', Math.floor, 'The largest whole number that is not greater.'),
    row('REAL fma(REAL x, REAL y, REAL z)', (_ctx, x: number, y: number, z: number) => fma(x, y, z), 'Returns x times y plus z, rounded once.'),
    two('fmax', (x, y) => either(x, y, Math.max), 'The greater one.'),
    two('fmin', (x, y) => either(x, y, Math.min), 'The lesser one.'),
    two('fmod', (x, y) => x % y, 'The rest of x divided by y, with the sign of x.'),
    two('hypot', Math.hypot, 'The square root of the sum of the squares.'),
    row('INT ilogb(REAL x)', (_ctx, x: number) => ilogb(x), 'The exponent of two of the number. -2147483648 for 0 and NaN, 2147483647 for what is infinite.'),
    one('j0', (x) => besselJ(0, x), 'Bessel’s function of the first kind and order 0.'),
    one('j1', (x) => besselJ(1, x), 'Bessel’s function of the first kind and order 1.'),
    row('REAL jn(INT x, REAL y)', ofOrder('jn', besselJ), 'Bessel’s function of the first kind: its order, and its argument. An order beyond 10000 fails the transaction.'),
    scaling('REAL ldexp(REAL x, INT e)'),
    one('lgamma', lgamma, 'The natural logarithm of the size of the gamma function.'),
    one('log', Math.log, 'The natural logarithm.'),
    one('log10', Math.log10, 'The logarithm to base 10.'),
    one('log1p', Math.log1p, 'The natural logarithm of x + 1.'),
    one('log2', Math.log2, 'The logarithm to base 2.'),
    one('logb', logb, 'The exponent of two of the number.'),
    wholeBy('lrint', roundToEven, 'The nearest whole number; half goes to the even one.'),
    wholeBy('lround', roundAway, 'The nearest whole number; half goes away from zero.'),
    row('REAL nan(STRING tag)', () => Number.NaN, 'NaN. The tag is ignored.'),
    one('nearbyint', roundToEven, 'The nearest whole number; half goes to the even one.'),
    two('nextafter', nextAfter, 'The number next to x on the way to y.'),
    two('pow', pow, 'Returns x to the power of y.'),
    two('remainder', remainder, 'What is left of x less the multiple of y that is nearest; half goes to the even one.'),
    one('rint', roundToEven, 'The nearest whole number; half goes to the even one.'),
    one('round', roundAway, 'The nearest whole number; half goes away from zero.'),
    scaling('REAL scalbln(REAL x, INT e)'),
    scaling('REAL scalbn(REAL x, INT y)'),
    one('sin', Math.sin, 'Sine.'),
    one('sinh', Math.sinh, 'Hyperbolic sine.'),
    one('sqrt', Math.sqrt, 'Square root.'),
    one('tan', Math.tan, 'Tangent.'),
    one('tanh', Math.tanh, 'Hyperbolic tangent.'),
    one('tgamma', tgamma, 'The gamma function.'),
    one('trunc', Math.trunc, 'The number without what is behind the point.'),
    one('y0', (x) => besselY(0, x), 'Bessel’s function of the second kind and order 0.'),
    one('y1', (x) => besselY(1, x), 'Bessel’s function of the second kind and order 1.'),
    row('REAL yn(INT n, REAL x)', ofOrder('yn', besselY), 'Bessel’s function of the second kind and order n. An order beyond 10000 fails the transaction.'),
  ),
};
