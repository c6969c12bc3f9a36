// Converts values between programs and outside extensions: ours become frozen handles; theirs are checked against the
// signature, because generated code relies on types.

import { isIP } from 'node:net';
import type { BoundedRegex } from '../../../queries/regex/bounded-regex.ts';
import type { Director, VclContext } from '../../contract/context.ts';
import { ExtensionError } from '../../contract/failure.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { VclAcl } from '../../vcl/runtime/acl.ts';
import { type HeaderRef, setHeader } from '../../vcl/runtime/headers.ts';
import { VclIp } from '../../vcl/runtime/ip.ts';
import type { SubValue } from '../../vcl/runtime/sub-value.ts';
import type { Type } from '../../vcl/tables/type-rows.ts';
import { backendHandle, handle, STANDS_FOR } from './handles.ts';
import { byteText, type CallLife, Head, writable } from './outside-context.ts';

function aclHandle(acl: VclAcl): object {
  const matches = (address: unknown): boolean => {
    const ip = address instanceof Object ? STANDS_FOR.get(address) : new VclIp(String(address), 0);
    return ip instanceof VclIp && acl.allows(ip);
  };
  return handle({ name: acl.name, matches }, acl);
}

function headerHandle(life: CallLife, ref: HeaderRef): object {
  const http = (): HttpMessage => {
    life.check();
    return ref.http;
  };
  const key = ref.name.toLowerCase();
  const value = {
    name: ref.name,
    get: () => http().get(key),
    set: (text: unknown) => setHeader(writable(http()), ref.name, byteText(String(text))),
    unset: () => void writable(http()).unset(key),
  };
  return handle(value, ref);
}

/** Converts a value of the program for the extension. */
export function toOutside(ctx: VclContext, life: CallLife, type: Type, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  switch (type) {
    case 'IP': {
      const ip = value as VclIp;
      if (ip.text === '') return null;
      const family = ip.bytes.length === 4 ? 4 : 6;
      return handle({ address: ip.text, port: ip.port, family, toString: () => ip.text }, ip);
    }
    case 'BACKEND':
      return backendHandle(value as Director);
    case 'ACL':
      return aclHandle(value as VclAcl);
    case 'HEADER':
      return headerHandle(life, value as HeaderRef);
    case 'HTTP':
      return new Head(life, value as HttpMessage);
    case 'BLOB':
      return Buffer.from(value as Uint8Array);
    case 'PROBE':
      return handle(structuredClone(value) as object, value);
    case 'REGEX': {
      const re = value as BoundedRegex;
      return handle({ pattern: re.pattern, test: (s: unknown) => re.test(byteText(String(s))) }, re);
    }
    case 'SUB': {
      const sub = value as SubValue;
      const call = (): void => {
        life.check();
        sub.call(ctx);
      };
      return handle({ name: sub.name, call }, sub);
    }
    default:
      return value;
  }
}

function shown(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `${typeof value} ${String(value).slice(0, 40)}`;
}

/** The value behind a handle, if it is of the kind. */
function meant(value: unknown, is: (v: unknown) => boolean): unknown {
  const ours = typeof value === 'object' && value !== null ? STANDS_FOR.get(value) : undefined;
  return ours !== undefined && is(ours) ? ours : undefined;
}

const isObject = (v: unknown): boolean => typeof v === 'object' && v !== null;

/** Whether a value is a promise or another thenable. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof (value as { then?: unknown }).then === 'function';
}

/** Converts the result of an extension for the program. Throws ExtensionError on a type mismatch. */
export function fromOutside(label: string, type: Type, value: unknown): unknown {
  if (isPromise(value)) {
    // Nothing awaits it, so its rejection must not end the worker.
    Promise.resolve(value).catch(() => undefined);
    throw new ExtensionError(`${label} returned a promise: its row has no 'waits'`);
  }
  const ours = convert(type, value);
  if (ours === undefined) throw new ExtensionError(`${label} returned ${shown(value)}, not ${type}`);
  return ours;
}

/** Undefined on a type mismatch. */
function convert(type: Type, value: unknown): unknown {
  switch (type) {
    case 'VOID':
      return null;
    case 'STRING':
      if (value === null || value === undefined) return null;
      return typeof value === 'string' ? byteText(value) : undefined;
    case 'ENUM':
      return typeof value === 'string' ? value : undefined;
    case 'BOOL':
      return typeof value === 'boolean' ? value : undefined;
    case 'INT':
      return Number.isSafeInteger(value) ? value : undefined;
    case 'BYTES':
      return Number.isSafeInteger(value) && (value as number) >= 0 ? value : undefined;
    case 'REAL':
    case 'TIME':
    case 'DURATION':
      return Number.isFinite(value) ? value : undefined;
    case 'IP':
      if (value === null || value === undefined) return new VclIp('', 0);
      if (typeof value === 'string') return isIP(value) === 0 ? undefined : new VclIp(value, 0);
      return meant(value, (v) => v instanceof VclIp);
    case 'BLOB':
      if (value === null || value === undefined) return null;
      return value instanceof Uint8Array ? Buffer.from(value) : undefined;
    case 'BACKEND':
      if (value === null || value === undefined) return null;
      return meant(value, (v) => isObject(v) && 'vclName' in (v as object));
    case 'STEVEDORE':
      if (value === null || value === undefined) return null;
      return typeof value === 'string' ? value : undefined;
    case 'PROBE':
      return value === null || value === undefined ? null : meant(value, isObject);
    case 'ACL':
      return value === null ? null : meant(value, (v) => v instanceof VclAcl);
    default:
      return value === null ? null : meant(value, isObject);
  }
}
