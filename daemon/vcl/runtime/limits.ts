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
  const backend = ctx.req === null;
  const room = Number(ctx.host.param(backend ? 'workspace_backend' : 'workspace_client'));
  if (!(room > 0 && text.length > room)) return;
  ctx.host.count?.(backend ? 'ws_backend_overflow' : 'ws_client_overflow');
  throw new VclFailure(`Workspace overflow (${name})`, true);
}

/** Fails the task when a message cannot take the field: too long, or one too many. */
export function checkField(ctx: VclContext, http: HttpMessage, name: string, value: string): void {
  if (value.length > SURELY_FITS) {
    try {
      checkRoom(ctx, name, value);
    } catch (e) {
      ctx.log.put(Tag.LostHeader, `${name}:`);
      ctx.host.count?.('losthdr');
      throw e;
    }
  }
  if (http.n < SURELY_FEW || http.has(name.toLowerCase())) return;
  const most = Number(ctx.host.param('http_max_hdr'));
  if (!(most > 0) || http.n < fieldLimit(most)) return;
  ctx.log.put(Tag.LostHeader, `${name}: ${value}`);
  ctx.host.count?.('losthdr');
  throw new VclFailure(`Too many header fields: http_max_hdr is ${most}`, true);
}
