// What a program's strings may take, as the field bounds it by the workspace of a task and by http_max_hdr. A
// program has no loops, but a field that is doubled line by line would still grow beyond any memory. Short values
// are not looked at twice; only what is unusually long or many asks for the parameters.

import { Tag } from '../../../protocol/tables/tags.ts';
import { fieldLimit } from '../../http1/head-parser.ts';
import type { HttpMessage } from '../../http1/message.ts';
import type { VclContext } from '../context.ts';
import { VclFailure } from './failure.ts';

/** No parameter allows less than this. */
const SURELY_FITS = 1000;
const SURELY_FEW = 20;

/** Fails the task when a text is longer than all its workspace; `name` is what it was meant for. */
export function checkRoom(ctx: VclContext, name: string, text: string): void {
  if (text.length <= SURELY_FITS) return;
  const room = Number(ctx.host.param(ctx.req === null ? 'workspace_backend' : 'workspace_client'));
  if (room > 0 && text.length > room) throw new VclFailure(`Workspace overflow (${name})`, true);
}

/** Fails the task when a message cannot take the field: too long, or one too many. */
export function checkField(ctx: VclContext, http: HttpMessage, name: string, value: string): void {
  if (value.length > SURELY_FITS) {
    try {
      checkRoom(ctx, name, value);
    } catch (e) {
      ctx.log.put(Tag.LostHeader, `${name}:`);
      throw e;
    }
  }
  if (http.n < SURELY_FEW || http.has(name.toLowerCase())) return;
  const most = Number(ctx.host.param('http_max_hdr'));
  if (!(most > 0) || http.n < fieldLimit(most)) return;
  ctx.log.put(Tag.LostHeader, `${name}: ${value}`);
  throw new VclFailure(`Too many header fields: http_max_hdr is ${most}`, true);
}
