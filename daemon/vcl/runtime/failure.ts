// A failure of the config program at run time. Helpers throw it; runState turns it into the return code
// `fail` and a VCL_Error record. It never leaves the runtime.

export class VclFailure extends Error {
  /** Whether the log names the VCL line: for failures whose text the field does not prescribe. */
  readonly located: boolean;

  constructor(message: string, located = false) {
    super(message);
    this.name = 'VclFailure';
    this.located = located;
  }
}

export function vclFail(message: string): never {
  throw new VclFailure(message);
}
