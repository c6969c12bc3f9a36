// Start lines set by a program: status with its usual reason, and texts that must stay on one line.

import type { VclContext } from '../../contract/context.ts';
import { softFail, VclFailure } from '../../contract/failure.ts';
import { type HttpMessage, MSG_STATUS } from '../../http1/message.ts';
import { reasonOf } from '../../http1/status-reasons.ts';
import { checkRoom } from './limits.ts';

/** What would end a line early, or be taken for its end by some. */
export const CONTROL: RegExp = /[\0-\x08\n-\x1f\x7f]/;

/** Text for a start line. A control character would end the line early; Varnish lets it through. */
export function wireText(ctx: VclContext, name: string, v: string | null): string {
  if (v === null || v === '') throw new VclFailure(`Setting ${name} to empty string`);
  checkRoom(ctx, name, v);
  if (CONTROL.test(v)) throw new VclFailure(`Control character in ${name}`, true);
  return v;
}

/** Sets VWXYZ; the log and the wire show XYZ. */
export function setMessageStatus(ctx: VclContext, http: HttpMessage, name: string, v: number): void {
  if (v < 0) {
    softFail(ctx, `${name}.status (${v}) is negative`);
    return;
  }
  if (v > 65535) {
    softFail(ctx, `${name}.status (${v}) > 65535`);
    return;
  }
  if (v % 1000 < 100) {
    softFail(ctx, `illegal ${name}.status (${v}) (..0##)`);
    return;
  }
  http.status = v;
  if (http.log !== null) http.log.put(http.base + MSG_STATUS, String(v % 1000));
  http.setReason(reasonOf(v % 1000));
}
