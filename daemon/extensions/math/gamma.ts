// The error function and the gamma function, by their series (Abramowitz and Stegun, chapters 6 and 7).

import { remainder } from './exact-number.ts';

const TWO_OVER_ROOT_PI = 2 / Math.sqrt(Math.PI);
/** From here on the continued fraction is as good as the series, and does not lose the digits of what is small. */
const FRACTION_FROM = 2;
const FRACTION_STEPS = 120;

/** A&S 7.1.6: all terms have one sign. */
function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17 && n < 200; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return TWO_OVER_ROOT_PI * Math.exp(-x * x) * sum;
}

/** A&S 7.1.14, from its far end; x is large and positive. */
function erfcFraction(x: number): number {
  let tail = 0;
  for (let n = FRACTION_STEPS; n > 0; n--) tail = n / 2 / (x + tail);
  return Math.exp(-x * x) / ((x + tail) * Math.sqrt(Math.PI));
}

export function erf(x: number): number {
  if (Number.isNaN(x) || x === 0) return x;
  const size = Math.abs(x);
  const value = size < FRACTION_FROM ? erfSeries(size) : 1 - erfcFraction(size);
  return x < 0 ? -value : value;
}

export function erfc(x: number): number {
  if (Number.isNaN(x)) return x;
  return x < FRACTION_FROM ? 1 - erf(x) : x > 30 ? 0 : erfcFraction(x);
}

/** Bernoulli's numbers over 2k(2k-1): the coefficients of Stirling's series, A&S 6.1.41. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360_360, 1 / 156, -3617 / 122_400];
/** From here on Stirling's series has all digits. */
const STIRLING_FROM = 13;

function stirlingSum(x: number): number {
  const square = x * x;
  return STIRLING.reduceRight((sum, coefficient) => sum / square + coefficient, 0) / x;
}

/** Of a positive number. */
function gammaOfPositive(x: number): number {
  // Beyond this the result is no double.
  if (x > 172) return Number.POSITIVE_INFINITY;
  if (Number.isInteger(x)) {
    let product = 1;
    for (let n = 2; n < x; n++) product *= n;
    return product;
  }
  let divisor = 1;
  let at = x;
  for (; at < STIRLING_FROM; at++) divisor *= at;
  // In two steps, since the power alone would be too large.
  const half = at ** (at / 2 - 0.25);
  return (Math.sqrt(2 * Math.PI) * half * Math.exp(-at) * half * Math.exp(stirlingSum(at))) / divisor;
}

/** sin(pi x), without the error that pi has. */
function sineOfPi(x: number): number {
  const turn = remainder(x, 2);
  const part = remainder(turn, 1);
  const value = Math.sin(Math.PI * part);
  return Math.abs(turn - part) === 1 ? -value : value;
}

export function tgamma(x: number): number {
  if (x === 0) return 1 / x;
  if (x > 0) return gammaOfPositive(x);
  if (Number.isNaN(x) || Number.isInteger(x) || !Number.isFinite(x)) return Number.NaN;
  const mirrored = gammaOfPositive(1 - x);
  return Number.isFinite(mirrored) ? Math.PI / (sineOfPi(x) * mirrored) : 0;
}

/** ln |gamma(x)| */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return x;
  if (!Number.isFinite(x) || (x <= 0 && Number.isInteger(x))) return Number.POSITIVE_INFINITY;
  if (x === 1 || x === 2) return 0;
  if (x < 0) return Math.log(Math.PI / Math.abs(sineOfPi(x))) - lgamma(1 - x);
  let divisor = 1;
  let at = x;
  for (; at < STIRLING_FROM; at++) divisor *= at;
  const half = Math.log(2 * Math.PI) / 2;
  return (at - 0.5) * Math.log(at) - at + half + stirlingSum(at) - Math.log(divisor);
}
