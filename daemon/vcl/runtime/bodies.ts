// Bodies a program makes, in vcl_synth and vcl_backend_error. Program strings are bytes; the worker takes
// text, so bytes beyond ASCII are read as UTF-8, and kept one by one where they are not.

import type { VclBusyobj, VclContext, VclRequest } from '../context.ts';

function text(bytes: string): string {
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  const decoded = Buffer.from(bytes, 'latin1').toString('utf8');
  return decoded.includes('\ufffd') ? bytes : decoded;
}

export function set_resp_body(ctx: VclContext, value: string): void {
  (ctx.req as VclRequest).synthBody = text(value);
}

export function add_resp_body(ctx: VclContext, value: string): void {
  const req = ctx.req as VclRequest;
  req.synthBody = (req.synthBody ?? '') + text(value);
}

export function set_beresp_body(ctx: VclContext, value: string): void {
  (ctx.bo as VclBusyobj).synthBody = text(value);
}

export function add_beresp_body(ctx: VclContext, value: string): void {
  const bo = ctx.bo as VclBusyobj;
  bo.synthBody = (bo.synthBody ?? '') + text(value);
}

export function unset_bereq_body(ctx: VclContext): void {
  (ctx.bo as VclBusyobj).unsetBody();
}
