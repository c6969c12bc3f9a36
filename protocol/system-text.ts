// The system's errors in the words of the C library, which operators know and scripts match; Node has words of its own.

export const SYSTEM_TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  EAGAIN: 'Resource temporarily unavailable',
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset by peer',
  EDQUOT: 'Disk quota exceeded',
  EEXIST: 'File exists',
  EHOSTUNREACH: 'No route to host',
  EINVAL: 'Invalid argument',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  EMFILE: 'Too many open files',
  ENAMETOOLONG: 'File name too long',
  ENETUNREACH: 'Network is unreachable',
  ENFILE: 'Too many open files in system',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTSOCK: 'Socket operation on non-socket',
  EPERM: 'Operation not permitted',
  EPIPE: 'Broken pipe',
  EPROTOTYPE: 'Protocol wrong type for socket',
  EROFS: 'Read-only file system',
  ETIMEDOUT: 'Connection timed out',
};

/** What an error says: the system's words where it is one of the system's, else its message. */
export function systemText(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return SYSTEM_TEXTS[code] ?? message;
}
