// How a connection to an origin ended. The runtime reports a reset that comes together with the last bytes as an
// orderly end, which would make a broken body whole where the end is all that ends it (SAFETY rule 3); only the
// kernel, which has no peer any more by then, still knows.

import type { Socket } from 'node:net';

interface SocketHandle {
  getpeername?(out: object): number;
}

/**
 * Whether what looks like the end of the peer's bytes is a reset. To be asked when the end is reported, and only
 * where this side has not ended. A Unix socket knows no resets: false.
 */
export function endedByReset(socket: Socket): boolean {
  const handle = (socket as unknown as { _handle?: SocketHandle | null })._handle;
  return typeof handle?.getpeername === 'function' && handle.getpeername({}) !== 0;
}
