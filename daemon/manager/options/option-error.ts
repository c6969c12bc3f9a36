// A mistake in the command line: printed as it is, with exit code 2.

export class OptionError extends Error {
  /** Whether the hint to the usage text follows. */
  readonly usage: boolean;
  constructor(message: string, usage = true) {
    super(message);
    this.name = 'OptionError';
    this.usage = usage;
  }
}
