// How a connection to an origin ended. The runtime reports a reset that comes together with the last bytes as an
// orderly end. A truncated body that ends with its connection would then look complete (SAFETY rule 3); only the
// kernel, which then has no peer for the socket, still knows.

import type { Socket } from 'node:net';

interface SocketHandle {
  getpeername?(out: object): number;
}

/**
 * Whether what looks like the end of the peer's bytes is a reset. Call it when the end is reported, and only
 * if this side has not ended. Always false for a Unix socket, which has no resets.
 */
export function endedByReset(socket: Socket): boolean {
  const handle = (socket as unknown as { _handle?: SocketHandle | null })._handle;
  return typeof handle?.getpeername === 'function' && handle.getpeername({}) !== 0;
}
