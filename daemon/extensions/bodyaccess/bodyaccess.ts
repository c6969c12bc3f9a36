// The extension bodyaccess: inspects a request body that std.cache_req_body() has read. Follows vmod_bodyaccess(3) of
// Varnish's module collection.
//
// A call in the wrong state, or without a cached body, is logged and returns -1; the program continues.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { BoundedRegex } from '../../../queries/regex/bounded-regex.ts';
import type { VclContext, VclKeptBody } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { State } from '../../contract/program.ts';
import { byName, row } from '../extension-rows.ts';

function body(ctx: VclContext, name: string, state: 'recv' | 'hash'): VclKeptBody | null {
  const kept = ctx.req?.cachedBody ?? null;
  if (kept === null || kept.length === 0) {
    ctx.log.put(Tag.VCL_Error, 'Unbuffered req.body');
    return null;
  }
  if (ctx.state !== State[state]) {
    ctx.log.put(Tag.VCL_Error, `${name} can only be used in vcl_${state}{}`);
    return null;
  }
  return kept;
}

function rematchReqBody(ctx: VclContext, re: BoundedRegex): number {
  const bytes = body(ctx, 'rematch_req_body', 'recv')?.bytes();
  if (bytes === undefined) return -1;
  const found = re.match(bytes.toString('latin1'));
  if (found >= 0) return found;
  ctx.log.put(Tag.VCL_Error, 'Regexp matching failed: match limit exceeded');
  return -1;
}

function hashReqBody(ctx: VclContext): void {
  const bytes = body(ctx, 'hash_req_body', 'hash')?.bytes();
  if (bytes !== undefined) ctx.req?.hashData(bytes.toString('latin1'));
}

function logReqBody(ctx: VclContext, prefix: string | null, length: number): void {
  const bytes = body(ctx, 'log_req_body', 'recv')?.bytes();
  if (bytes === undefined) return;
  const step = length > 0 ? length : bytes.length;
  for (let at = 0; at < bytes.length; at += step) {
    const record = Buffer.from(`${prefix ?? ''}${bytes.toString('latin1', at, at + step)}`, 'latin1');
    ctx.log.putBytes(Tag.Debug, record, 0, record.length);
  }
}

export const bodyaccess: Extension = {
  name: 'bodyaccess',
  help: 'bodies of requests',
  // biome-ignore format: a row is a line
  functions: byName(
    row('INT rematch_req_body(REGEX re)', rematchReqBody,
      'Whether the body of the request matches: 1 or 0, and -1 when it is not cached (std.cache_req_body).'),
    row('VOID hash_req_body()', hashReqBody, 'In vcl_hash: adds the body to the key.'),
    row('INT len_req_body()', (ctx) => body(ctx, 'len_req_body', 'recv')?.length ?? -1, 'Bytes of the body; -1 when it is not cached.'),
    row('VOID log_req_body(STRING prefix="", INT length=200)', logReqBody, 'Logs the body in pieces of this length, each after the prefix.'),
  ),
};
