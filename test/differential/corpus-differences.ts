// Where proxyd is meant to differ from Varnish's daemon in a corpus program: the program, the lines that
// differ, and why. A line is dropped on both sides before they are compared, so a pattern names as little as
// it can.

export interface CorpusDifference {
  reason: string;
  /** Lines of any part that are left out. */
  lines: RegExp;
}

export const CORPUS_DIFFERENCES: Readonly<Record<string, readonly CorpusDifference[]>> = {
  'restart-404': [
    {
      reason:
        'a restart from vcl_deliver leaves a passed answer that is still coming: Varnish may break it off or not, as it happens; here it is read to its end',
      lines: /^-+ (BackendClose FD (primary|archive)|Length |BereqAcct )/,
    },
  ],
};
