// Parser of statements: the text between the braces of a sub. Expressions are in parse-expr.ts.
//
// After an error it skips to the end of the statement and continues, so that one run reports all errors.
// Nesting is limited, because a generated function is nested as deeply as its source.

import type { AssignOp, Block, Expr, Statement } from './ast.ts';
import { CompileStop, shownColumn } from './diagnostics.ts';
import { MESSAGES } from './error-texts.ts';
import { isLoop, NEEDED, wordHint } from './hints.ts';
import { spanOf, type Token } from './lexer.ts';
import { ExprParser } from './parse-expr.ts';
import { LIMITS, STATEMENTS } from './tables/language.ts';
import { symbols } from './tables/operator-rows.ts';

const ASSIGN = symbols('assignment');
/** Keywords that begin a statement. */
export const STATEMENT_WORDS: readonly string[] = STATEMENTS.map((row) => row.word);
const ELSE_IF = new Set(['elseif', 'elsif', 'elif']);

export class StatementParser extends ExprParser {
  readonly trace = new TracePoints();

  protected block(depth: number): Block {
    const open = this.op('{');
    if (depth > LIMITS.blockDepth.value) this.ts.reporter.fail(MESSAGES.deepBlocks(), spanOf(open));
    const out: Block = [];
    this.trace.note(out, this.trace.next(this.ts.peek()));
    for (;;) {
      const t = this.ts.peek();
      if (t.kind === 'op' && t.text === '}') break;
      if (t.kind === 'eof') {
        this.ts.reporter.fail(MESSAGES.endInBlock(), spanOf(open), 'This block never ends.');
      }
      try {
        out.push(this.statement(t, depth));
      } catch (e) {
        if (!(e instanceof CompileStop)) throw e;
        this.skipStatement();
      }
    }
    this.ts.next();
    return out;
  }

  private statement(t: Token, depth: number): Statement {
    if (t.kind === 'op' && t.text === '{') {
      return { k: 'block', body: this.block(depth + 1), span: spanOf(t) };
    }
    if (t.kind !== 'id') {
      const hint = t.text === ';' ? "One ';' is enough." : undefined;
      this.ts.reporter.fail(MESSAGES.noStatement(), spanOf(t), hint);
    }
    // Keywords of statements are not case-sensitive, like all symbols; `else` is.
    switch (t.text.toLowerCase()) {
      case 'set':
        return this.setStatement();
      case 'unset': {
        this.ts.next();
        const target = this.path();
        return { k: 'unset', target, span: spanOf(t, this.op(';')) };
      }
      case 'call': {
        this.ts.next();
        const target = this.path();
        if (!this.at('op', '(')) return { k: 'call', target, value: null, span: spanOf(t, this.op(';')) };
        const value = this.suffixed(target);
        return { k: 'call', target, value, span: spanOf(t, this.op(';')) };
      }
      case 'return':
        return this.returnStatement();
      case 'if':
        return this.ifStatement(depth);
      case 'new':
        return this.newStatement();
      default:
        return this.action(t);
    }
  }

  /** A call: the only statement that begins with a name. */
  private action(t: Token): Statement {
    const hint = wordHint(t.text);
    const message = MESSAGES.notHere(t.text);
    const follows = this.ts.peek(1);
    if (isLoop(t.text) && follows.kind === 'op' && (follows.text === '(' || follows.text === '{')) {
      this.ts.reporter.error(message, spanOf(t), hint);
      this.ts.next();
      this.skipParentheses();
      throw new CompileStop();
    }
    const call = this.suffixed();
    if (call.k !== 'call') {
      const { text } = this.ts.peek();
      const assigns = call.k === 'path' && call.parts.length > 1 && ASSIGN.has(text);
      const other = assigns ? 'Write "set" before it.' : (hint ?? this.suggestion(t.text, STATEMENT_WORDS));
      this.ts.reporter.fail(message, call.span, other);
    }
    if (hint !== undefined && this.at('op', '{')) this.ts.reporter.fail(message, spanOf(t), hint);
    return { k: 'action', call, span: spanOf(t, this.op(';')) };
  }

  /** Skips the head of a loop. */
  private skipParentheses(): void {
    let depth = 0;
    do {
      const t = this.ts.peek();
      if (t.kind === 'eof' || t.text === '{' || t.text === '}') return;
      if (t.kind === 'op' && t.text === '(') depth++;
      if (t.kind === 'op' && t.text === ')') depth--;
      this.ts.next();
    } while (depth > 0);
  }

  private setStatement(): Statement {
    const start = this.ts.next();
    const target = this.path();
    const op = this.ts.peek();
    if (op.kind !== 'op' || !ASSIGN.has(op.text)) this.expected(NEEDED.assignment, op);
    this.ts.next();
    const value = this.expr();
    const end = this.op(';', 'value');
    return {
      k: 'set',
      target,
      op: op.text as AssignOp,
      opSpan: spanOf(op),
      value,
      span: spanOf(start, end),
    };
  }

  private newStatement(): Statement {
    const start = this.ts.next();
    const name = this.name('a name for the object');
    this.op('=');
    const value = this.suffixed();
    if (value.k !== 'call') this.ts.reporter.fail(MESSAGES.noConstructor(), value.span);
    return { k: 'new', name, value, span: spanOf(start, this.op(';')) };
  }

  private returnStatement(): Statement {
    const start = this.ts.next();
    if (this.at('op', ';')) {
      return { k: 'return', action: null, args: null, span: spanOf(start, this.ts.next()) };
    }
    this.op('(');
    const action = this.name('a return action');
    const args = this.at('op', '(') ? this.args(false) : null;
    this.op(')');
    return { k: 'return', action, args, span: spanOf(start, this.op(';')) };
  }

  private ifStatement(depth: number): Statement {
    const start = this.ts.next();
    const branches: { cond: Expr; body: Block }[] = [];
    const branch = (): void => {
      this.op('(');
      const cond = this.expr();
      this.op(')', 'value');
      branches.push({ cond, body: this.block(depth + 1) });
    };
    branch();
    let otherwise: Block | null = null;
    for (;;) {
      const t = this.ts.peek();
      if (t.kind !== 'id') break;
      if (ELSE_IF.has(t.text)) {
        this.ts.next();
        branch();
        continue;
      }
      if (t.text !== 'else') break;
      this.ts.next();
      if (this.at('id', 'if')) {
        this.ts.next();
        branch();
        continue;
      }
      otherwise = this.block(depth + 1);
      break;
    }
    const all: Statement = { k: 'if', branches, otherwise, span: spanOf(start) };
    if (otherwise === null) this.trace.note(all, this.trace.next(this.ts.peek()));
    return all;
  }

  /** Skips to the end of a statement with an error: past the next `;` of this level, or before the block's `}`. */
  private skipStatement(): void {
    let depth = 0;
    for (;;) {
      const t = this.ts.peek();
      if (t.kind === 'eof') return;
      if (t.kind === 'op') {
        if (t.text === '{') depth++;
        if (t.text === '}') {
          if (depth === 0) return;
          if (--depth === 0) {
            this.ts.next();
            return;
          }
        }
        if (t.text === ';' && depth === 0) {
          this.ts.next();
          return;
        }
      }
      this.ts.next();
    }
  }
}

// Positions named by VCL_trace records: the first token of every block, and of what follows an `if` without `else`.
// Numbered in parse order, the builtin program after the user's. The parser records them, generated code names them
// while tracing is on; nothing here runs with a request.

export class TracePoints {
  private readonly texts = new Map<Block | Statement, string>();
  private count = 0;

  /** Allocates the next point at a token. */
  next(at: Token): string {
    const { file, start } = spanOf(at);
    const place = file.locate(start);
    const column = shownColumn(file.line(place.line), place.column);
    return `${++this.count} ${file.index}.${place.line}.${column}`;
  }

  note(where: Block | Statement, point: string): void {
    this.texts.set(where, point);
  }

  /** Text of the record after the program's name; undefined if there is no point. */
  of(where: Block | Statement): string | undefined {
    return this.texts.get(where);
  }
}
