// The bytes that a socket holds unread when a write to it fails. The runtime throws them away with the socket, but an
// answer to an upload often comes with a reset, and then chance decides whether the next write or the next read is first.

import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { socketDescriptor } from '../system-error.ts';

type Destroy = (error: Error | null, done: (error?: Error | null) => void) => void;

/**
 * Calls back with what is left in a socket that is about to be destroyed because of an error.
 * @param most bytes at a time, and in all
 */
export function onLastBytes(socket: Socket, most: number, take: (bytes: Buffer) => void): void {
  const destroy: Destroy = socket._destroy;
  socket._destroy = (error, done) => {
    if (error !== null) {
      const bytes = unread(socketDescriptor(socket), most);
      if (bytes.length > 0) take(bytes);
    }
    destroy.call(socket, error, done);
  };
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
    // Behind the bytes is the error that is known already, or nothing yet.
  }
  return bytes.subarray(0, length);
}
