// Strings of VCL: conversion of each type, comparison, letter case. An unset string is null.

import type { Director, VclContext } from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';
import { httpDate } from '../../http1/date.ts';
import type { VclAcl } from './acl.ts';
import { calendarDate, shownYear } from './calendar.ts';
import type { VclIp } from './ip.ts';

/** Largest INT or REAL that can be converted: 15 digits. */
const LARGEST = 999_999_999_999_999;

export function str(s: string | null): string {
  return s === null ? '' : s;
}

export function boolString(b: boolean): string {
  return b ? 'true' : 'false';
}

export function intString(_ctx: VclContext, n: number): string {
  if (n > LARGEST || n < -LARGEST) {
    const bits = Number.isFinite(n) ? BigInt.asUintN(64, BigInt(n)).toString(16).toUpperCase() : String(n);
    throw new VclFailure(`INT overflow converting to string (${bits})`);
  }
  return String(n);
}

/** Three decimals, rounded as printf does on the exact binary value. */
export function realString(_ctx: VclContext, n: number): string {
  if (!(n <= LARGEST / 1000 && n >= -LARGEST / 1000)) {
    const shown = Number.isFinite(n) ? n.toExponential(6) : Number.isNaN(n) ? 'nan' : n > 0 ? 'inf' : '-inf';
    throw new VclFailure(`REAL overflow converting to string (${shown})`);
  }
  return Object.is(n, -0) ? '-0.000' : n.toFixed(3);
}

/** Last second whose year has four digits, 9999. */
const LAST_DATE = 253_402_300_799;

export function timeString(t: number): string {
  return t >= 0 && t <= LAST_DATE ? httpDate(t) : farDate(t);
}

/** A date whose year has more or fewer than four digits, cut to the 29 characters of a date, as in Varnish. */
function farDate(t: number): string {
  const date = calendarDate(t);
  if (date === null) throw new VclFailure('Unformatable VCL_TIME');
  const near = httpDate(date.near.getTime() / 1000);
  const year = shownYear(date.near, date.years);
  return `${near.slice(0, 12)}${String(year).padStart(4)}${near.slice(16)}`.slice(0, 29);
}

export function ipString(ip: VclIp): string {
  if (ip.text === '') throw new VclFailure('VRT_IP_string: Illegal IP');
  return ip.text;
}

export function aclString(acl: VclAcl): string {
  return acl.name;
}

export function backendString(d: Director | null): string | null {
  return d === null ? null : d.vclName;
}

export function stevedoreString(name: string | null): string | null {
  return name === null ? null : `storage.${name}`;
}

/** Base64 as in Varnish's output: with r before q, unlike its own compiler's input. */
export function blobString(b: Uint8Array | null): string | null {
  if (b === null) return null;
  const base64 = Buffer.from(b.buffer, b.byteOffset, b.byteLength).toString('base64');
  return `:${base64.replace(/[qr]/g, (c) => (c === 'q' ? 'r' : 'q'))}:`;
}

export function blobFrom(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}

export function blobText(b: Uint8Array | null): string {
  return b === null ? '' : Buffer.from(b.buffer, b.byteOffset, b.byteLength).toString('latin1');
}

/** Equality of two single strings: an unset one equals nothing, not even another unset one. */
export function sameString(a: string | null, b: string | null): boolean {
  return a !== null && a === b;
}

/** Compares bytes; an unset string sorts last, as in Varnish. */
export function compareStrings(a: string | null, b: string | null): number {
  if (a === null || b === null) return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** ASCII only, so that bytes of other encodings survive. */
export function lowerCase(s: string | null): string | null {
  return s === null ? null : s.replace(/[A-Z]+/g, (m) => m.toLowerCase());
}

export function upperCase(s: string | null): string | null {
  return s === null ? null : s.replace(/[a-z]+/g, (m) => m.toUpperCase());
}
