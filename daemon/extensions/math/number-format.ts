// strfromd(3): a number as text by a format of one conversion (ISO C 7.22.1.3), every digit exact.

import { divideToEven, type Exact, exactly, signOf } from './exact-number.ts';

const FORMAT = /^%(?:\.(\d{0,4}))?([aAeEfFgG])$/;
/** Most digits after the point (chosen): a double has at most 1074 that are not zero. */
const MOST_DIGITS = 1100;
const USUAL_DIGITS = 6;

/** Null for a format that is none, or that asks for too many digits. */
export function formatNumber(format: string, x: number): string | null {
  const m = FORMAT.exec(format);
  if (m === null) return null;
  const digits = m[1] === undefined ? null : Number(m[1]);
  if (digits !== null && digits > MOST_DIGITS) return null;
  const conversion = m[2] as string;
  const text = (signOf(x) ? '-' : '') + unsigned(conversion.toLowerCase(), digits, Math.abs(x));
  return conversion < 'a' ? text.toUpperCase() : text;
}

function unsigned(conversion: string, digits: number | null, x: number): string {
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return 'inf';
  switch (conversion) {
    case 'a':
      return hexadecimal(x, digits);
    case 'e':
      return withExponent(x, digits ?? USUAL_DIGITS);
    case 'f':
      return fixed(x, digits ?? USUAL_DIGITS);
    default:
      return general(x, Math.max(digits ?? USUAL_DIGITS, 1));
  }
}

/** x * 10 ** power as a whole number, a tie going to the even one. */
function tenfold(x: Exact, power: number): bigint {
  const up = x.mantissa * 10n ** BigInt(Math.max(power, 0)) * 2n ** BigInt(Math.max(x.exponent, 0));
  const down = 10n ** BigInt(Math.max(-power, 0)) * 2n ** BigInt(Math.max(-x.exponent, 0));
  return divideToEven(up, down);
}

function fixed(x: number, digits: number): string {
  const all = String(tenfold(exactly(x), digits)).padStart(digits + 1, '0');
  const point = all.length - digits;
  return digits === 0 ? all : `${all.slice(0, point)}.${all.slice(point)}`;
}

interface Decimal {
  /** One digit before the point and the others behind it. */
  readonly digits: string;
  readonly exponent: number;
}

function decimal(x: number, behind: number): Decimal {
  if (x === 0) return { digits: '0'.repeat(behind + 1), exponent: 0 };
  // Exponents of the runtime's own texts are right before they are rounded to fewer digits.
  const exponent = Number(x.toExponential().split('e')[1]);
  const digits = String(tenfold(exactly(x), behind - exponent));
  // Rounding made a digit more of it, as in 9.99.
  return digits.length > behind + 1
    ? { digits: digits.slice(0, behind + 1), exponent: exponent + 1 }
    : { digits, exponent };
}

function shownDecimal({ digits, exponent }: Decimal): string {
  const point = digits.length > 1 ? '.' : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits[0]}${point}${digits.slice(1)}e${exponent < 0 ? '-' : '+'}${size}`;
}

function withExponent(x: number, digits: number): string {
  return shownDecimal(decimal(x, digits));
}

function general(x: number, significant: number): string {
  const found = decimal(x, significant - 1);
  if (found.exponent >= -4 && found.exponent < significant) {
    const text = fixed(x, significant - 1 - found.exponent);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  }
  const digits = found.digits[0] + found.digits.slice(1).replace(/0+$/, '');
  return shownDecimal({ digits, exponent: found.exponent });
}

/** 0x1.8p+1: a hexadecimal mantissa and an exponent of two. */
function hexadecimal(x: number, digits: number | null): string {
  const { mantissa, exponent } = exactly(x);
  if (mantissa === 0n) return `0x0${digits ? `.${'0'.repeat(digits)}` : ''}p+0`;
  const kept = digits === null ? 13 : Math.min(digits, 13);
  const rounded = divideToEven(mantissa, 1n << BigInt(4 * (13 - kept)));
  const all = rounded.toString(16).padStart(kept + 1, '0');
  const whole = all.slice(0, all.length - kept);
  const behind = all.slice(all.length - kept);
  const shown = digits === null ? behind.replace(/0+$/, '') : behind.padEnd(digits, '0');
  const power = exponent + 52;
  return `0x${whole}${shown === '' ? '' : `.${shown}`}p${power < 0 ? '' : '+'}${power}`;
}
