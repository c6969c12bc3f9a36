// Parser of VCL: declarations. Statements are in parse-statement.ts, the tokens with their
// includes in token-stream.ts.
//
// After an error it skips to the next declaration and continues, so that one run reports all errors.

import type { AclEntry, AclFlag, Declaration, Field, PathPart } from './ast.ts';
import { CompileStop } from './diagnostics.ts';
import { MESSAGES } from './error-texts.ts';
import { declarationHint } from './hints.ts';
import { spanOf, type Token } from './lexer.ts';
import { StatementParser } from './parse-statement.ts';
import { DECLARATIONS } from './tables/language.ts';

const WORDS = DECLARATIONS.map((row) => row.word);

export class Parser extends StatementParser {
  readonly declarations: Declaration[] = [];

  /** Parses the whole stream. The main file must begin with its `vcl` line. */
  program(needVersion: boolean): void {
    if (needVersion && !this.at('id', 'vcl')) {
      this.ts.reporter.error(
        MESSAGES.noVersion(),
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
      case 'unused':
        this.unused();
        return;
      default: {
        const near = declarationHint(word) ?? this.suggestion(word, WORDS);
        this.ts.reporter.fail(MESSAGES.noDeclaration(t.text), spanOf(t), near);
      }
    }
  }

  /** The main file's version applies to all files; others may not require a higher one. */
  private version(): void {
    const start = this.ts.next();
    const v = this.ts.peek();
    if (v.kind !== 'real') this.expected('a version number such as 4.1', v);
    this.ts.next();
    const span = spanOf(start, v);
    if (v.text !== '4.0' && v.text !== '4.1') {
      this.ts.reporter.fail(MESSAGES.unknownVersion(v.text), span, 'Versions 4.0 and 4.1 are.');
    }
    const syntax = v.text === '4.0' ? 40 : 41;
    if (this.ts.topSyntax === 0) {
      this.ts.topSyntax = syntax;
    } else if (syntax > this.ts.topSyntax) {
      this.ts.reporter.fail(MESSAGES.higherVersion(v.text, this.ts.topSyntax - 40), span);
    }
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

  private unused(): void {
    const start = this.ts.next();
    const name = this.name('the name of a backend, probe, acl or sub');
    this.declarations.push({ k: 'unused', name, span: spanOf(start, this.op(';')) });
  }

  private backend(): void {
    const start = this.ts.next();
    const name = this.name('the name of a backend');
    if (this.ts.peek().kind === 'id' && this.ts.peek().text.toLowerCase() === 'none') {
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

  /** `{ .name = value; ... }`; a value is a sequence of expressions, or a body for an inline probe. */
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
    const flags: AclFlag[] = [];
    while (this.atSign()) {
      const flag = this.aclFlag();
      const own: Omit<AclFlag, 'flags'>[] = [];
      if (this.at('op', '(')) {
        this.ts.next();
        while (this.atSign()) own.push(this.aclFlag());
        this.op(')');
      }
      flags.push({ ...flag, flags: own });
    }
    const entries: AclEntry[] = [];
    this.op('{');
    while (!this.at('op', '}')) entries.push(this.aclEntry());
    this.op('}');
    this.declarations.push({ k: 'acl', name, flags, entries, span: spanOf(start) });
  }

  private atSign(): boolean {
    return this.at('op', '+') || this.at('op', '-');
  }

  private aclFlag(): Omit<AclFlag, 'flags'> {
    const sign = this.ts.next();
    if (this.ts.peek().start !== sign.end) {
      this.ts.reporter.fail(MESSAGES.aclFlag(), spanOf(sign), 'Flags are written like +log.');
    }
    const { text, span } = this.name('an acl flag');
    return { on: sign.text === '+', name: text, span };
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
      this.ts.reporter.fail(MESSAGES.dotInName(full), name.span);
    }
    const body = this.block(0);
    const end = spanOf(this.ts.last());
    this.declarations.push({ k: 'sub', name: first, body, span: spanOf(start), end });
  }

  /** Skips to the next token that looks like a declaration, outside of braces. */
  private skipDeclaration(): void {
    let depth = 0;
    let first = true;
    for (;;) {
      const t = this.ts.peek();
      if (t.kind === 'eof') return;
      if (t.kind === 'op' && t.text === '{') depth++;
      if (t.kind === 'op' && t.text === '}') depth = Math.max(0, depth - 1);
      if (!first && depth === 0 && t.kind === 'id' && t.file === this.ts.last().file) {
        if (WORDS.includes(t.text) && startsLine(t)) return;
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
