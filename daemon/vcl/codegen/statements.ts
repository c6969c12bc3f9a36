// Prints the steps of a sub as lines of JavaScript, one statement of the program a line, each with its place there:
// so a failure can name the line of the program without any cost while nothing fails.

import { RETURN } from '../../../protocol/tables/returns.ts';
import { generatedName } from '../check/program-model.ts';
import type { Span } from '../diagnostics.ts';
import { CONTEXT, type Code, constant, helper, type Step, type Steps } from '../typed-program.ts';
import type { ExpressionPrinter } from './expressions.ts';

/** One line of generated code and the place in the program it came from. */
export interface GeneratedLine {
  text: string;
  span: Span | null;
}

/** Else-ifs up to this number are nested in the generated code. */
const FEW_BRANCHES = 8;

type IfStep = Extract<Step, { k: 'if' }>;

/** Prints the steps of one sub. */
export class StatementPrinter {
  readonly lines: GeneratedLine[] = [];
  private readonly expressions: ExpressionPrinter;
  /** Whether a sub that is called is a generator, so that what it yields has to be passed on. */
  private readonly isGenerator: (sub: string) => boolean;

  constructor(expressions: ExpressionPrinter, isGenerator: (sub: string) => boolean) {
    this.expressions = expressions;
    this.isGenerator = isGenerator;
  }

  steps(steps: Steps, indent: string): void {
    this.trace(steps.point, indent);
    for (const step of steps.list) this.step(step, indent);
  }

  private step(step: Step, indent: string): void {
    const { span } = step;
    switch (step.k) {
      case 'do':
        this.checked(indent, this.print(step.code), step.code, span);
        break;
      case 'make':
        this.checked(indent, `${step.name} = ${this.print(step.code)}`, step.code, span);
        break;
      case 'call': {
        const call = `${this.isGenerator(step.sub) ? 'yield* ' : ''}${generatedName('sub', step.sub)}(ctx)`;
        this.line(indent, `if ((r = ${call}) !== 0) return r;`, span);
        break;
      }
      case 'callValue':
        this.checked(indent, `r = ${this.print(step.code)}`, step.code, span);
        this.line(indent, 'if (r !== 0) return r;', span);
        break;
      case 'return':
        this.line(indent, `return ${this.print(step.code)};`, span);
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

  /** A condition of its own line keeps its place in the program: so else-ifs are blocks inside each other, or, when
   * there are too many for that, ifs in a row which one leaves by the label. */
  private branches(step: IfStep, indent: string): void {
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

  /** A condition, or the name of what it came to when it may have failed. */
  private condition(cond: Code, indent: string, span: Span): string {
    if (!cond.mayFail) return this.print(cond);
    const name = `c${this.lines.length}`;
    this.line(indent, `const ${name} = ${this.print(cond)};`, span);
    this.wayOut(indent, span);
    return name;
  }

  /** A statement, and the way out when it may have failed. */
  private checked(indent: string, text: string, code: Code, span: Span): void {
    this.line(indent, `${text};`, span);
    if (code.mayFail) this.wayOut(indent, span);
  }

  private wayOut(indent: string, span: Span): void {
    this.line(indent, `if (ctx.failure !== null) return ${RETURN.fail};`, span);
  }

  /** The record that the program came by, while such records are wanted. */
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
