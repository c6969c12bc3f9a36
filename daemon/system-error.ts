// The system's errors of connections as Varnish's records show them: number and message of the C library. What is not
// known by name keeps the number that the runtime gives it and its name for a message.
//
// Special case: the runtime reports a reset that comes together with the last bytes as an orderly end. A truncated body
// that ends with its connection would then look complete (SAFETY rule 3); only the kernel still knows.

import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { SYSTEM_TEXTS } from '../protocol/system-text.ts';
import { handleOf } from './runtime-handles.ts';

/** `code` is the system's error name (ECONNREFUSED ...), '' when there is none. */
export interface SystemError {
  readonly code: string;
  /** Positive, as errno(3) has it; 0 when there is none. */
  readonly errno: number;
}

/** Nothing went wrong: the other side ended in an orderly way, or nothing was tried. */
export const NO_ERROR: SystemError = { code: '', errno: 0 };

/** A connection attempt that took too long. */
export const TIMED_OUT: SystemError = { code: 'ETIMEDOUT', errno: 110 };

/** A read that waited too long: what the C library says of one that would have to wait. */
export const NOTHING_CAME: SystemError = { code: 'EAGAIN', errno: 11 };

export const RESET: SystemError = { code: 'ECONNRESET', errno: 104 };

export function systemError(error: NodeJS.ErrnoException): SystemError {
  return { code: error.code ?? 'unknown', errno: Math.abs(error.errno ?? 0) };
}

/** Of the negative number with which a handle of the runtime answers. */
export function handleError(status: number): SystemError {
  return { code: getSystemErrorName(status), errno: -status };
}

/** "Connection refused". */
export function errorMessage(error: SystemError): string {
  return error.code === '' ? 'Success' : (SYSTEM_TEXTS[error.code] ?? error.code);
}

/** "111 (Connection refused)". */
export function errorText(error: SystemError): string {
  return `${error.errno} (${errorMessage(error)})`;
}

const SPARE = new Uint8Array(1);

/**
 * What is behind the end of a connection's input: NO_ERROR, or the error that the runtime did not come to.
 * @param fd descriptor of the open connection whose end has just been reported; negative where there is none
 */
export function behindEnd(fd: number): SystemError {
  if (fd < 0) return NO_ERROR;
  try {
    // After an orderly end there is nothing to read, a reset that follows it included.
    readSync(fd, SPARE, 0, 1, null);
    return NO_ERROR;
  } catch (error) {
    return systemError(error as NodeJS.ErrnoException);
  }
}

/** Descriptor of a socket, which the published interface does not have; -1 when it is closed. */
export function socketDescriptor(socket: Socket): number {
  return handleOf(socket)?.fd ?? -1;
}
