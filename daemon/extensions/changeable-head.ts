// Heads that an extension is asked to change: one in the cache is read by all, so it is refused.

import type { VclContext } from '../contract/context.ts';
import { VclFailure } from '../contract/failure.ts';
import type { HttpMessage } from '../http1/message.ts';

/** @param call how the message names the call */
export function refuseStored(ctx: VclContext, http: HttpMessage, call: string): void {
  const obj = ctx.bo === null ? ctx.req?.obj : null;
  if (obj != null && http === obj.http) throw new VclFailure(`${call}: obj cannot be changed`);
}
