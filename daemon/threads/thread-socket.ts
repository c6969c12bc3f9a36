// The Unix socket over which a thread receives connections, in the worker's directory. A killed worker leaves it, and the next
// one replaces it.

export function threadSocket(thread: number): string {
  return `thread-${thread}.sock`;
}

export const THREAD_SOCKET = /^thread-\d+\.sock$/;
