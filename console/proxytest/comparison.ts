// `expect LEFT OPERATOR RIGHT`, for all actors that have something to compare.

import { compileRegex, RegexError } from '../../queries/regex/bounded-regex.ts';
import type { Actor } from './actor.ts';
import { readInteger, readNumber, type Words } from './script.ts';

const INTEGERS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '-lt': (a, b) => a < b,
  '-le': (a, b) => a <= b,
  '-eq': (a, b) => a === b,
  '-ne': (a, b) => a !== b,
  '-ge': (a, b) => a >= b,
  '-gt': (a, b) => a > b,
};
const NUMBERS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
};
const UNDEFINED = '<undef>';

/** Whether a text matches an expression as PCRE has it; `actor` fails on a wrong one. */
export function matches(actor: Actor, pattern: string, text: string): boolean {
  try {
    // Tests may search long bodies: no limit of steps but a generous one.
    return compileRegex(pattern).exec(text) !== null;
  } catch (cause) {
    if (cause instanceof RegexError) actor.fail(`regexp error: ${cause.message} (${pattern})`);
    throw cause;
  }
}

/** @param resolve what a word stands for: null is undefined, and other words are themselves */
export function expect(actor: Actor, words: Words, resolve: (word: string) => string | null): void {
  if (words.left !== 3) actor.fail('expect takes three words: LEFT OPERATOR RIGHT');
  const [left, operator, right] = [words.take('left'), words.take('operator'), words.take('right')];
  const values = [resolve(left), resolve(right)];
  const [a, b] = values.map((value) => (value === null ? UNDEFINED : (value.split('\0', 1)[0] as string)));
  const lhs = a as string;
  const rhs = b as string;
  const isUndefined = values.includes(null);
  const integers = INTEGERS[operator];
  const numbers = NUMBERS[operator];
  let holds: boolean;
  if (operator === '==') holds = lhs === rhs;
  else if (operator === '!=') holds = lhs !== rhs;
  else if (operator === '~') holds = matches(actor, rhs, lhs);
  else if (operator === '!~') holds = !matches(actor, rhs, lhs);
  else if (integers !== undefined) holds = integers(readInteger(lhs), readInteger(rhs));
  else if (numbers !== undefined) holds = !isUndefined && numbers(readNumber(lhs), readNumber(rhs));
  else actor.fail(`EXPECT ${left} ${operator} ${right}: unknown operator`);
  const text = `EXPECT ${left} (${lhs.slice(0, 200)}) ${operator} "${rhs.slice(0, 200)}"`;
  if (!holds) actor.fail(`${text} failed`);
  actor.log(4, `${text} match`);
}
