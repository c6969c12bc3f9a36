// The limits of programs that the compiler holds to, with the errors that name them.

interface LimitRow {
  readonly value: number;
  readonly help: string;
}

export const LIMITS = {
  /** Chosen; the code of an expression is nested as deeply as its source. */
  expressionDepth: { value: 200, help: 'Levels of parentheses and calls in an expression.' },
  /** Chosen, for the same reason: a sum is as deep as it is long. */
  expressionOperators: { value: 800, help: 'Operators in a statement, without && and ||.' },
  /** Chosen: a generated function is nested as deeply as its source. */
  blockDepth: { value: 100, help: 'Levels of blocks in a sub.' },
  /** Chosen. */
  files: { value: 1000, help: 'Files of a program, with all includes.' },
  /** Varnish's. */
  headerName: { value: 126, help: 'Characters in the name of a header.' },
  /** Varnish's. */
  integerDigits: { value: 15, help: 'Digits of an INT.' },
  /** Varnish's. */
  realDigits: { value: 12, help: 'Digits of a REAL before its point.' },
  /** Varnish's. */
  realDecimals: { value: 3, help: 'Digits of a REAL after its point.' },
  /** Chosen: some milliseconds of work. */
  steps: { value: 1_000_000, help: 'Statements that one run of a state could execute, all calls included.' },
  /** Chosen: the stack has to hold them. */
  callDepth: { value: 500, help: 'Levels of calls.' },
  /** What the platform's socket addresses take. */
  socketPath: { value: 107, help: 'Characters in the path of a Unix socket.' },
  /** Bits of the bitmap in which polls are kept. */
  probeWindow: { value: 64, help: 'Polls in the window of a probe.' },
} as const satisfies Readonly<Record<string, LimitRow>>;
