// Traversal of the syntax tree: statements with their enclosing conditions, and their expressions.

import type { Block, Expr, PathExpr, Statement } from '../ast.ts';

/** A statement in its context. */
export interface At {
  statement: Statement;
  block: Block;
  index: number;
  /** Conditions that decide whether it runs, outermost first; including those of earlier branches. */
  guards: readonly Expr[];
}

/** All statements of a block, nested ones included, in source order. */
export function* statements(block: Block, guards: readonly Expr[] = []): Generator<At> {
  for (const [index, statement] of block.entries()) {
    yield { statement, block, index, guards };
    if (statement.k === 'block') yield* statements(statement.body, guards);
    if (statement.k !== 'if') continue;
    const asked = [...guards];
    for (const b of statement.branches) {
      asked.push(b.cond);
      yield* statements(b.body, [...asked]);
    }
    if (statement.otherwise !== null) yield* statements(statement.otherwise, [...asked]);
  }
}

/** A block and its nested blocks, in source order. */
export function* blocks(block: Block): Generator<Block> {
  yield block;
  for (const { statement } of statements(block)) {
    if (statement.k === 'block') yield statement.body;
    if (statement.k !== 'if') continue;
    for (const b of statement.branches) yield b.body;
    if (statement.otherwise !== null) yield statement.otherwise;
  }
}

/** The expressions of a statement itself, not those of nested statements. */
export function ownExpressions(s: Statement): Expr[] {
  switch (s.k) {
    case 'set':
      return [s.target, s.value];
    case 'unset':
      return [s.target];
    case 'call':
      return s.value === null ? [] : [s.value];
    case 'return':
      return (s.args ?? []).map((a) => a.value);
    case 'if':
      return s.branches.map((b) => b.cond);
    case 'new':
      return [s.value];
    case 'action':
      return [s.call];
    case 'block':
      return [];
  }
}

/** An expression and its subexpressions. */
export function* expressions(e: Expr): Generator<Expr> {
  yield e;
  switch (e.k) {
    case 'call':
      yield* expressions(e.callee);
      for (const a of e.args) yield* expressions(a.value);
      return;
    case 'member':
      yield* expressions(e.object);
      return;
    case 'not':
    case 'negate':
    case 'paren':
      yield* expressions(e.value);
      return;
    case 'binary':
      yield* expressions(e.left);
      yield* expressions(e.right);
  }
}

/** Normalised name of a variable or function: headers in lower case. */
export function nameOf(path: PathExpr): string {
  const parts = path.parts.map((p) => p.text);
  if (parts[1] !== 'http') return parts.join('.');
  return [...parts.slice(0, 2), ...parts.slice(2).map((p) => p.toLowerCase())].join('.');
}

/** The variable that an expression consists of, or null. */
export function variable(e: Expr): string | null {
  if (e.k === 'paren') return variable(e.value);
  return e.k === 'path' ? nameOf(e) : null;
}

/** The function that an expression calls, or null. */
export function calledName(e: Expr): string | null {
  return e.k === 'call' && e.callee.k === 'path' ? nameOf(e.callee) : null;
}

/** Whether an expression is a literal zero or false. */
export function isZero(e: Expr): boolean {
  if (e.k === 'paren' || e.k === 'negate') return isZero(e.value);
  if (e.k === 'number') return Number(e.text) === 0;
  return variable(e) === 'false';
}

/** Whether an expression uses a variable, or a method of it; header names in lower case. */
export function usesVariable(e: Expr, name: string): boolean {
  for (const x of expressions(e)) {
    if (x.k !== 'path') continue;
    const asked = nameOf(x).toLowerCase();
    if (asked === name || asked.startsWith(`${name}.`)) return true;
  }
  return false;
}

/** A constant text, or null. */
export function constantText(e: Expr): string | null {
  if (e.k === 'string') return e.value;
  if (e.k === 'paren') return constantText(e.value);
  if (e.k !== 'binary' || e.op !== '+') return null;
  const left = constantText(e.left);
  const right = constantText(e.right);
  return left === null || right === null ? null : left + right;
}

/** Whether two expressions have the same text, apart from whitespace and parentheses. */
export function sameText(a: Expr, b: Expr): boolean {
  return plain(a) === plain(b);
}

function plain(e: Expr): string {
  if (e.k === 'paren') return plain(e.value);
  return e.span.file.text.slice(e.span.start, e.span.end).replace(/\s+/g, ' ').trim();
}
