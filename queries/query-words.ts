// Words and symbols of the query language, one row each: tokens, checks and proxy-query(7) are derived from them.

export interface OperatorRow {
  text: string;
  /** The kind of token, which decides its operand: a number, a text or an expression. */
  token: 'cmp' | 'eq' | 'ne' | 're';
  help: string;
}

export const OPERATORS = [
  { text: '==', token: 'cmp', help: 'The number is this one.' },
  {
    text: '!=',
    token: 'cmp',
    help: 'The number is another one. A record that is not a number does not match.',
  },
  { text: '<', token: 'cmp', help: 'The number is smaller.' },
  { text: '<=', token: 'cmp', help: 'The number is smaller, or this one.' },
  { text: '>', token: 'cmp', help: 'The number is larger.' },
  { text: '>=', token: 'cmp', help: 'The number is larger, or this one.' },
  { text: 'eq', token: 'eq', help: 'The whole text is this one, in the same case unless `-C` is given.' },
  { text: 'ne', token: 'ne', help: 'The text is another one.' },
  { text: '~', token: 're', help: 'The regular expression matches somewhere in the text.' },
  { text: '!~', token: 're', help: 'The regular expression matches nowhere in the text.' },
] as const satisfies readonly OperatorRow[];

/** Operators that compare numbers. */
export type NumberOp = Extract<(typeof OPERATORS)[number], { token: 'cmp' }>['text'];

/** Operators between comparisons, tightest first. */
export const CONNECTIVES = [
  { text: 'not', help: 'True if the comparison or the bracket after it is false. It cannot be repeated.' },
  { text: 'and', help: 'True if both sides are, each for some record, not necessarily the same one.' },
  { text: 'or', help: 'True if at least one side is.' },
] as const satisfies readonly { text: string; help: string }[];

/** Meaning of a level in curly brackets, by the sign after its number. */
export const LEVELS = [
  { suffix: '', mode: 'exact', help: 'Transactions of level N.' },
  { suffix: '+', mode: 'at-least', help: 'Transactions of level N and of those below it in the tree.' },
  { suffix: '-', mode: 'at-most', help: 'Transactions of level N and of those above it in the tree.' },
] as const satisfies readonly { suffix: string; mode: string; help: string }[];

export type LevelMode = (typeof LEVELS)[number]['mode'];

/** Texts of the operators of one kind. */
export function operatorTexts(token: OperatorRow['token']): string[] {
  return OPERATORS.filter((row) => row.token === token).map((row) => row.text);
}
