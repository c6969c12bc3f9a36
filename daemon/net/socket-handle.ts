// What the handle under a socket knows and the runtime's published interface does not tell. Each falls back to
// zero where there is no such handle.

import type { Socket } from 'node:net';

interface SocketHandle {
  fd?: number;
  writeQueueSize?: number;
}

function handleOf(socket: Socket): SocketHandle | null {
  return (socket as unknown as { _handle?: SocketHandle | null })._handle ?? null;
}

/** Bytes written that the kernel has not taken. */
export function queueSize(socket: Socket): number {
  return handleOf(socket)?.writeQueueSize ?? 0;
}

/** The socket's descriptor number where the platform tells it. */
export function fileDescriptor(socket: Socket): number {
  return handleOf(socket)?.fd ?? 0;
}
