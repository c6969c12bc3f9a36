// Arithmetic that plain JavaScript operators would get wrong: INT division truncates, and dividing by zero
// fails the task instead of giving infinity.

import { VclFailure } from '../../contract/failure.ts';

export function intDivide(a: number, b: number): number {
  if (b === 0) throw new VclFailure('Division by zero', true);
  return Math.trunc(a / b) + 0;
}

export function intModulo(a: number, b: number): number {
  if (b === 0) throw new VclFailure('Division by zero', true);
  return (a % b) + 0;
}

export function realDivide(a: number, b: number): number {
  if (b === 0) throw new VclFailure('Division by zero', true);
  return a / b;
}
