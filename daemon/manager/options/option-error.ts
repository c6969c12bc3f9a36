// A command line error: printed as it is, with exit code 2.

export class OptionError extends Error {
  /** Whether to print a hint to the usage text. */
  readonly usage: boolean;
  constructor(message: string, usage = true) {
    super(message);
    this.name = 'OptionError';
    this.usage = usage;
  }
}
