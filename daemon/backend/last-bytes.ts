// Reads the bytes left in a socket when a write to it fails. The runtime discards them with the socket, but an answer
// to an upload often arrives with a reset, and then it is a race whether the next write or the next read comes first.

import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { beforeDestroy } from '../runtime-handles.ts';
import { socketDescriptor } from '../system-error.ts';

/**
 * Calls back with the bytes left in a socket that is being destroyed because of an error.
 * @param most bytes in all
 */
export function onLastBytes(socket: Socket, most: number, take: (bytes: Buffer) => void): void {
  beforeDestroy(socket, () => {
    const bytes = unread(socketDescriptor(socket), most);
    if (bytes.length > 0) take(bytes);
  });
}

function unread(fd: number, most: number): Buffer {
  const bytes = Buffer.allocUnsafe(fd < 0 ? 0 : most);
  let length = 0;
  try {
    while (length < bytes.length) {
      const got = readSync(fd, bytes, length, bytes.length - length, null);
      if (got === 0) break;
      length += got;
    }
  } catch {
    // After the bytes there is the error that is already known, or nothing yet.
  }
  return bytes.subarray(0, length);
}
