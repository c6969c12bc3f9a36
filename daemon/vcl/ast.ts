// Syntax tree of a VCL program. The parser knows no symbols: `req.http.x.lower()` is a call of a path, and
// the checker finds where the variable ends and the method begins.

import type { Span } from './diagnostics.ts';

export interface PathPart {
  text: string;
  /** Written in quotes: `req.http."x.y"`. */
  quoted: boolean;
  span: Span;
}

export interface Arg {
  name: string | null;
  nameSpan: Span | null;
  value: Expr;
}

export type BinaryOp =
  | '||'
  | '&&'
  | '=='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | '~'
  | '!~'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%';

export type Expr =
  | { k: 'number'; real: boolean; text: string; unit: string | null; unitSpan: Span | null; span: Span }
  | { k: 'string'; value: string; span: Span }
  | { k: 'blob'; value: string; span: Span }
  | { k: 'path'; parts: PathPart[]; span: Span }
  | { k: 'call'; callee: Expr; args: Arg[]; open: Span; span: Span }
  | { k: 'member'; object: Expr; name: PathPart; span: Span }
  | { k: 'not'; value: Expr; span: Span }
  | { k: 'negate'; value: Expr; span: Span }
  | { k: 'binary'; op: BinaryOp; left: Expr; right: Expr; opSpan: Span; span: Span }
  | { k: 'paren'; value: Expr; span: Span };

export type PathExpr = Extract<Expr, { k: 'path' }>;

export type AssignOp = '=' | '+=' | '-=' | '*=' | '/=';

export type Statement =
  | { k: 'set'; target: PathExpr; op: AssignOp; opSpan: Span; value: Expr; span: Span }
  | { k: 'unset'; target: PathExpr; span: Span }
  /** `value`: the sub is the result of a function; `target` is then the function. */
  | { k: 'call'; target: PathExpr; value: Expr | null; span: Span }
  | { k: 'return'; action: PathPart | null; args: Arg[] | null; span: Span }
  | { k: 'if'; branches: { cond: Expr; body: Block }[]; otherwise: Block | null; span: Span }
  | { k: 'block'; body: Block; span: Span }
  | { k: 'new'; name: PathPart; value: Expr; span: Span }
  | { k: 'action'; call: Expr; span: Span };

export type Block = Statement[];

export interface AclEntry {
  negate: boolean;
  /** In parentheses: ignored when the name does not resolve. */
  optional: boolean;
  host: string;
  mask: { text: string; span: Span } | null;
  span: Span;
}

/** `.name = …;` in a backend or probe: one value or an inline probe. */
export interface Field {
  name: string;
  nameSpan: Span;
  values: Expr[];
  body: Field[] | null;
  span: Span;
}

/** `+name` or `-name`, with flags of its own in parentheses. */
export interface AclFlag {
  on: boolean;
  name: string;
  span: Span;
  flags: Omit<AclFlag, 'flags'>[];
}

export type Declaration =
  | { k: 'backend'; name: PathPart; none: boolean; fields: Field[]; span: Span }
  | { k: 'probe'; name: PathPart; fields: Field[]; span: Span }
  | {
      k: 'acl';
      name: PathPart;
      flags: AclFlag[];
      entries: AclEntry[];
      span: Span;
    }
  | { k: 'sub'; name: PathPart; body: Block; span: Span; end: Span }
  | { k: 'unused'; name: PathPart; span: Span }
  | { k: 'import'; module: PathPart; as: PathPart | null; from: string | null; span: Span };
