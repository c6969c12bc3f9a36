// The system's errors as Varnish's records show them: number and message of the C library. Connecting and
// probing meet these; anything else keeps the number that Node gives it and its name for a message.

import { SYSTEM_TEXTS } from '../../protocol/system-text.ts';

/** `code` is the system's error name (ECONNREFUSED ...), '' when there is none. */
export interface ConnectError {
  readonly code: string;
  /** Positive, as errno(3) has it; 0 when nothing was tried. */
  readonly errno: number;
}

/** Nothing was tried: the address is held down. */
export const NOT_TRIED: ConnectError = { code: '', errno: 0 };

/** A connection attempt that took too long. */
export const TIMED_OUT: ConnectError = { code: 'ETIMEDOUT', errno: 110 };

export function connectError(error: NodeJS.ErrnoException): ConnectError {
  return { code: error.code ?? 'unknown', errno: Math.abs(error.errno ?? 0) };
}

/** "111 (Connection refused)". */
export function errorText(error: ConnectError): string {
  return `${error.errno} (${error.code === '' ? 'Success' : (SYSTEM_TEXTS[error.code] ?? error.code)})`;
}
