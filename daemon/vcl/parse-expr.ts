// Parser of expressions, with Varnish's precedence: || under && under ! under one comparison under + - under * / %.
// Comparisons do not chain (`a > 0 == true` is an error), and `!` applies to a whole one.

import type { Arg, BinaryOp, Expr, PathExpr, PathPart } from './ast.ts';
import { nearest, type Span } from './diagnostics.ts';
import { MESSAGES } from './error-texts.ts';
import { NEEDED, operator, type Place, tokenHint } from './hints.ts';
import { spanOf, type Token, type TokenKind } from './lexer.ts';
import { LIMITS } from './tables/language.ts';
import { symbols } from './tables/operator-rows.ts';
import type { TokenStream } from './token-stream.ts';

const COMPARE = symbols('comparison');

function join(a: Span, b: Span): Span {
  return b.file === a.file && b.end > a.start ? { file: a.file, start: a.start, end: b.end } : a;
}

export class ExprParser {
  protected readonly ts: TokenStream;
  #depth = 0;
  /** Number of operators in the current statement. */
  #operators = 0;

  constructor(ts: TokenStream) {
    this.ts = ts;
  }

  protected at(kind: TokenKind, text: string): boolean {
    const t = this.ts.peek();
    return t.kind === kind && t.text === text;
  }

  protected expected(what: string, got: Token, place: Place = 'other'): never {
    const text = got.kind === 'eof' ? 'the end of the file' : `'${got.text}'`;
    const hint = tokenHint(what, this.ts.last(), got, place);
    this.ts.reporter.fail(MESSAGES.expected(what, text), spanOf(got), hint);
  }

  /** @param place `value` after an expression */
  protected op(text: string, place: Place = 'other'): Token {
    const t = this.ts.peek();
    if (t.kind !== 'op' || t.text !== text) this.expected(operator(text), t, place);
    return this.ts.next();
  }

  protected name(what: string): PathPart {
    const t = this.ts.peek();
    if (t.kind !== 'id') this.expected(what, t);
    this.ts.next();
    return { text: t.text, quoted: false, span: spanOf(t) };
  }

  protected suggestion(word: string, known: Iterable<string>): string | undefined {
    const near = nearest(word, known);
    return near === null ? undefined : `Did you mean '${near}'?`;
  }

  protected path(): PathExpr {
    const parts = [this.name('a name')];
    while (this.at('op', '.')) {
      this.ts.next();
      const t = this.ts.peek();
      if (t.kind === 'string') {
        this.ts.next();
        parts.push({ text: t.value, quoted: true, span: spanOf(t) });
      } else {
        parts.push(this.name(NEEDED.afterDot));
      }
    }
    const first = parts[0] as PathPart;
    return { k: 'path', parts, span: join(first.span, (parts.at(-1) as PathPart).span) };
  }

  protected args(trailingComma = true): Arg[] {
    const out: Arg[] = [];
    this.op('(');
    while (!this.at('op', ')')) {
      const t = this.ts.peek();
      const eq = this.ts.peek(1);
      if (t.kind === 'id' && eq.kind === 'op' && eq.text === '=') {
        this.ts.next();
        this.ts.next();
        out.push({ name: t.text, nameSpan: spanOf(t), value: this.expr() });
      } else {
        out.push({ name: null, nameSpan: null, value: this.expr() });
      }
      if (!this.at('op', ',')) break;
      const comma = this.ts.next();
      if (trailingComma || !this.at('op', ')')) continue;
      this.ts.reporter.fail(MESSAGES.argumentAfterComma(), spanOf(comma));
    }
    this.op(')', 'value');
    return out;
  }

  expr(): Expr {
    if (this.#depth === 0) this.#operators = 0;
    this.deeper();
    const value = this.chain('||', () => this.chain('&&', () => this.not()));
    this.#depth--;
    return value;
  }

  private deeper(): void {
    if (++this.#depth <= LIMITS.expressionDepth.value) return;
    this.#depth = 0;
    this.ts.reporter.fail(MESSAGES.deepExpression(), spanOf(this.ts.peek()));
  }

  /** `a || b || c ...`: a balanced tree, because such lists can be long. */
  private chain(op: BinaryOp, part: () => Expr): Expr {
    const parts = [part()];
    const spans: Span[] = [];
    while (this.at('op', op)) {
      spans.push(spanOf(this.ts.next()));
      parts.push(part());
    }
    const tree = (from: number, to: number): Expr => {
      if (to - from === 1) return parts[from] as Expr;
      const middle = (from + to + 1) >> 1;
      const left = tree(from, middle);
      const right = tree(middle, to);
      const opSpan = spans[middle - 1] as Span;
      return { k: 'binary', op, left, right, opSpan, span: join(left.span, right.span) };
    };
    return tree(0, parts.length);
  }

  /** @param counts false for an operator that does not chain */
  private binary(left: Expr, right: () => Expr, counts = true): Expr {
    const op = this.ts.next();
    if (counts && ++this.#operators > LIMITS.expressionOperators.value) {
      this.#operators = 0;
      this.ts.reporter.fail(MESSAGES.longExpression(), spanOf(op), 'Take it apart with a variable.');
    }
    const r = right();
    return {
      k: 'binary',
      op: op.text as BinaryOp,
      left,
      right: r,
      opSpan: spanOf(op),
      span: join(left.span, r.span),
    };
  }

  private not(): Expr {
    if (!this.at('op', '!')) return this.compare();
    const op = this.ts.next();
    const value = this.compare();
    return { k: 'not', value, span: join(spanOf(op), value.span) };
  }

  private compare(): Expr {
    const left = this.sum();
    const t = this.ts.peek();
    if (t.kind !== 'op' || !COMPARE.has(t.text)) return left;
    return this.binary(left, () => this.sum(), false);
  }

  private sum(): Expr {
    let left = this.product();
    while (this.at('op', '+') || this.at('op', '-')) left = this.binary(left, () => this.product());
    return left;
  }

  private product(): Expr {
    let left = this.unary();
    while (this.at('op', '*') || this.at('op', '/') || this.at('op', '%')) {
      left = this.binary(left, () => this.unary());
    }
    return left;
  }

  private unary(): Expr {
    if (!this.at('op', '-')) return this.suffixed();
    const op = this.ts.next();
    const value = this.suffixed();
    return { k: 'negate', value, span: join(spanOf(op), value.span) };
  }

  protected suffixed(first?: Expr): Expr {
    let e = first ?? this.primary();
    for (;;) {
      if (this.at('op', '(') && (e.k === 'path' || e.k === 'member')) {
        const open = spanOf(this.ts.peek());
        const args = this.args();
        e = { k: 'call', callee: e, args, open, span: join(e.span, spanOf(this.ts.last())) };
      } else if (this.at('op', '.') && e.k !== 'path') {
        this.ts.next();
        const name = this.name(NEEDED.method);
        e = { k: 'member', object: e, name, span: join(e.span, name.span) };
      } else {
        return e;
      }
    }
  }

  protected primary(): Expr {
    const t = this.ts.peek();
    switch (t.kind) {
      case 'id':
        return this.path();
      case 'string':
        this.ts.next();
        return { k: 'string', value: t.value, span: spanOf(t) };
      case 'blob':
        this.ts.next();
        return { k: 'blob', value: t.value, span: spanOf(t) };
      case 'int':
      case 'real': {
        this.ts.next();
        const u = this.ts.peek();
        const unit = u.kind === 'id' ? this.ts.next() : null;
        return {
          k: 'number',
          real: t.kind === 'real',
          text: t.text,
          unit: unit === null ? null : unit.text,
          unitSpan: unit === null ? null : spanOf(unit),
          span: spanOf(t, unit ?? t),
        };
      }
      case 'op':
        if (t.text === '(') {
          this.ts.next();
          const value = this.expr();
          const close = this.op(')', 'value');
          return { k: 'paren', value, span: spanOf(t, close) };
        }
        if (t.text === '-') {
          // Only in fields of declarations: in expressions unary() handles the sign.
          this.ts.next();
          this.deeper();
          const value = this.primary();
          this.#depth--;
          return { k: 'negate', value, span: join(spanOf(t), value.span) };
        }
    }
    return this.expected(NEEDED.value, t);
  }
}
