// std conversions between types. Exactly one argument must be given beside the fallback; a failed conversion yields
// the fallback, or fails the task if there is none. Messages are Varnish's.

import type { VclContext, VclHost } from '../../contract/context.ts';
import { softFail } from '../../contract/failure.ts';
import { VclIp } from '../../vcl/runtime/ip.ts';
import { hasFeature } from '../../vcl/runtime/limits.ts';
import { byName, row } from '../extension-rows.ts';
import { ipOf, NO_NAMES } from './ip-text.ts';
import { NameLookup } from './name-lookup.ts';
import {
  bytesOf,
  durationOf,
  integerOf,
  LARGEST_REAL,
  type NumberError,
  realOf,
  round,
  truncated,
  wholeBytes,
} from './number-text.ts';
import { timeOf } from './time-text.ts';

type Maybe<T> = T | null | undefined;

/** Whether exactly one of the values is given; logs the failure otherwise. */
function one(ctx: VclContext, name: string, values: readonly unknown[]): boolean {
  const n = values.filter((v) => v !== undefined).length;
  if (n === 1) return true;
  softFail(ctx, `std.${name}: ${n === 0 ? 'not enough' : 'too many'} arguments`);
  return false;
}

/** The converted value, or else the fallback, or else a failure and the type's zero. */
function or<T>(ctx: VclContext, name: string, v: T | null, fallback: Maybe<T>, zero: T, why = ''): T {
  if (v !== null) return v;
  if (fallback !== undefined && fallback !== null) return fallback;
  softFail(ctx, `std.${name}: conversion failed${why === '' ? '' : `: ${why}`}`);
  return zero;
}

/** As or(), for a text whose parser returns the reason of a failure. */
function number(
  ctx: VclContext,
  name: string,
  read: (text: string) => number | NumberError,
  text: Maybe<string>,
  fallback: Maybe<number>,
): number {
  const v = text == null ? '' : read(text);
  return typeof v === 'number' ? v : or(ctx, name, null, fallback, 0, v);
}

/** The numeric argument that was given; undefined if it was the string. */
function given(bool: boolean | undefined, ...numbers: readonly (number | undefined)[]): number | undefined {
  if (bool !== undefined) return bool ? 1 : 0;
  return numbers.find((n) => n !== undefined);
}

const NAMES = new WeakMap<VclHost, NameLookup>();

function namesOf({ host }: VclContext): NameLookup {
  let names = NAMES.get(host);
  if (names === undefined) {
    names = new NameLookup(host.shared);
    NAMES.set(host, names);
  }
  return names;
}

function duration(
  c: VclContext,
  s: Maybe<string>,
  fallback: Maybe<number>,
  real?: number,
  integer?: number,
): number {
  if (!one(c, 'duration', [s, real, integer])) return 0;
  return or(c, 'duration', real ?? integer ?? (s == null ? null : durationOf(s)), fallback, 0);
}

function bytes(
  c: VclContext,
  s: Maybe<string>,
  fallback: Maybe<number>,
  real?: number,
  integer?: number,
): number {
  if (!one(c, 'bytes', [s, real, integer])) return 0;
  const n = real ?? integer;
  const v = n !== undefined ? wholeBytes(n) : s == null ? null : bytesOf(s);
  return or(c, 'bytes', v, fallback, 0);
}

function integer(
  c: VclContext,
  s: Maybe<string>,
  fallback: Maybe<number>,
  bool?: boolean,
  bytes?: number,
  duration?: number,
  real?: number,
  time?: number,
): number {
  if (!one(c, 'integer', [s, bool, bytes, duration, real, time])) return 0;
  const n = given(bool, bytes, duration, real, time);
  if (n === undefined) return number(c, 'integer', integerOf, s, fallback);
  return or(c, 'integer', truncated(n), fallback, 0);
}

function real(
  c: VclContext,
  s: Maybe<string>,
  fallback: Maybe<number>,
  integer?: number,
  bool?: boolean,
  bytes?: number,
  duration?: number,
  time?: number,
): number {
  if (!one(c, 'real', [s, integer, bool, bytes, duration, time])) return 0;
  return given(bool, integer, bytes, duration, time) ?? number(c, 'real', realOf, s, fallback);
}

function time(
  c: VclContext,
  s: Maybe<string>,
  fallback: Maybe<number>,
  real?: number,
  integer?: number,
): number {
  if (!one(c, 'time', [s, real, integer])) return 0;
  const read = (text: string) => timeOf(text, hasFeature(c, 'http_date_postel'));
  return or(c, 'time', real ?? integer ?? (s == null ? null : read(s)), fallback, 0);
}

function ip(
  c: VclContext,
  s: Maybe<string>,
  fallback: Maybe<VclIp>,
  resolve: boolean,
  p?: string | null,
): VclIp {
  const v = s == null ? null : ipOf(s, p === undefined ? '80' : (p ?? ''), resolve ? namesOf(c) : NO_NAMES);
  return or(c, 'ip', v, fallback, new VclIp('0.0.0.0', 0));
}

function real2integer(_ctx: VclContext, r: number, fallback: number): number {
  return Math.abs(round(r)) <= LARGEST_REAL ? round(r) + 0 : fallback;
}

// biome-ignore format: a row is a line
export const conversionFunctions = byName(
  row('REAL random(REAL lo, REAL hi)', (_c, lo: number, hi: number) => lo + Math.random() * (hi - lo), 'A random number between the two.'),
  row('REAL round(REAL r)', (_c, r: number) => round(r), 'The nearest whole number; half goes away from zero.'),
  row('DURATION duration([STRING s], [DURATION fallback], [REAL real], [INT integer])', duration,
    'A duration, from exactly one of the others; what cannot be converted is the fallback, or fails the transaction.'),
  row('BYTES bytes([STRING s], [BYTES fallback], [REAL real], [INT integer])', bytes, 'A number of bytes, as duration().'),
  row('INT integer([STRING s], [INT fallback], [BOOL bool], [BYTES bytes], [DURATION duration], [REAL real], [TIME time])', integer,
    'A whole number, as duration().'),
  row('REAL real([STRING s], [REAL fallback], [INT integer], [BOOL bool], [BYTES bytes], [DURATION duration], [TIME time])', real,
    'A number, as duration().'),
  row('TIME time([STRING s], [TIME fallback], [REAL real], [INT integer])', time,
    'A point in time, as duration(); texts may be dates of HTTP or of ISO 8601, or seconds.'),
  row('IP ip(STRING s, [IP fallback], BOOL resolve=1, [STRING p])', ip,
    'An address, from a text or, unless resolve is false, from a name. p is a port or the name of a service.'),
  row('INT real2integer(REAL r, INT fallback)', real2integer, 'The nearest whole number; the fallback where an INT cannot hold it.'),
  row('TIME real2time(REAL r, TIME fallback)', (_c, r: number, fallback: number) => (Number.isFinite(r) ? r : fallback),
    'The time in seconds since the epoch; the fallback for a number that is not finite.'),
  row('INT time2integer(TIME t, INT fallback)', (_c, t: number, fallback: number) => truncated(round(t)) ?? fallback,
    'Whole seconds since the epoch, rounded; the fallback where an INT cannot hold them.'),
  row('REAL time2real(TIME t, REAL fallback)', (_c, t: number, fallback: number) => (Number.isFinite(t) ? t : fallback),
    'Seconds since the epoch; the fallback where the time is not finite.'),
);
