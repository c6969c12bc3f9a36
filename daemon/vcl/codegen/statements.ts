// Prints the steps of a sub as lines of JavaScript, one line per statement, each with its position in the program: a
// failure can name the line of the program, at no cost while nothing fails.

import { RETURN } from '../../../protocol/tables/returns.ts';
import { generatedName } from '../check/program-model.ts';
import type { Span } from '../diagnostics.ts';
import { CONTEXT, type Code, constant, countSteps, helper, type Step, type Steps } from '../typed-program.ts';
import type { ExpressionPrinter } from './expressions.ts';
import type { GeneratedFunction, GeneratedLine } from './functions.ts';

/** Else-ifs up to this number are nested in the generated code. */
const FEW_BRANCHES = 8;
/** Number of statements and conditions from which a sub is split into functions. V8 never optimises a function of
 * more than 60 kB of bytecode, some 600 statements, and larger ones later (measured). */
const LONG = 150;
/** Approximate number of them per function. */
const A_FUNCTION = 75;
/** Result of a split-off function for a bare return, which leaves the sub. */
const LEAVE = -1;

type IfStep = Extract<Step, { k: 'if' }>;

/** A sub while it is printed. */
export interface PrintedSub {
  /** Base name of its functions. */
  readonly name: string;
  /** The star of a generator, or ''. */
  readonly star: string;
  /** Whether a called sub is a generator, to which the call must delegate. */
  isGenerator(sub: string): boolean;
  /** The split-off functions. */
  readonly parts: GeneratedFunction[];
  /** Whether it yields after each of them, so that it can be interrupted. */
  readonly pauses: boolean;
}

/** Whether steps are split into functions. */
export function isLong(steps: Steps): boolean {
  return countSteps(steps) >= LONG;
}

/** Prints the steps of one sub. */
export class StatementPrinter {
  readonly lines: GeneratedLine[] = [];
  private readonly expressions: ExpressionPrinter;
  private readonly sub: PrintedSub;
  /** Whether this is a split-off function. */
  private readonly isPart: boolean;

  constructor(expressions: ExpressionPrinter, sub: PrintedSub, isPart = false) {
    this.expressions = expressions;
    this.sub = sub;
    this.isPart = isPart;
  }

  steps(steps: Steps, indent: string): void {
    this.trace(steps.point, indent);
    if (!isLong(steps)) for (const step of steps.list) this.step(step, indent);
    else for (const part of cut(steps.list)) this.apart(part, indent);
  }

  /** Prints steps as a function of their own, and its call. */
  private apart(list: readonly Step[], indent: string): void {
    const { parts, name, star, pauses } = this.sub;
    const part = `part_${name}_${parts.length + 1}`;
    const lines: GeneratedLine[] = [];
    const expressions = this.expressions.another();
    parts.push({ name: part, lines, names: expressions.names });
    const printer = new StatementPrinter(expressions, this.sub, true);
    for (const step of list) printer.step(step, '  ');
    lines.push({ text: `function${star} ${part}(ctx) {`, span: null }, { text: '  let r = 0;', span: null });
    for (const line of printer.lines) lines.push(line);
    lines.push({ text: '  return 0;', span: null }, { text: '}', span: null });
    const left = this.isPart ? 'r' : `r === ${LEAVE} ? 0 : r`;
    this.line(
      indent,
      `if ((r = ${star === '' ? '' : 'yield* '}${this.expressions.name(part)}(ctx)) !== 0) return ${left};`,
      null,
    );
    if (pauses) this.line(indent, 'yield;', null);
  }

  private step(step: Step, indent: string): void {
    const { span } = step;
    switch (step.k) {
      case 'do':
        this.checked(indent, this.print(step.code), step.code, span);
        break;
      case 'make':
        this.checked(
          indent,
          `${this.expressions.name(step.name)} = ${this.print(step.code)}`,
          step.code,
          span,
        );
        break;
      case 'call': {
        const name = this.expressions.name(generatedName('sub', step.sub));
        const call = `${this.sub.isGenerator(step.sub) ? 'yield* ' : ''}${name}(ctx)`;
        this.line(indent, `if ((r = ${call}) !== 0) return r;`, span);
        break;
      }
      case 'callValue':
        this.checked(indent, `r = ${this.print(step.code)}`, step.code, span);
        this.line(indent, 'if (r !== 0) return r;', span);
        break;
      case 'return':
        this.line(indent, `return ${this.returned(step.code)};`, span);
        break;
      case 'block':
        this.line(indent, '{', span);
        this.steps(step.body, `${indent}  `);
        this.line(indent, '}', null);
        break;
      case 'if':
        this.branches(step, indent);
    }
  }

  private returned(code: Code): string {
    const text = this.print(code);
    return text === '0' && this.isPart ? String(LEAVE) : text;
  }

  /** Moves excess else-ifs into another function. */
  private rest(step: IfStep): IfStep {
    const { branches, otherwise, span } = step;
    const first = branches.slice(0, A_FUNCTION);
    const next: IfStep = { k: 'if', branches: branches.slice(A_FUNCTION), otherwise, point: undefined, span };
    return { ...step, branches: first, otherwise: { point: undefined, list: [next] } };
  }

  /** A condition on a line of its own keeps its position in the program: so else-ifs are nested blocks, or, if
   * there are too many, consecutive ifs that are left by a label. */
  private branches(whole: IfStep, indent: string): void {
    const step = whole.branches.length > 2 * A_FUNCTION ? this.rest(whole) : whole;
    const flat = step.branches.length > FEW_BRANCHES;
    const label = `if${this.lines.length}`;
    if (flat) this.line(indent, `${label}: {`, step.span);
    let depth = flat ? 1 : 0;
    step.branches.forEach(({ cond, span, body }, i) => {
      if (i > 0 && !flat) this.line(indent + '  '.repeat(depth++), '} else {', null);
      const inner = indent + '  '.repeat(depth);
      this.line(inner, `if (${this.condition(cond, inner, span)}) {`, span);
      this.steps(body, `${inner}  `);
      if (flat) this.line(inner, `  break ${label}; }`, null);
    });
    if (step.otherwise !== null) {
      const inner = indent + '  '.repeat(depth);
      this.line(inner, flat ? '{' : '} else {', null);
      this.steps(step.otherwise, `${inner}  `);
      if (flat) this.line(inner, '}', null);
    }
    if (flat) depth = 0;
    for (; depth >= 0; depth--) this.line(indent + '  '.repeat(depth), '}', null);
    this.trace(step.point, indent);
  }

  /** A condition, or the name of its result if it may have failed. */
  private condition(cond: Code, indent: string, span: Span): string {
    if (!cond.mayFail) return this.print(cond);
    const name = `c${this.lines.length}`;
    this.line(indent, `const ${name} = ${this.print(cond)};`, span);
    this.wayOut(indent, span);
    return name;
  }

  /** A statement, and the exit if it may have failed. */
  private checked(indent: string, text: string, code: Code, span: Span): void {
    this.line(indent, `${text};`, span);
    if (code.mayFail) this.wayOut(indent, span);
  }

  private wayOut(indent: string, span: Span): void {
    this.line(indent, `if (ctx.failure !== null) return ${RETURN.fail};`, span);
  }

  /** The VCL_trace record, if these are wanted. */
  private trace(point: string | undefined, indent: string): void {
    if (point === undefined) return;
    this.line(indent, `if (ctx.tracing) ${this.print(helper('trace', CONTEXT, constant(point)))};`, null);
  }

  private print(code: Code): string {
    return this.expressions.print(code);
  }

  private line(indent: string, text: string, span: Span | null): void {
    this.lines.push({ text: indent + text, span });
  }
}

/** Steps in groups of about A_FUNCTION statements and conditions. */
function cut(list: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  let group: Step[] = [];
  let count = 0;
  for (const step of list) {
    group.push(step);
    count += countSteps({ point: undefined, list: [step] });
    if (count < A_FUNCTION) continue;
    groups.push(group);
    group = [];
    count = 0;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}
