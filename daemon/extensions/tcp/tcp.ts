// The extension tcp: the client's connection as the kernel sees it. Follows vmod_tcp(3) of the module collection, as far
// as it goes: the runtime has no way to the socket options behind it, so every call gives the value of a failure, which
// the log has as for a socket that the kernel refuses. Programs load and run unchanged; nothing is paced.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';

/** Without a client's connection there is nothing to say, as in Varnish. */
function failed(ctx: VclContext, what: string): void {
  if (ctx.req !== null) ctx.log.put(Tag.VCL_Error, what);
}

export const tcp: Extension = {
  name: 'tcp',
  help: 'the client’s connection as the kernel sees it',
  functions: {
    congestion_algorithm: {
      signature: 'INT congestion_algorithm(STRING algorithm)',
      help: 'Would choose how the client’s connection avoids congestion. Returns -1: the runtime has no way to the socket option.',
      call: (ctx, algorithm: string | null) => {
        failed(ctx, `TCP_CONGESTION setsockopt() for "${algorithm ?? ''}" failed.`);
        return -1;
      },
    },
    dump_info: {
      signature: 'VOID dump_info()',
      help: 'Would log the kernel’s figures about the client’s connection. Logs that they cannot be had.',
      call: (ctx) => failed(ctx, 'getsockopt() failed'),
    },
    get_estimated_rtt: {
      signature: 'REAL get_estimated_rtt()',
      help: 'Would be the round trip time to the client in milliseconds. Returns 0.',
      call: (ctx) => {
        failed(ctx, 'getsockopt() failed');
        return 0;
      },
    },
    set_socket_pace: {
      signature: 'VOID set_socket_pace(INT)',
      help: 'Would limit the rate of the client’s connection, in KB a second. Logs that it cannot.',
      call: (ctx) => failed(ctx, 'tcp.set_socket_pace(): pacing is not possible on this platform'),
    },
  },
};
