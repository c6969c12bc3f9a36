// The system's errors with the C library's texts, which scripts match; Node's texts are different.

export const SYSTEM_TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EADDRINUSE: 'Address already in use',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  EAGAIN: 'Resource temporarily unavailable',
  EAI_AGAIN: 'Temporary failure in name resolution',
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
  ENOTFOUND: 'Name or service not known',
  ENOTSOCK: 'Socket operation on non-socket',
  EPERM: 'Operation not permitted',
  EPIPE: 'Broken pipe',
  EPROTOTYPE: 'Protocol wrong type for socket',
  EROFS: 'Read-only file system',
  ETIMEDOUT: 'Connection timed out',
};

/** The text of an error: the C library's for an error of the system, else its message. */
export function systemText(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return SYSTEM_TEXTS[code] ?? message;
}
