// System errors of connections in the format of Varnish's records: number and message of the C library. Unknown errors
// keep the runtime's number, and its name as the message.
//
// Special case: the runtime reports a reset that arrives together with the last bytes as a regular end of input. A
// truncated body without a length would then look complete (SAFETY rule 3); only the kernel still knows.

import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { SYSTEM_TEXTS } from '../protocol/system-text.ts';
import { handleOf } from './runtime-handles.ts';

/** `code` is the system's error name (ECONNREFUSED ...), '' for none. */
export interface SystemError {
  readonly code: string;
  /** Positive, as in errno(3); 0 for none. */
  readonly errno: number;
  /** The whole text of an error that is not of the system's: TLS. */
  readonly words?: string;
}

/** No error: a regular end of input, or nothing was attempted. */
export const NO_ERROR: SystemError = { code: '', errno: 0 };

/** A connection attempt timed out. */
export const TIMED_OUT: SystemError = { code: 'ETIMEDOUT', errno: 110 };

/** A read timed out: the C library's error for a read that would block. */
export const NOTHING_CAME: SystemError = { code: 'EAGAIN', errno: 11 };

export const RESET: SystemError = { code: 'ECONNRESET', errno: 104 };

export function systemError(error: NodeJS.ErrnoException): SystemError {
  return { code: error.code ?? 'unknown', errno: Math.abs(error.errno ?? 0) };
}

/** From a negative errno of a runtime handle. */
export function handleError(status: number): SystemError {
  return { code: getSystemErrorName(status), errno: -status };
}

/** "Connection refused". */
export function errorMessage(error: SystemError): string {
  return error.words ?? (error.code === '' ? 'Success' : (SYSTEM_TEXTS[error.code] ?? error.code));
}

/** "111 (Connection refused)". */
export function errorText(error: SystemError): string {
  return error.words ?? `${error.errno} (${errorMessage(error)})`;
}

const SPARE = new Uint8Array(1);

/**
 * The actual reason of an end of input: NO_ERROR, or the error that the runtime did not report.
 * @param fd descriptor of the open connection whose end was just reported; negative if there is none
 */
export function errorAtEnd(fd: number): SystemError {
  if (fd < 0) return NO_ERROR;
  try {
    // After a regular end there is nothing to read, even if a reset follows.
    readSync(fd, SPARE, 0, 1, null);
    return NO_ERROR;
  } catch (error) {
    return systemError(error as NodeJS.ErrnoException);
  }
}

/** Descriptor of a socket, from its private handle; -1 if it is closed. */
export function socketDescriptor(socket: Socket): number {
  return handleOf(socket)?.fd ?? -1;
}
