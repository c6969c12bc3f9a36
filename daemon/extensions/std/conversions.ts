// std conversions between types. One argument must be given beside the fallback; what cannot be converted is
// the fallback, or fails the task when there is none. Numbers in strings have the form of structured fields
// (RFC 9651): a sign, digits, and at most three decimals.

import { isIP } from 'node:net';
import { parseDate } from '../../http1/date.ts';
import { splitHostPort } from '../../vcl/check/addresses.ts';
import { BYTE_UNITS, DURATION_UNITS } from '../../vcl/check/types.ts';
import type { VclContext } from '../../vcl/context.ts';
import { softFail } from '../../vcl/runtime/failure.ts';
import { VclIp } from '../../vcl/runtime/ip.ts';
import type { ExtensionFunction } from '../extension.ts';

const INT = /^[ \t\r\n]*(-?\d{1,15})[ \t\r\n]*$/;
const NUMBER = /^[ \t\r\n]*(-?\d{1,15}(?:\.\d{1,3})?)[ \t\r\n]*$/;
const LARGEST = 999_999_999_999_999;

type Maybe<T> = T | null | undefined;

function given(ctx: VclContext, name: string, values: readonly unknown[]): boolean {
  const n = values.filter((v) => v !== undefined).length;
  if (n === 1) return true;
  softFail(ctx, `std.${name}: ${n === 0 ? 'no arguments' : 'more than one argument'} given`);
  return false;
}

/** The converted value, else the fallback, else a failure and the type's zero. */
function orFallback<T>(ctx: VclContext, name: string, v: T | null, fallback: Maybe<T>, zero: T, why = ''): T {
  if (v !== null) return v;
  if (fallback !== undefined && fallback !== null) return fallback;
  softFail(ctx, `std.${name}: conversion failed${why}`);
  return zero;
}

function truncated(n: number): number | null {
  const t = Math.trunc(n) + 0;
  return Number.isFinite(n) && Math.abs(t) <= LARGEST ? t : null;
}

function durationOf(s: string): number | null {
  const m = /^[ \t\r\n]*(-?\d+(?:\.\d*)?)[ \t\r\n]*(ms|[smhdwy])[ \t\r\n]*$/.exec(s);
  if (m === null) return null;
  return Number(m[1]) * (DURATION_UNITS[m[2] as string] as number);
}

function bytesOf(s: string): number | null {
  const m = /^[ \t]*(\d+(?:\.\d*)?)[ \t]*([kmgtp]?)b?[ \t]*$/i.exec(s);
  if (m === null) return null;
  const exponent = 'kmgtp'.indexOf((m[2] as string).toLowerCase()) + 1;
  return Math.floor(Number(m[1]) * (BYTE_UNITS.KB as number) ** (m[2] === '' ? 0 : exponent));
}

function timeOf(s: string): number | null {
  const number = NUMBER.exec(s);
  if (number !== null) return Number(number[1]) < 0 ? null : Number(number[1]);
  const iso = /^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z?\s*$/.exec(s);
  if (iso !== null) {
    const t = Date.parse(`${iso[1]}Z`);
    return Number.isNaN(t) ? null : t / 1000;
  }
  return parseDate(s.trim());
}

function ipOf(s: string, defaultPort: string): VclIp | null {
  const { host, port } = splitHostPort(s.trim());
  const text = port ?? defaultPort;
  const number = text === 'http' ? 80 : text === 'https' ? 443 : Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65535) return null;
  if (isIP(host) > 0) return new VclIp(host, number);
  // Names are looked up when a program is loaded, never while a request waits.
  return host.toLowerCase() === 'localhost' ? new VclIp('127.0.0.1', number) : null;
}

/** Half away from zero, as round(3). */
function round(n: number): number {
  return n < 0 ? -Math.round(-n) : Math.round(n);
}

export const conversionFunctions: Record<string, ExtensionFunction> = {
  random: {
    signature: 'REAL random(REAL lo, REAL hi)',
    call: (_c, lo: number, hi: number) => lo + Math.random() * (hi - lo),
  },
  round: { signature: 'REAL round(REAL r)', call: (_c, r: number) => round(r) },
  duration: {
    signature: 'DURATION duration([STRING s], [DURATION fallback], [REAL real], [INT integer])',
    call: (c, s: Maybe<string>, fallback: Maybe<number>, real?: number, integer?: number) => {
      if (!given(c, 'duration', [s, real, integer])) return 0;
      const v = real ?? integer ?? (s == null ? null : durationOf(s));
      return orFallback(c, 'duration', v, fallback, 0);
    },
  },
  bytes: {
    signature: 'BYTES bytes([STRING s], [BYTES fallback], [REAL real], [INT integer])',
    call: (c, s: Maybe<string>, fallback: Maybe<number>, real?: number, integer?: number) => {
      if (!given(c, 'bytes', [s, real, integer])) return 0;
      const n = real ?? integer;
      const v = n !== undefined ? (n < 0 ? null : truncated(n)) : s == null ? null : bytesOf(s);
      return orFallback(c, 'bytes', v, fallback, 0);
    },
  },
  integer: {
    signature:
      'INT integer([STRING s], [INT fallback], [BOOL bool], [BYTES bytes], [DURATION duration], [REAL real], [TIME time])',
    call: (
      c,
      s: Maybe<string>,
      fallback: Maybe<number>,
      bool?: boolean,
      bytes?: number,
      duration?: number,
      real?: number,
      time?: number,
    ) => {
      if (!given(c, 'integer', [s, bool, bytes, duration, real, time])) return 0;
      const n = bool === undefined ? (bytes ?? duration ?? real ?? time) : bool ? 1 : 0;
      if (n !== undefined) return orFallback(c, 'integer', truncated(n), fallback, 0, ': Integer overflow');
      const m = s == null ? null : INT.exec(s);
      return orFallback(c, 'integer', m === null ? null : Number(m[1]) + 0, fallback, 0, ': Invalid number');
    },
  },
  real: {
    signature:
      'REAL real([STRING s], [REAL fallback], [INT integer], [BOOL bool], [BYTES bytes], [DURATION duration], [TIME time])',
    call: (
      c,
      s: Maybe<string>,
      fallback: Maybe<number>,
      integer?: number,
      bool?: boolean,
      bytes?: number,
      duration?: number,
      time?: number,
    ) => {
      if (!given(c, 'real', [s, integer, bool, bytes, duration, time])) return 0;
      const n = bool === undefined ? (integer ?? bytes ?? duration ?? time) : bool ? 1 : 0;
      if (n !== undefined) return n;
      const m = s == null ? null : NUMBER.exec(s);
      return orFallback(c, 'real', m === null ? null : Number(m[1]), fallback, 0, ': Invalid number');
    },
  },
  time: {
    signature: 'TIME time([STRING s], [TIME fallback], [REAL real], [INT integer])',
    call: (c, s: Maybe<string>, fallback: Maybe<number>, real?: number, integer?: number) => {
      if (!given(c, 'time', [s, real, integer])) return 0;
      const n = real ?? integer;
      const v = n !== undefined ? (n < 0 ? null : n) : s == null ? null : timeOf(s);
      return orFallback(c, 'time', v, fallback, 0);
    },
  },
  ip: {
    signature: 'IP ip(STRING s, [IP fallback], BOOL resolve=1, [STRING p])',
    call: (c, s: Maybe<string>, fallback: Maybe<VclIp>, _resolve: boolean, p?: string | null) => {
      const v = s == null ? null : ipOf(s, p ?? '80');
      return orFallback(c, 'ip', v, fallback, new VclIp('0.0.0.0', 0), `: could not convert "${s ?? ''}"`);
    },
  },
  real2integer: {
    signature: 'INT real2integer(REAL r, INT fallback)',
    call: (_c, r: number, fallback: number) => truncated(round(r)) ?? fallback,
  },
  real2time: {
    signature: 'TIME real2time(REAL r, TIME fallback)',
    call: (_c, r: number, fallback: number) => (Number.isFinite(r) ? round(r) : fallback),
  },
  time2integer: {
    signature: 'INT time2integer(TIME t, INT fallback)',
    call: (_c, t: number, fallback: number) => truncated(t) ?? fallback,
  },
  time2real: {
    signature: 'REAL time2real(TIME t, REAL fallback)',
    call: (_c, t: number, fallback: number) => (Number.isFinite(t) ? t : fallback),
  },
};
