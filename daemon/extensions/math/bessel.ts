// Bessel's functions of whole orders (Abramowitz and Stegun, chapter 9): J by recurrence from an order where it is
// nothing, Y by Neumann's series, and both by Hankel's expansion where x is large.

import { signOf } from './exact-number.ts';

const EULER = 0.577_215_664_901_532_9;
const TWO_OVER_PI = 2 / Math.PI;
/** From here on Hankel's expansion of the orders 0 and 1 has all digits. */
const HANKEL_FROM = 25;
/** Below this the first term of each series has all digits. */
const TINY = 1e-8;
/** Above this a recurrence is divided by itself, since only ratios count. */
const LARGE = 1e200;

/** Largest order that is calculated: the work grows with it. */
export const MOST_ORDER = 10_000;

/** J and Y of an order that is small against x, A&S 9.2.5 and 9.2.6. */
function hankel(order: number, x: number): { j: number; y: number } {
  if (!Number.isFinite(x)) return { j: 0, y: 0 };
  const mu = 4 * order * order;
  let term = 1;
  let p = 1;
  let q = 0;
  for (let k = 1; k < 60; k++) {
    const factor = (mu - (2 * k - 1) ** 2) / (k * 8 * x);
    if (Math.abs(factor) >= 1 || Math.abs(term) < 1e-18) break;
    term *= factor;
    // The signs go + + - - from P to Q and back.
    const signed = k % 4 < 2 ? term : -term;
    if (k % 2 === 1) q += signed;
    else p += signed;
  }
  // cos and sin of x - order pi/2 - pi/4, without the digits that a difference of angles loses.
  const cos = Math.cos(x);
  const sin = Math.sin(x);
  const [c, s] = order === 0 ? [cos + sin, sin - cos] : [sin - cos, -(cos + sin)];
  const scale = Math.sqrt(1 / Math.PI) / Math.sqrt(x);
  return { j: scale * (p * c - q * s), y: scale * (p * s + q * c) };
}

/** J of all orders from 0 to at least `order`, for x above 0; A&S 9.1.27 downwards, and 9.1.46 for its scale. */
function jOrders(order: number, x: number): Float64Array {
  const high = Math.max(order, Math.ceil(x));
  const start = 2 * Math.ceil((high + 20 + Math.ceil(Math.sqrt(80 * high))) / 2);
  const values = new Float64Array(start + 2);
  values[start] = 1e-300;
  let sum = 0;
  for (let n = start; n > 0; n--) {
    const here = values[n] as number;
    const below = ((2 * n) / x) * here - (values[n + 1] as number);
    values[n - 1] = below;
    if (n % 2 === 1 && n > 1) sum += 2 * below;
    if (Math.abs(below) > LARGE) {
      sum /= LARGE;
      for (let m = n - 1; m < values.length && values[m] !== 0; m++)
        values[m] = (values[m] as number) / LARGE;
    }
  }
  sum += values[0] as number;
  return values.map((v) => v / sum);
}

/** (x / 2) ** order / order!, the first term of J; x is tiny. */
function firstTerm(order: number, x: number): number {
  let value = 1;
  for (let n = 1; n <= order && value !== 0; n++) value *= x / 2 / n;
  return value;
}

/** Y of the orders 0 and 1, for x up to HANKEL_FROM. */
function yLow(x: number): { y0: number; y1: number } {
  const log = Math.log(x) - Math.LN2 + EULER;
  if (x < TINY) return { y0: TWO_OVER_PI * log, y1: -TWO_OVER_PI / x };
  const j = jOrders(1, x);
  const at = (n: number): number => j[n] ?? 0;
  let even = 0;
  let odd = 0;
  for (let k = 1; 2 * k + 1 < j.length; k++) {
    const sign = k % 2 === 0 ? 1 : -1;
    even += (sign * at(2 * k)) / k;
    odd += (sign * (2 * k + 1) * at(2 * k + 1)) / (k * (k + 1));
  }
  // A&S 9.1.88 and 9.1.89.
  const y0 = TWO_OVER_PI * (log * at(0) - 2 * even);
  const y1 = TWO_OVER_PI * (-at(0) / x + (log - 1) * at(1) - odd);
  return { y0, y1 };
}

/** J of order 0 or 1 for x that is not negative. */
function jLow(order: 0 | 1, x: number): number {
  if (x < TINY) return firstTerm(order, x);
  return x >= HANKEL_FROM ? hankel(order, x).j : (jOrders(1, x)[order] as number);
}

/** J of an order above 1 for x above 0. */
function jHigh(order: number, x: number): number {
  if (!Number.isFinite(x)) return 0;
  if (x < TINY) return firstTerm(order, x);
  // Smaller than every double: (ex / 2n) ** n bounds it, A&S 9.1.62.
  if (order * Math.log((Math.E * x) / (2 * order)) < -760) return 0;
  if (x < HANKEL_FROM || order > x) return jOrders(order, x)[order] as number;
  let before = jLow(0, x);
  let value = jLow(1, x);
  for (let n = 1; n < order; n++) [before, value] = [value, ((2 * n) / x) * value - before];
  return value;
}

/** Whether the sign changes: for negative orders and for negative x, odd orders do. */
const flips = (order: number): boolean => order % 2 !== 0;

/** @param order from -MOST_ORDER to MOST_ORDER */
export function besselJ(order: number, x: number): number {
  if (Number.isNaN(x)) return x;
  const n = Math.abs(order);
  const size = Math.abs(x);
  const value = n < 2 ? jLow(n === 0 ? 0 : 1, size) : jHigh(n, size);
  return flips(n) && order < 0 !== signOf(x) ? -value : value;
}

/** @param order from -MOST_ORDER to MOST_ORDER */
export function besselY(order: number, x: number): number {
  if (Number.isNaN(x) || x < 0) return Number.NaN;
  const n = Math.abs(order);
  const value = x === 0 ? Number.NEGATIVE_INFINITY : yOrder(n, x);
  return flips(n) && order < 0 ? -value : value;
}

function yOrder(order: number, x: number): number {
  if (!Number.isFinite(x)) return 0;
  const { y0, y1 } = x >= HANKEL_FROM ? { y0: hankel(0, x).y, y1: hankel(1, x).y } : yLow(x);
  if (order === 0) return y0;
  let before = y0;
  let value = y1;
  for (let n = 1; n < order && Number.isFinite(value); n++)
    [before, value] = [value, ((2 * n) / x) * value - before];
  return value;
}
