// The checker's result: a tree of steps and code, which codegen/ prints and no other module reads as text. Each node
// of code carries facts determined when it is created: whether it may fail the task and still return a value, and
// whether its result may be asynchronous.

import type { Span } from './diagnostics.ts';
import type { HelperName } from './runtime/table.ts';

interface Facts {
  readonly mayFail: boolean;
  readonly waits: boolean;
}

export type Constant = string | number | boolean | null;

/** Tables passed to a loaded program: backends, functions, constructors, methods, private data, extensions. */
export type Table = 'B' | 'E' | 'M' | 'N' | 'P' | 'X';

export type BinaryOperator =
  | '&&'
  | '||'
  | '==='
  | '!=='
  | '<'
  | '>'
  | '<='
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%';

export type Code = Facts &
  (
    | { readonly k: 'constant'; readonly value: Constant }
    /** An omitted argument. */
    | { readonly k: 'absent' }
    | { readonly k: 'context' }
    /** A name that the prologue declares. */
    | { readonly k: 'name'; readonly name: string }
    /** Data of a declaration, as JSON. */
    | { readonly k: 'data'; readonly value: object }
    | { readonly k: 'helper'; readonly helper: HelperName; readonly args: readonly Code[] }
    | { readonly k: 'lookup'; readonly table: Table; readonly keys: readonly Constant[] }
    /** A call of a function bound in the prologue. */
    | {
        readonly k: 'call';
        readonly name: string;
        readonly args: readonly Code[];
        readonly answersLater: boolean;
      }
    | { readonly k: 'group' | 'not' | 'negate'; readonly value: Code }
    /** Always true; the value is still evaluated. */
    | { readonly k: 'always'; readonly value: Code }
    | { readonly k: 'otherwise'; readonly value: Code; readonly absent: string }
    | { readonly k: 'binary'; readonly op: BinaryOperator; readonly left: Code; readonly right: Code }
    | { readonly k: 'join'; readonly parts: readonly Code[] }
  );

const PLAIN: Facts = { mayFail: false, waits: false };

/** A list, because the number of arguments is limited. */
function of(parts: readonly Code[]): Facts {
  return { mayFail: parts.some((p) => p.mayFail), waits: parts.some((p) => p.waits) };
}

export const CONTEXT: Code = { k: 'context', ...PLAIN };
export const ABSENT: Code = { k: 'absent', ...PLAIN };

export function constant(value: Constant): Code {
  return { k: 'constant', value, ...PLAIN };
}

export function named(name: string): Code & { k: 'name' } {
  return { k: 'name', name, ...PLAIN };
}

export function data(value: object): Code {
  return { k: 'data', value, ...PLAIN };
}

export function helper(name: HelperName, ...args: readonly Code[]): Code {
  const facts = of(args);
  return { k: 'helper', helper: name, args, ...facts, mayFail: facts.mayFail || SOFT_FAILING.has(name) };
}

export function lookup(table: Table, ...keys: readonly Constant[]): Code {
  return { k: 'lookup', table, keys, ...PLAIN };
}

/** A call of an extension; any may fail. */
export function extensionCall(name: string, args: readonly Code[], answersLater = false): Code {
  const waits = answersLater || of(args).waits;
  return { k: 'call', name, args, answersLater, mayFail: true, waits };
}

export function wrap(k: 'group' | 'not' | 'negate' | 'always', value: Code): Code {
  return { k, value, ...of([value]) };
}

export function otherwise(value: Code, absent: string): Code {
  return { k: 'otherwise', value, absent, ...of([value]) };
}

export function binary(left: Code, op: BinaryOperator, right: Code): Code {
  return { k: 'binary', op, left, right, ...of([left, right]) };
}

export function join(parts: readonly Code[]): Code {
  return { k: 'join', parts, ...of(parts) };
}

/** The value of a constant number, including parentheses and signs; null if it is none. */
export function constantNumber(code: Code): number | null {
  switch (code.k) {
    case 'constant':
      return typeof code.value === 'number' ? code.value : null;
    case 'group':
      return constantNumber(code.value);
    case 'negate': {
      const value = constantNumber(code.value);
      return value === null ? null : -value;
    }
    default:
      return null;
  }
}

export type Step =
  | { readonly k: 'do'; readonly code: Code; readonly span: Span }
  /** `new`: the object that a constructor makes gets its name. */
  | { readonly k: 'make'; readonly name: string; readonly code: Code; readonly span: Span }
  | { readonly k: 'call'; readonly sub: string; readonly span: Span }
  /** Calls the sub returned by an expression. */
  | { readonly k: 'callValue'; readonly code: Code; readonly span: Span }
  | { readonly k: 'return'; readonly code: Code; readonly span: Span }
  | { readonly k: 'block'; readonly body: Steps; readonly span: Span }
  | {
      readonly k: 'if';
      readonly branches: readonly { readonly cond: Code; readonly span: Span; readonly body: Steps }[];
      readonly otherwise: Steps | null;
      /** Text of the VCL_trace record after it. */
      readonly point: string | undefined;
      readonly span: Span;
    };

export interface Steps {
  /** Text of the block's VCL_trace record. */
  readonly point: string | undefined;
  readonly list: readonly Step[];
}

/** All code in steps, nested ones included. */
export function* codesOf(steps: Steps): Generator<Code> {
  for (const step of steps.list) {
    if (step.k === 'block') yield* codesOf(step.body);
    else if (step.k === 'if') {
      for (const branch of step.branches) {
        yield branch.cond;
        yield* codesOf(branch.body);
      }
      if (step.otherwise !== null) yield* codesOf(step.otherwise);
    } else if (step.k !== 'call') yield step.code;
  }
}

/** Number of statements and conditions. */
export function countSteps(steps: Steps): number {
  let n = 0;
  for (const step of steps.list) {
    n++;
    if (step.k === 'block') n += countSteps(step.body);
    if (step.k !== 'if') continue;
    for (const branch of step.branches) n += 1 + countSteps(branch.body);
    if (step.otherwise !== null) n += countSteps(step.otherwise);
  }
  return n;
}

// Helpers that may fail the task (softFail of failure.ts) and still return a value, so that generated code checks for
// a failure after the statement. The others throw, or cannot fail.

export const SOFT_FAILING: ReadonlySet<HelperName> = new Set<HelperName>([
  'set_resp_status',
  'set_beresp_status',
  'get_resp_do_esi',
  'set_resp_do_esi',
  'get_beresp_do_esi',
  'set_beresp_do_esi',
  'get_beresp_do_gzip',
  'set_beresp_do_gzip',
  'get_beresp_do_gunzip',
  'set_beresp_do_gunzip',
  'set_req_filters',
]);
