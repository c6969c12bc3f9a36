// SUB values: subs that a program passes to extensions, or calls by an expression. Their call sites are unknown to
// the compiler, so each carries the states in which its content is legal.

import type { VclContext } from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';
import type { ReturnCode } from '../../contract/program.ts';

/** Thrown through an extension if the sub it called returned an action: the state ends with it. */
export class SubReturned extends Error {
  readonly code: ReturnCode;

  constructor(code: ReturnCode) {
    super('a sub that an extension called has ended the state');
    this.name = 'SubReturned';
    this.code = code;
  }
}

export class SubValue {
  readonly name: string;
  /** States in which it may be called: bits in the order of STATES. */
  readonly #states: number;
  readonly #run: (ctx: VclContext) => ReturnCode;
  #running = false;

  constructor(name: string, states: number, run: (ctx: VclContext) => ReturnCode) {
    this.name = name;
    this.#states = states;
    this.#run = run;
  }

  /** Null, or the reason why the sub cannot be called now. */
  refusal(ctx: VclContext): string | null {
    if ((this.#states & (1 << ctx.state)) === 0) {
      return `call to "sub ${this.name}{}" not allowed from here`;
    }
    return this.#running ? `Recursive call to "sub ${this.name}{}"` : null;
  }

  /** Runs the sub: 0, or the action it returned. */
  run(ctx: VclContext): ReturnCode {
    const refusal = this.refusal(ctx);
    if (refusal !== null) throw new VclFailure(refusal);
    this.#running = true;
    try {
      return this.#run(ctx);
    } finally {
      this.#running = false;
    }
  }

  /** For tests of programs: runs it wherever it may be legal. */
  runAnywhere(ctx: VclContext): ReturnCode {
    return this.#run(ctx);
  }

  /** For extensions: an action returned by the sub ends the state. */
  call(ctx: VclContext): void {
    const code = this.run(ctx);
    if (code !== 0) throw new SubReturned(code);
  }
}

export function subValue(name: string, states: number, run: (ctx: VclContext) => ReturnCode): SubValue {
  return new SubValue(name, states, run);
}

/** `call expression;` */
export function callSub(ctx: VclContext, sub: SubValue | null): ReturnCode {
  if (sub === null) throw new VclFailure('Tried to call NULL SUB', true);
  return sub.run(ctx);
}
