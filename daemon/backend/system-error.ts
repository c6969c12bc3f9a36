// The system's errors as the field's records show them: number and message of the C library. Connecting and
// probing meet these; anything else keeps the number that Node gives it and its name for a message.

/** `code` is the system's error name (ECONNREFUSED ...), '' when there is none. */
export interface ConnectError {
  readonly code: string;
  /** Positive, as errno(3) has it; 0 when nothing was tried. */
  readonly errno: number;
}

const MESSAGES: { readonly [code: string]: string } = {
  '': 'Success',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  ENOTSOCK: 'Socket operation on non-socket',
  EPROTOTYPE: 'Protocol wrong type for socket',
  EMFILE: 'Too many open files',
  ENFILE: 'Too many open files in system',
  EINVAL: 'Invalid argument',
  EAGAIN: 'Resource temporarily unavailable',
  EPIPE: 'Broken pipe',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  ECONNREFUSED: 'Connection refused',
  ENETUNREACH: 'Network is unreachable',
  EHOSTUNREACH: 'No route to host',
  ETIMEDOUT: 'Connection timed out',
  ECONNRESET: 'Connection reset by peer',
};

/** Nothing was tried: the address is held down. */
export const NOT_TRIED: ConnectError = { code: '', errno: 0 };

/** A connection attempt that took too long. */
export const TIMED_OUT: ConnectError = { code: 'ETIMEDOUT', errno: 110 };

export function connectError(error: NodeJS.ErrnoException): ConnectError {
  return { code: error.code ?? 'unknown', errno: Math.abs(error.errno ?? 0) };
}

/** "111 (Connection refused)". */
export function errorText(error: ConnectError): string {
  return `${error.errno} (${MESSAGES[error.code] ?? error.code})`;
}
