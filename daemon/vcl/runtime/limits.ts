// What a program's strings may take, as Varnish bounds it by the workspace of a task and by http_max_hdr. A
// program has no loops, but a field that is doubled line by line would still grow beyond any memory. Short values
// are not looked at twice; only what is unusually long or many asks for the parameters.
//
// As in Varnish, a header field that finds no room is lost, and the program goes on: what the task then answers
// with is decided where it ends (request/overflow.ts). A start line has no such way out: the program fails.

import type { FeatureName } from '../../../protocol/tables/params.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import { softFail, VclFailure } from '../../contract/failure.ts';
import { fieldLimit } from '../../http1/head-parser.ts';
import { type HttpMessage, MSG_STATUS } from '../../http1/message.ts';
import { reasonOf } from '../../http1/status-reasons.ts';

/** No parameter allows less than this. */
const SURELY_FITS = 1000;
const SURELY_FEW = 20;
/** What Varnish keeps in a workspace besides texts, in bytes: the heads' tables and the task itself. */
const TABLES = 5000;

/** Fails the task when a text is longer than what is left of its workspace; `name` is what it was meant for. */
function checkRoom(ctx: VclContext, name: string, text: string): void {
  if (text.length <= SURELY_FITS || takeRoom(ctx, text.length)) return;
  overflow(ctx);
  throw new VclFailure(`Workspace overflow (${name})`, true);
}

/** Whether a message can take the header; one that is too long or one too many is logged as lost. */
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

/** Notes that the task has lost something it should have had. */
export function overflow(ctx: VclContext): void {
  if (!ctx.overflowed) ctx.host.count(ctx.req === null ? 'ws_backend_overflow' : 'ws_client_overflow');
  ctx.overflowed = true;
}

/** Takes `length` bytes of the workspace; false when so much is not left. A text that is replaced gives none back. */
function takeRoom(ctx: VclContext, length: number): boolean {
  const room = Number(ctx.host.param(ctx.req === null ? 'workspace_backend' : 'workspace_client'));
  if (!(room > 0)) return true;
  const left = Math.max(SURELY_FITS, room - Number(ctx.host.param('vsl_buffer')) - TABLES) - ctx.roomTaken;
  if (length > left) return false;
  ctx.roomTaken += length;
  return true;
}

/** Whether a switch of the parameter `feature` is on. */
export function hasFeature(ctx: VclContext, bit: FeatureName): boolean {
  return String(ctx.host.param('feature')).split(',').includes(`+${bit}`);
}

// Start lines set by a program: status with its usual reason, and texts that must stay on one line.

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
