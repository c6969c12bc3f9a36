// A run-time failure of the config program. Both kinds end in the return code `fail` and a VCL_Error record, and
// neither leaves the runtime: softFail() records the failure and lets the statement finish with a default value, as in
// Varnish's conversions; VclFailure is thrown if there is no value to continue with.

import { Tag } from '../../protocol/tables/tags.ts';
import type { MessageLog } from '../http1/message.ts';

export class VclFailure extends Error {
  /** Whether the log names the VCL line: for failures whose text is not Varnish's. */
  readonly located: boolean;

  constructor(message: string, located = false) {
    super(message);
    this.name = 'VclFailure';
    this.located = located;
  }
}

/** Thrown by extensions to fail the transaction with their own text. */
export class ExtensionError extends VclFailure {
  constructor(message: string) {
    super(message);
    this.name = 'ExtensionError';
  }
}

/** Logs a failure and marks the task; generated code returns `fail` after the statement. */
export function softFail(ctx: { readonly log: MessageLog; failure: string | null }, message: string): void {
  ctx.log.put(Tag.VCL_Error, message);
  if (ctx.failure === null) ctx.failure = message;
}
