// Bodies a program makes, in vcl_synth and vcl_backend_error. They are byte strings, as all strings of programs: a
// blob or a text of any encoding is sent as it is.

import type { VclBusyobj, VclContext, VclRequest } from '../../contract/context.ts';

export function set_resp_body(ctx: VclContext, value: string): void {
  (ctx.req as VclRequest).attempt.synthBody = value;
}

export function add_resp_body(ctx: VclContext, value: string): void {
  const { attempt } = ctx.req as VclRequest;
  attempt.synthBody = (attempt.synthBody ?? '') + value;
}

export function set_beresp_body(ctx: VclContext, value: string): void {
  (ctx.bo as VclBusyobj).attempt.synthBody = value;
}

export function add_beresp_body(ctx: VclContext, value: string): void {
  const { attempt } = ctx.bo as VclBusyobj;
  attempt.synthBody = (attempt.synthBody ?? '') + value;
}

export function unset_bereq_body(ctx: VclContext): void {
  (ctx.bo as VclBusyobj).unsetBody();
}
