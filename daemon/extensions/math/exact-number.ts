// Doubles as exact numbers, a whole number times a power of two, for the functions of math.h that round only once.

/** value = mantissa * 2 ** exponent */
export interface Exact {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const FRACTION_BITS = 52;
const HIDDEN = 1n << BigInt(FRACTION_BITS);
/** Of the last bit of the smallest numbers. */
const LEAST_EXPONENT = -1074;

const bits = new BigInt64Array(1);
const double = new Float64Array(bits.buffer);

/** The 64 bits of a double, as a signed number. */
function bitsOf(x: number): bigint {
  double[0] = x;
  return bits[0] as bigint;
}

function fromBits(word: bigint): number {
  bits[0] = word;
  return double[0] as number;
}

/** @param x finite */
export function exactly(x: number): Exact {
  const word = bitsOf(Math.abs(x));
  const field = Number(word >> BigInt(FRACTION_BITS));
  const fraction = word & (HIDDEN - 1n);
  const size = field === 0 ? fraction : fraction | HIDDEN;
  return { mantissa: x < 0 ? -size : size, exponent: Math.max(field, 1) - 1 + LEAST_EXPONENT };
}

/** The quotient, a tie going to the even one. */
export function divideToEven(dividend: bigint, divisor: bigint): bigint {
  const negative = dividend < 0n;
  const size = negative ? -dividend : dividend;
  const quotient = size / divisor;
  const twice = 2n * (size % divisor);
  const up = twice > divisor || (twice === divisor && (quotient & 1n) === 1n);
  const rounded = up ? quotient + 1n : quotient;
  return negative ? -rounded : rounded;
}

/** The nearest double, a tie going to the even one. */
function nearest({ mantissa, exponent }: Exact): number {
  if (mantissa === 0n) return 0;
  const negative = mantissa < 0n;
  const size = negative ? -mantissa : mantissa;
  const surplus = Math.max(size.toString(2).length - FRACTION_BITS - 1, LEAST_EXPONENT - exponent);
  const rounded = surplus > 0 ? divideToEven(size, 1n << BigInt(surplus)) : size;
  const result = scaled(Number(rounded), exponent + Math.max(surplus, 0));
  return negative ? -result : result;
}

/** Without an error: the product is a double, or infinite. */
function scaled(whole: number, exponent: number): number {
  if (exponent > 1100) return Number.POSITIVE_INFINITY;
  // A power of two that is a double takes two steps at most.
  const half = Math.trunc(exponent / 2);
  return exponent >= -1022 && exponent <= 1023
    ? whole * 2 ** exponent
    : whole * 2 ** half * 2 ** (exponent - half);
}

/** Both at the same exponent. */
function aligned(a: Exact, b: Exact): { a: bigint; b: bigint; exponent: number } {
  const exponent = Math.min(a.exponent, b.exponent);
  return {
    a: a.mantissa << BigInt(a.exponent - exponent),
    b: b.mantissa << BigInt(b.exponent - exponent),
    exponent,
  };
}

/** x * y + z, rounded once. */
export function fma(x: number, y: number, z: number): number {
  if (!Number.isFinite(x) || !Number.isFinite(y) || x === 0 || y === 0) return x * y + z;
  if (!Number.isFinite(z)) return z;
  const p = exactly(x);
  const q = exactly(y);
  const sum = aligned({ mantissa: p.mantissa * q.mantissa, exponent: p.exponent + q.exponent }, exactly(z));
  const total = sum.a + sum.b;
  return total === 0n ? 0 : nearest({ mantissa: total, exponent: sum.exponent });
}

/** x less the multiple of y that is nearest to it, a tie going to the even one: IEEE 754's remainder. */
export function remainder(x: number, y: number): number {
  if (!Number.isFinite(x) || Number.isNaN(y) || y === 0) return Number.NaN;
  if (!Number.isFinite(y)) return x;
  const { a, b, exponent } = aligned(exactly(x), exactly(y));
  const divisor = b < 0n ? -b : b;
  const left = a - divideToEven(a, divisor) * divisor;
  // A remainder of nothing has the sign of x.
  return left === 0n ? (signOf(x) ? -0 : 0) : nearest({ mantissa: left, exponent });
}

/** x * 2 ** e, rounded once. */
export function timesPowerOfTwo(x: number, e: number): number {
  if (!Number.isFinite(x) || x === 0) return x;
  // Beyond these the result is infinite or nothing, whatever x is.
  const by = Math.max(-2200, Math.min(2200, Math.trunc(e)));
  const { mantissa, exponent } = exactly(x);
  const result = nearest({ mantissa, exponent: exponent + by });
  return result === 0 && x < 0 ? -0 : result;
}

/** Whether the sign bit is set. */
export function signOf(x: number): boolean {
  return bitsOf(x) < 0n;
}

/** The exponent of a finite number other than 0, whose mantissa is from 1 up to 2. */
export function exponentOf(x: number): number {
  const { mantissa, exponent } = exactly(Math.abs(x));
  return mantissa.toString(2).length - 1 + exponent;
}

/** The double after x on the way to y. */
export function nextAfter(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === y) return y;
  if (x === 0) return y > 0 ? Number.MIN_VALUE : -Number.MIN_VALUE;
  // The words of doubles of one sign are in the order of their sizes.
  const away = x > 0 === y > x;
  return fromBits(bitsOf(x) + (away ? 1n : -1n));
}

/** The nearest whole number, a tie going to the even one. */
export function roundToEven(x: number): number {
  if (!Number.isFinite(x) || Math.abs(x) >= 2 ** FRACTION_BITS) return x;
  const down = Math.floor(x);
  const over = x - down;
  const result = over < 0.5 || (over === 0.5 && down % 2 === 0) ? down : down + 1;
  return result === 0 && signOf(x) ? -0 : result;
}
