// Parser of the config language: declarations and statements. Expressions are in parse-expr.ts, the token
// stream with its includes in token-stream.ts.
//
// After an error it skips to the end of the statement or declaration and goes on, so that one run reports
// all of them. Nesting is limited, because a generated function is nested as deeply as its source.

import type { AclEntry, AssignOp, Block, Declaration, Field, PathPart, Statement } from './ast.ts';
import { CompileStop, type Span } from './errors.ts';
import { spanOf, type Token } from './lexer.ts';
import { ExprParser } from './parse-expr.ts';

const DECLARATIONS = ['acl', 'sub', 'backend', 'probe', 'import', 'include', 'vcl'];
const MAX_BRANCHES = 500;
const ASSIGN = new Set(['=', '+=', '-=', '*=', '/=']);
const ELSE_IF = new Set(['elseif', 'elsif', 'elif']);

export class Parser extends ExprParser {
  readonly declarations: Declaration[] = [];

  /** Parses the whole stream. The main file must begin with its `vcl` line. */
  program(needVersion: boolean): void {
    if (needVersion && !this.at('id', 'vcl')) {
      this.ts.reporter.error(
        'no-version',
        'VCL version declaration missing',
        spanOf(this.ts.peek()),
        'Add "vcl 4.1;" as the first line of the file.',
      );
    }
    for (;;) {
      const t = this.ts.peek();
      if (t.kind === 'eof') return;
      try {
        this.declaration(t);
      } catch (e) {
        if (!(e instanceof CompileStop)) throw e;
        this.skipDeclaration();
      }
    }
  }

  private declaration(t: Token): void {
    const word = t.kind === 'id' ? t.text : '';
    switch (word) {
      case 'vcl':
        this.version();
        return;
      case 'include':
        this.ts.include();
        return;
      case 'sub':
        this.sub();
        return;
      case 'backend':
        this.backend();
        return;
      case 'probe':
        this.probe();
        return;
      case 'acl':
        this.acl();
        return;
      case 'import':
        this.importModule();
        return;
      default: {
        const near = this.suggestion(word, DECLARATIONS);
        this.ts.reporter.fail(
          'syntax',
          `Expected one of 'acl', 'sub', 'backend', 'probe', 'import', 'include' or 'vcl', found: '${t.text}'`,
          spanOf(t),
          near,
        );
      }
    }
  }

  private version(): void {
    const start = this.ts.next();
    const v = this.ts.peek();
    if (v.kind !== 'real') this.expected('a version number such as 4.1', v);
    this.ts.next();
    const span = spanOf(start, v);
    if (v.text !== '4.0' && v.text !== '4.1') {
      this.ts.reporter.fail(
        'version',
        `VCL version ${v.text} not supported.`,
        span,
        'Versions 4.0 and 4.1 are.',
      );
    }
    const syntax = v.text === '4.0' ? 40 : 41;
    if (this.ts.topSyntax === 0) {
      this.ts.topSyntax = syntax;
    } else if (syntax > this.ts.topSyntax) {
      this.ts.reporter.fail(
        'version',
        `VCL version ${v.text} higher than the top level version 4.${this.ts.topSyntax - 40}`,
        span,
      );
    }
    v.file.syntax = syntax;
    this.op(';');
  }

  private importModule(): void {
    const start = this.ts.next();
    const module = this.name('a module name');
    let as: PathPart | null = null;
    if (this.at('id', 'as')) {
      this.ts.next();
      as = this.name('a name');
    }
    let from: string | null = null;
    if (this.at('id', 'from')) {
      this.ts.next();
      const path = this.ts.peek();
      if (path.kind !== 'string') this.expected('a path in quotes', path);
      from = this.ts.next().value;
    }
    const end = this.op(';');
    this.declarations.push({ k: 'import', module, as, from, span: spanOf(start, end) });
  }

  private backend(): void {
    const start = this.ts.next();
    const name = this.name('the name of a backend');
    if (this.at('id', 'none')) {
      this.ts.next();
      const end = this.op(';');
      this.declarations.push({ k: 'backend', name, none: true, fields: [], span: spanOf(start, end) });
      return;
    }
    const fields = this.fields();
    this.declarations.push({ k: 'backend', name, none: false, fields, span: spanOf(start) });
  }

  private probe(): void {
    const start = this.ts.next();
    const name = this.name('the name of a probe');
    this.declarations.push({ k: 'probe', name, fields: this.fields(), span: spanOf(start) });
  }

  /** `{ .name = value; … }`; a value is expressions side by side, or a body for an inline probe. */
  private fields(): Field[] {
    const out: Field[] = [];
    this.op('{');
    while (!this.at('op', '}')) {
      const dot = this.op('.');
      const id = this.name('a field name');
      this.op('=');
      let body: Field[] | null = null;
      const values: Field['values'] = [];
      if (this.at('op', '{')) {
        body = this.fields();
      } else {
        do values.push(this.primary());
        while (!this.at('op', ';') && this.ts.peek().kind === 'string');
        this.op(';');
      }
      out.push({ name: id.text, nameSpan: id.span, values, body, span: { ...id.span, start: dot.start } });
    }
    this.op('}');
    return out;
  }

  private acl(): void {
    const start = this.ts.next();
    const name = this.name('the name of an acl');
    const flags: { on: boolean; name: string; span: Span }[] = [];
    while (this.at('op', '+') || this.at('op', '-')) {
      const sign = this.ts.next();
      const flag = this.name('an acl flag');
      flags.push({ on: sign.text === '+', name: flag.text, span: flag.span });
    }
    const entries: AclEntry[] = [];
    this.op('{');
    while (!this.at('op', '}')) entries.push(this.aclEntry());
    this.op('}');
    this.declarations.push({ k: 'acl', name, flags, entries, span: spanOf(start) });
  }

  private aclEntry(): AclEntry {
    let negate = false;
    if (this.at('op', '!')) {
      this.ts.next();
      negate = true;
    }
    const optional = this.at('op', '(');
    if (optional) this.ts.next();
    if (optional && this.at('op', '!')) {
      this.ts.next();
      negate = true;
    }
    const host = this.ts.peek();
    if (host.kind !== 'string') this.expected('an address or host name in quotes', host);
    this.ts.next();
    let mask: AclEntry['mask'] = null;
    const takeMask = (): void => {
      if (!this.at('op', '/')) return;
      this.ts.next();
      const m = this.ts.peek();
      if (m.kind !== 'int') this.expected('the number of mask bits', m);
      this.ts.next();
      mask = { text: m.text, span: spanOf(m) };
    };
    takeMask();
    if (optional) {
      this.op(')');
    }
    this.op(';');
    return { negate, optional, host: host.value, mask, span: spanOf(host) };
  }

  private sub(): void {
    const start = this.ts.next();
    const name = this.path();
    const first = name.parts[0] as PathPart;
    if (name.parts.length > 1) {
      const full = name.parts.map((p) => p.text).join('.');
      this.ts.reporter.fail(
        'name',
        `Name of subroutine, '${full}', contains illegal character '.'`,
        name.span,
      );
    }
    const body = this.block(0);
    const end = spanOf(this.ts.last());
    this.declarations.push({ k: 'sub', name: first, body, span: spanOf(start), end });
  }

  private block(depth: number): Block {
    const open = this.op('{');
    if (depth > 100) this.ts.reporter.fail('nesting', 'Blocks nested too deeply', spanOf(open));
    const out: Block = [];
    for (;;) {
      const t = this.ts.peek();
      if (t.kind === 'op' && t.text === '}') break;
      if (t.kind === 'eof') {
        this.ts.reporter.fail(
          'syntax',
          "End of input while looking for '}'",
          spanOf(open),
          'This block never ends.',
        );
      }
      try {
        const s = this.statement(t, depth);
        if (s !== null) out.push(s);
      } catch (e) {
        if (!(e instanceof CompileStop)) throw e;
        this.skipStatement();
      }
    }
    this.ts.next();
    return out;
  }

  private statement(t: Token, depth: number): Statement | null {
    if (t.kind === 'op' && t.text === '{') {
      return { k: 'block', body: this.block(depth + 1), span: spanOf(t) };
    }
    if (t.kind !== 'id') {
      this.ts.reporter.fail('syntax', "Expected an action, 'if', '{' or '}'", spanOf(t));
    }
    switch (t.text) {
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
      case 'include':
        this.ts.include();
        return null;
      default: {
        const call = this.suffixed();
        if (call.k !== 'call') {
          const near = this.suggestion(t.text, [
            'set',
            'unset',
            'call',
            'return',
            'if',
            'new',
            'else',
            'elseif',
          ]);
          this.ts.reporter.fail('syntax', `Symbol cannot be used here: '${t.text}'`, call.span, near);
        }
        return { k: 'action', call, span: spanOf(t, this.op(';')) };
      }
    }
  }

  private setStatement(): Statement {
    const start = this.ts.next();
    const target = this.path();
    const op = this.ts.peek();
    if (op.kind !== 'op' || !ASSIGN.has(op.text)) this.expected("'=' or another assignment", op);
    this.ts.next();
    const value = this.expr();
    const end = this.op(';');
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
    if (value.k !== 'call')
      this.ts.reporter.fail('syntax', 'Expected the constructor of an object', value.span);
    return { k: 'new', name, value, span: spanOf(start, this.op(';')) };
  }

  private returnStatement(): Statement {
    const start = this.ts.next();
    if (this.at('op', ';')) {
      return { k: 'return', action: null, args: null, span: spanOf(start, this.ts.next()) };
    }
    this.op('(');
    const action = this.name('a return action');
    const args = this.at('op', '(') ? this.args() : null;
    this.op(')');
    return { k: 'return', action, args, span: spanOf(start, this.op(';')) };
  }

  private ifStatement(depth: number): Statement {
    const start = this.ts.next();
    const branches: { cond: ReturnType<Parser['expr']>; body: Block }[] = [];
    const branch = (): void => {
      this.op('(');
      const cond = this.expr();
      this.op(')');
      branches.push({ cond, body: this.block(depth + 1) });
      if (branches.length > MAX_BRANCHES) {
        this.ts.reporter.fail('nesting', 'Too many branches of one if', spanOf(start));
      }
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
    return { k: 'if', branches, otherwise, span: spanOf(start) };
  }

  /** To the end of a broken statement: past the next `;` of this level, or before the block's `}`. */
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

  /** To the next thing that looks like a declaration, outside all braces. */
  private skipDeclaration(): void {
    let depth = 0;
    let first = true;
    for (;;) {
      const t = this.ts.peek();
      if (t.kind === 'eof') return;
      if (t.kind === 'op' && t.text === '{') depth++;
      if (t.kind === 'op' && t.text === '}') depth = Math.max(0, depth - 1);
      if (!first && depth === 0 && t.kind === 'id' && t.file === this.ts.last().file) {
        if (DECLARATIONS.includes(t.text) && startsLine(t)) return;
      }
      if (t.kind === 'op' && t.text === ';' && depth === 0) {
        this.ts.next();
        return;
      }
      first = false;
      this.ts.next();
    }
  }
}

function startsLine(t: Token): boolean {
  const nl = t.file.text.lastIndexOf('\n', t.start - 1);
  return t.file.text.slice(nl + 1, t.start).trim() === '';
}
