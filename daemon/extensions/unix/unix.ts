// The extension unix: user and group of the process at the other end of a Unix socket. Follows vmod_unix(3) of 7.1.
//
// The worker determines the credentials before it reads such a connection (net/peer-credentials.ts); here they are
// only looked up. Unknown values are logged and are NULL or -1, and the program continues.

import { readFileSync } from 'node:fs';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { PeerCredentials, VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';

function problem(ctx: VclContext, what: string): null {
  ctx.log.put(Tag.VCL_Error, `vmod unix error: ${what}`);
  return null;
}

function peer(ctx: VclContext): PeerCredentials | null {
  if (ctx.req === null && ctx.bo === null) {
    softFail(ctx, 'vmod unix failure: may not be called in vcl_init or vcl_fini');
    return null;
  }
  const session = ctx.req?.session ?? ctx.bo?.session ?? null;
  if (session === null || !session.endpointSocket.startsWith('/')) {
    return problem(ctx, 'not listening on a Unix domain socket');
  }
  return session.peerCredentials() ?? problem(ctx, 'could not get peer credentials');
}

/** The name for an id in a file such as /etc/passwd. */
function nameOf(ctx: VclContext, file: string, kind: string, id: number): string | null {
  let text = '';
  try {
    text = readFileSync(file, 'latin1');
  } catch {
    // Treated as an empty file.
  }
  for (const line of text.split('\n')) {
    const fields = line.split(':');
    if (fields[2] === String(id)) return fields[0] as string;
  }
  return problem(ctx, `could not find the ${kind} with id ${id}`);
}

/** Tasks with a client. */
const PEERS = { newerPlaces: 'client backend' };

function name(kind: 'user' | 'group', file: string): ExtensionFunction {
  const call = (ctx: VclContext): string | null => {
    const found = peer(ctx);
    return found === null ? null : nameOf(ctx, file, kind, kind === 'user' ? found.uid : found.gid);
  };
  const help = `Name of the ${kind} at the other end of a Unix socket; unset if unknown, which is logged as VCL_Error.`;
  return row(`STRING ${kind}()`, call, help, PEERS);
}

export const unix: Extension = {
  name: 'unix',
  help: 'the process at the other end of a Unix socket',
  // biome-ignore format: a row is a line
  functions: byName(
    name('user', '/etc/passwd'),
    name('group', '/etc/group'),
    row('INT uid()', (ctx) => peer(ctx)?.uid ?? -1, 'Id of the user at the other end of a Unix socket; -1 if unknown.', PEERS),
    row('INT gid()', (ctx) => peer(ctx)?.gid ?? -1, 'Id of the group, as uid().', PEERS),
  ),
};
