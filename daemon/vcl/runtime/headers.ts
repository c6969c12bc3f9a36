// Headers of the messages a program sees. Values are validated before they are set: a control character could inject
// header lines.

import type {
  VclBusyobj,
  VclContext,
  VclObject,
  VclRequest,
  VclStaleObject,
} from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { hasFeature, takesField } from './limits.ts';

const BAD_VALUE = /[\0-\x08\n-\x1f\x7f]/;

/** A HEADER argument of an extension: the message, and the header's name as written. */
export interface HeaderRef {
  http: HttpMessage;
  name: string;
}

export function http_req(ctx: VclContext): HttpMessage {
  return (ctx.req as VclRequest).http;
}

export function http_req_top(ctx: VclContext): HttpMessage {
  return (ctx.req as VclRequest).top.http;
}

export function http_resp(ctx: VclContext): HttpMessage {
  return (ctx.req as VclRequest).resp;
}

export function http_obj(ctx: VclContext): HttpMessage {
  return ((ctx.req as VclRequest).obj as VclObject).http;
}

export function http_obj_stale(ctx: VclContext): HttpMessage {
  return ((ctx.bo as VclBusyobj).stale as VclStaleObject).http;
}

export function http_bereq(ctx: VclContext): HttpMessage {
  return (ctx.bo as VclBusyobj).bereq;
}

export function http_beresp(ctx: VclContext): HttpMessage {
  return (ctx.bo as VclBusyobj).beresp;
}

export function getHeader(http: HttpMessage, key: string): string | null {
  return http.get(key);
}

export function setHeader(http: HttpMessage, name: string, value: string | null): void {
  if (value === null) {
    http.set(name, '');
    return;
  }
  if (BAD_VALUE.test(value)) {
    throw new VclFailure(`Bad header ${name}: ${value.slice(0, value.search(BAD_VALUE))}`);
  }
  http.set(name, value);
}

/** `set x = y`, within the limits of the task. */
export function setField(ctx: VclContext, http: HttpMessage, name: string, value: string | null): void {
  if (!takesField(ctx, http, name, value ?? '')) return;
  if (value !== null && BAD_VALUE.test(value) && mayBeOdd(ctx, value)) http.set(name, value);
  else setHeader(http, name, value);
}

/** Without validate_headers a value may contain control characters, except those that end it. */
function mayBeOdd(ctx: VclContext, value: string): boolean {
  return !hasFeature(ctx, 'validate_headers') && !/[\0\r\n]/.test(value);
}

/** `set x += y`. */
export function addField(ctx: VclContext, http: HttpMessage, name: string, value: string | null): void {
  const old = http.get(name.toLowerCase());
  setField(ctx, http, name, (old ?? '') + (value ?? ''));
}

export function unsetHeader(http: HttpMessage, key: string): void {
  http.unset(key);
}

/** Value of a header named by an extension, or null. */
export function headerValue(ref: HeaderRef): string | null {
  return ref.http.get(ref.name.toLowerCase());
}

export function headerRef(http: HttpMessage, name: string): HeaderRef {
  return { http, name };
}
