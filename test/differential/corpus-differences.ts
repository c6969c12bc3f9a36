// Where proxyd is meant to differ from the field's daemon in a corpus program: the program, the lines that
// differ, and why. A line is dropped on both sides before they are compared, so a pattern names as little as
// it can.

export interface CorpusDifference {
  reason: string;
  /** Lines of any part that are left out. */
  lines: RegExp;
}

export const CORPUS_DIFFERENCES: Readonly<Record<string, readonly CorpusDifference[]>> = {};
