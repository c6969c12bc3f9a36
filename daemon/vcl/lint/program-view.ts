// The program for the rules: its declarations, its subs with their parts joined, what each state reaches by calls,
// and where it falls through to the builtin program. Built from the operator's files only.

import type { Block, Declaration, Expr, PathPart } from '../ast.ts';
import type { SourceFile, Span } from '../diagnostics.ts';
import { type At, calledName, expressions, nameOf, ownExpressions, statements } from './walk.ts';

type SubDeclaration = Extract<Declaration, { k: 'sub' }>;

/** A sub; states may be declared in several parts that run one after the other. */
export interface Sub {
  name: string;
  parts: readonly SubDeclaration[];
  /** Name of the first part. */
  at: PathPart;
}

/** A use of a regular expression. */
export interface Match {
  pattern: string;
  /** Position of the pattern. */
  span: Span;
  /** The searched text. */
  subject: Expr;
  /** `~` and `!~`, or the function (regsub, regsuball). */
  by: string;
}

export class ProgramView {
  readonly files: readonly SourceFile[];
  readonly declarations: readonly Declaration[];
  /** Parameter id_header. */
  readonly idHeader: string;
  /** Paths of `include +glob` that begin with a name. */
  readonly looseGlobs: readonly Span[];
  readonly subs = new Map<string, Sub>();
  /** Cached results of endsTask(). */
  private readonly endings = new Map<string, boolean>();

  constructor(
    files: readonly SourceFile[],
    declarations: readonly Declaration[],
    idHeader: string,
    looseGlobs: readonly Span[] = [],
  ) {
    this.files = files;
    this.looseGlobs = looseGlobs;
    this.idHeader = idHeader;
    this.declarations = declarations;
    for (const d of declarations) {
      if (d.k !== 'sub') continue;
      const before = this.subs.get(d.name.text);
      const parts = before === undefined ? [d] : [...before.parts, d];
      this.subs.set(d.name.text, { name: d.name.text, parts, at: before?.at ?? d.name });
    }
  }

  /** Declarations of a kind. */
  all<K extends Declaration['k']>(kind: K): Extract<Declaration, { k: K }>[] {
    return this.declarations.filter((d): d is Extract<Declaration, { k: K }> => d.k === kind);
  }

  /** The sub of a state and all it calls, itself first; empty if the program has none. */
  reach(state: string): Sub[] {
    const out = new Map<string, Sub>();
    const visit = (name: string): void => {
      const sub = this.subs.get(name);
      if (sub === undefined || out.has(name)) return;
      out.set(name, sub);
      for (const { statement } of this.statementsOf(sub)) {
        if (statement.k === 'call' && statement.value === null) visit(nameOf(statement.target));
      }
    };
    visit(`vcl_${state}`);
    return [...out.values()];
  }

  *statementsOf(sub: Sub): Generator<At> {
    for (const part of sub.parts) yield* statements(part.body);
  }

  /** Every statement of the program, or of those that a state reaches. */
  *statements(state?: string): Generator<At> {
    for (const sub of state === undefined ? this.subs.values() : this.reach(state)) {
      yield* this.statementsOf(sub);
    }
  }

  /** Every expression of the program, or of those that a state reaches. */
  *expressions(state?: string): Generator<Expr> {
    for (const { statement } of this.statements(state)) {
      for (const e of ownExpressions(statement)) yield* expressions(e);
    }
  }

  /** Whether a state reaches a use of a variable; a name that ends in a dot is a prefix. */
  mentions(state: string, name: string): boolean {
    for (const e of this.expressions(state)) {
      if (e.k !== 'path') continue;
      const text = nameOf(e);
      if (text === name || text.startsWith(`${name}.`) || (name.endsWith('.') && text.startsWith(name)))
        return true;
    }
    return false;
  }

  /** Regular expressions with constant text. */
  *matches(state?: string): Generator<Match> {
    for (const e of this.expressions(state)) {
      if (e.k === 'binary' && (e.op === '~' || e.op === '!~') && e.right.k === 'string') {
        yield { pattern: e.right.value, span: e.right.span, subject: e.left, by: e.op };
      }
      const name = calledName(e);
      if (e.k !== 'call' || (name !== 'regsub' && name !== 'regsuball')) continue;
      const [subject, pattern] = e.args;
      if (subject === undefined || pattern?.value.k !== 'string') continue;
      yield { pattern: pattern.value.value, span: pattern.value.span, subject: subject.value, by: name };
    }
  }

  /** Whether code after a block is unreachable: every way through it returns. */
  ends(block: Block): boolean {
    return block.some((s) => {
      switch (s.k) {
        case 'return':
          return true;
        case 'block':
          return this.ends(s.body);
        case 'if':
          return (
            s.otherwise !== null && [...s.branches.map((b) => b.body), s.otherwise].every((b) => this.ends(b))
          );
        case 'call':
          return s.value === null && this.endsTask(nameOf(s.target));
        default:
          return false;
      }
    });
  }

  /** Whether a sub never returns to its caller: a bare `return;` does. */
  private endsTask(name: string): boolean {
    const known = this.endings.get(name);
    if (known !== undefined) return known;
    // Prevents endless recursion: a sub that calls itself does not compile anyway.
    this.endings.set(name, false);
    const sub = this.subs.get(name);
    let ends = sub !== undefined;
    if (sub !== undefined) {
      for (const { statement } of this.statementsOf(sub)) {
        if (statement.k === 'return' && statement.action === null) ends = false;
      }
      ends &&= sub.parts.some((p) => this.ends(p.body));
    }
    this.endings.set(name, ends);
    return ends;
  }

  /** Whether a state can fall through to the builtin program. */
  fallsThrough(state: string): boolean {
    const sub = this.subs.get(`vcl_${state}`);
    return sub === undefined || !sub.parts.some((p) => this.ends(p.body));
  }
}
