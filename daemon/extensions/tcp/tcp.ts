// The extension tcp: the client's connection as seen by the kernel. Has the functions of vmod_tcp(3) of the module
// collection, but the runtime has no access to the socket options, so every call returns its error value and logs it
// as for a socket option that the kernel refuses. Programs load and run unchanged; nothing is paced.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';

/** Without a client connection nothing is logged, as in Varnish. */
function failed(ctx: VclContext, what: string): void {
  if (ctx.req !== null) ctx.log.put(Tag.VCL_Error, what);
}

function congestionAlgorithm(ctx: VclContext, algorithm: string | null): number {
  failed(ctx, `TCP_CONGESTION setsockopt() for "${algorithm ?? ''}" failed.`);
  return -1;
}

function getEstimatedRtt(ctx: VclContext): number {
  failed(ctx, 'getsockopt() failed');
  return 0;
}

export const tcp: Extension = {
  name: 'tcp',
  help: 'the client’s connection in the kernel',
  // biome-ignore format: a row is a line
  functions: byName(
    row('INT congestion_algorithm(STRING algorithm)', congestionAlgorithm,
      'Would choose how the client’s connection avoids congestion. Returns -1: the runtime has no access to the socket option.'),
    row('VOID dump_info()', (ctx) => failed(ctx, 'getsockopt() failed'),
      'Would log the kernel’s statistics of the client’s connection. Logs that they are unavailable.'),
    row('REAL get_estimated_rtt()', getEstimatedRtt, 'Would return the round trip time to the client in milliseconds. Returns 0.'),
    row('VOID set_socket_pace(INT)', (ctx) => failed(ctx, 'tcp.set_socket_pace(): pacing is not possible on this platform'),
      'Would limit the rate of the client’s connection, in KB a second. Logs that it cannot.'),
  ),
};
