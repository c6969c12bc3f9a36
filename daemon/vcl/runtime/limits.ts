// Limits of a program's strings, which Varnish sets by the workspace of a task and by http_max_hdr. A program has no
// loops, but repeatedly doubling a header would still exhaust memory. Short values are not checked; only unusually
// long or numerous ones query the parameters.
//
// As in Varnish, a header that does not fit is lost, and the program continues: the response of the task is decided
// at its end (request/finish.ts). For a start line the program fails.

import type { FeatureName } from '../../../protocol/tables/params.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import { softFail, VclFailure } from '../../contract/failure.ts';
import { fieldLimit } from '../../http1/head-parser.ts';
import { type HttpMessage, MSG_STATUS } from '../../http1/message.ts';
import { reasonOf } from '../../http1/status-reasons.ts';

/** Always permitted by the parameters. */
const SURELY_FITS = 1000;
const SURELY_FEW = 20;
/** Bytes of a workspace that Varnish uses for other than texts: the heads' tables and the task itself. */
const TABLES = 5000;

/** Fails the task if a text exceeds the rest of its workspace; `name` is its destination. */
function checkRoom(ctx: VclContext, name: string, text: string): void {
  if (text.length <= SURELY_FITS || takeRoom(ctx, text.length)) return;
  overflow(ctx);
  throw new VclFailure(`Workspace overflow (${name})`, true);
}

/** Whether a message has room for a header; otherwise the header is logged as lost. */
export function takesField(ctx: VclContext, http: HttpMessage, name: string, value: string): boolean {
  if (value.length > SURELY_FITS && !takeRoom(ctx, value.length)) {
    ctx.log.put(Tag.LostHeader, `${name}:`);
    overflow(ctx);
    return false;
  }
  if (http.n < SURELY_FEW || http.has(name.toLowerCase())) return true;
  const most = Number(ctx.host.param('http_max_hdr'));
  if (!(most > 0) || http.n < fieldLimit(most)) return true;
  ctx.log.put(Tag.LostHeader, `${name}: ${value}`);
  ctx.host.count('losthdr');
  overflow(ctx);
  ctx.log.put(Tag.Error, `out of workspace (${ctx.req === null ? 'bo' : 'req'})`);
  return false;
}

/** Records that the task has lost data. */
export function overflow(ctx: VclContext): void {
  if (!ctx.overflowed) ctx.host.count(ctx.req === null ? 'ws_backend_overflow' : 'ws_client_overflow');
  ctx.overflowed = true;
}

/** Reserves bytes of the workspace; false if not enough are left. Replaced texts are not given back. */
export function takeRoom(ctx: VclContext, length: number): boolean {
  if (length > roomLeft(ctx)) return false;
  ctx.roomTaken += length;
  return true;
}

/** Bytes that a task's workspace has left for texts. */
export function roomLeft(ctx: VclContext): number {
  const room = Number(ctx.host.param(ctx.req === null ? 'workspace_backend' : 'workspace_client'));
  if (!(room > 0)) return Number.MAX_SAFE_INTEGER;
  return Math.max(SURELY_FITS, room - Number(ctx.host.param('vsl_buffer')) - TABLES) - ctx.roomTaken;
}

/** Whether a bit of the parameter `feature` is set. */
export function hasFeature(ctx: VclContext, bit: FeatureName): boolean {
  const text = String(ctx.host.param('feature'));
  // Asked for in each state of a request.
  if (text !== lastFeatures) {
    lastFeatures = text;
    features = new Set(text.split(','));
  }
  return features.has(`+${bit}`);
}

let lastFeatures = '';
let features: ReadonlySet<string> = new Set();

// Start lines set by a program: the status with its default reason, and texts that must stay on one line.

/** Characters that end a line, or that some parsers take for its end. */
export const CONTROL: RegExp = /[\0-\x08\n-\x1f\x7f]/;

/** Validates text for a start line. Varnish accepts control characters, which would end the line early. */
export function wireText(ctx: VclContext, name: string, v: string | null): string {
  if (v === null || v === '') throw new VclFailure(`Setting ${name} to empty string`);
  checkRoom(ctx, name, v);
  if (CONTROL.test(v)) throw new VclFailure(`Control character in ${name}`, true);
  return v;
}

/** Sets a status of up to five digits; the last three are logged and sent. */
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
