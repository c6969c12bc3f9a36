// Where proxyd is meant to differ from the field's daemon, case by case: the reason, and what it does
// instead. A part that is not named must be the same; 'any' leaves a part unchecked.

export interface Difference {
  reason: string;
  client?: string[] | 'any';
  origin?: string[] | 'any';
  log?: string[] | 'any';
}

export const KNOWN_DIFFERENCES: Record<string, Difference> = {};
