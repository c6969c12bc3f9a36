// The Unix socket by which a thread is given connections, in the directory in which the worker runs. It stays when the
// worker is killed; the next one takes its place.

export function threadSocket(thread: number): string {
  return `thread-${thread}.sock`;
}

export const THREAD_SOCKET = /^thread-\d+\.sock$/;
