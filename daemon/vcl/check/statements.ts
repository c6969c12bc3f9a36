// Checks the statements of a sub and returns them as steps, each with its place in the program. A sub
// returns a code of tables/returns.ts; 0 continues in its caller.

import type { VariableRow } from '../../../protocol/tables/variables.ts';
import type { AssignOp, Block, Expr, Statement } from '../ast.ts';
import { CompileStop, nearest, type Reporter } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import {
  binary,
  CONTEXT,
  type Code,
  constant,
  helper,
  join,
  type Step,
  type Steps,
} from '../typed-program.ts';
import { bindCall } from './calls.ts';
import { newStatement } from './objects.ts';
import { returned } from './return-statements.ts';
import { notFound } from './symbols.ts';
import { asString, check, joined, type Scope, stringCode } from './type-conversions.ts';
import { assignable, type Typed } from './types.ts';
import { fieldName, findVariable, noteUse, readVariable } from './variable-access.ts';
import { messageCode, messageOf, variableHelper } from './variable-helpers.ts';

/** Checks a block; statements with errors are reported and left out. */
export function checkBlock(scope: Scope, block: Block): Steps {
  const list: Step[] = [];
  for (const s of block) {
    try {
      list.push(statement(scope, s));
    } catch (e) {
      if (!(e instanceof CompileStop)) throw e;
    }
  }
  return { point: scope.model.trace?.of(block), list };
}

function statement(scope: Scope, s: Statement): Step {
  switch (s.k) {
    case 'block':
      return { k: 'block', body: checkBlock(scope, s.body), span: s.span };
    case 'set':
      return { k: 'do', code: assignment(scope, s), span: s.span };
    case 'unset': {
      const v = findVariable(scope, s.target);
      if (v === null || v.taken < s.target.parts.length) notFound(scope, s.target);
      noteUse(scope, v, 'unset', s.target.span);
      const code =
        v.field === null
          ? helper(variableHelper('unset', v.row), CONTEXT)
          : helper('unsetHeader', messageCode(messageOf(v.row)), constant(v.field.toLowerCase()));
      return { k: 'do', code, span: s.span };
    }
    case 'call':
      return callStatement(scope, s);
    case 'return':
      return { k: 'return', code: returned(scope, s), span: s.span };
    case 'if':
      return ifStatement(scope, s);
    case 'new':
      try {
        return newStatement(scope, s);
      } catch (e) {
        // Reported once: uses of the object give no further errors.
        if (!scope.model.symbols.has(s.name.text)) scope.model.brokenNames.add(s.name.text);
        throw e;
      }
    case 'action':
      return { k: 'do', code: action(scope, s.call), span: s.span };
  }
}

function action(scope: Scope, call: Expr): Code {
  const { model } = scope;
  const unused = (): never => model.reporter.fail(MESSAGES.unusedResult(), call.span);
  if (call.k !== 'call') return unused();
  const { callee } = call;
  const value = callee.k === 'path' ? model.symbols.get(callee.parts[0]?.text ?? '') : undefined;
  const ofValue = value !== undefined && value.kind !== 'vmod' && value.kind !== 'object';
  if (callee.k !== 'path' || ofValue || findVariable(scope, callee) !== null) return unused();
  const v = bindCall(scope, call, true);
  if (v.type !== 'VOID' && callee.parts.length === 1) return unused();
  return v.code;
}

function assignment(scope: Scope, s: Extract<Statement, { k: 'set' }>): Code {
  const { model } = scope;
  const v = findVariable(scope, s.target);
  if (v === null || v.taken < s.target.parts.length) notFound(scope, s.target);
  noteUse(scope, v, 'write', s.target.span);
  const type = v.row.type;
  const want = assignable(type, s.op);
  if (want === null) {
    const text = type === 'HEADER' ? 'STRING' : type;
    const reporter: Reporter = model.reporter;
    reporter.fail(MESSAGES.noAssignment(s.op, text), s.opSpan);
  }
  if (type === 'HEADER') {
    const value = stringCode(scope, check(scope, s.value, 'STRING'));
    const name = constant(fieldName(model, v));
    const set = s.op === '=' ? 'setField' : 'addField';
    return helper(set, CONTEXT, messageCode(messageOf(v.row)), name, value);
  }
  if (type === 'BODY') {
    const raw = scope.infer(scope, s.value, 'BODY');
    const text = raw.type === 'BLOB' ? helper('blobText', raw.code) : joined(scope, asString(scope, raw));
    return helper(variableHelper(s.op === '=' ? 'set' : 'add', v.row), CONTEXT, text);
  }
  const value = check(scope, s.value, want);
  return helper(variableHelper('set', v.row), CONTEXT, assigned(scope, v.row, s.op, value));
}

/** The value to which a variable that is not a header is set. */
function assigned(scope: Scope, row: VariableRow, op: AssignOp, value: Typed): Code {
  const isText = row.type === 'STRING';
  if (op === '=') return isText ? stringCode(scope, value) : value.code;
  const old = helper(variableHelper('get', row), CONTEXT);
  if (isText) return join([helper('str', old), joined(scope, asString(scope, value))]);
  if (op === '/=') return helper(row.type === 'INT' ? 'intDivide' : 'realDivide', old, value.code);
  return binary(old, op === '+=' ? '+' : op === '-=' ? '-' : '*', value.code);
}

function callStatement(scope: Scope, s: Extract<Statement, { k: 'call' }>): Step {
  const { model, sub } = scope;
  if (s.value !== null) {
    const value = check(scope, s.value, 'SUB');
    return { k: 'callValue', code: helper('callSub', CONTEXT, value.code), span: s.span };
  }
  const name = model.subName(s.target.parts.map((p) => p.text).join('.'));
  const variable =
    s.target.parts.length > 1 || !model.declared.has(name) ? findVariable(scope, s.target) : null;
  if (variable !== null) {
    const v = readVariable(scope, variable, s.target.span, 'SUB');
    model.reporter.fail(MESSAGES.wrongType(v.type, 'SUB'), s.target.span);
  }
  const reporter: Reporter = model.reporter;
  const kind = model.declared.get(name);
  if (kind === undefined) {
    const subs = [...model.declared].flatMap(([n, k]) => (k === 'sub' ? [n] : []));
    const near = nearest(name, subs);
    reporter.fail(
      MESSAGES.undefinedKind('sub', name),
      s.target.span,
      near === null ? undefined : `Did you mean '${near}'?`,
    );
  }
  if (kind !== 'sub') {
    reporter.fail(MESSAGES.noSub(name, kind), s.target.span);
  }
  sub.calls.push({ name, span: s.target.span });
  return { k: 'call', sub: name, span: s.span };
}

function ifStatement(scope: Scope, s: Extract<Statement, { k: 'if' }>): Step {
  const branches = s.branches.map((b) => {
    const cond = condition(scope, b.cond);
    return { cond, span: b.cond.span, body: checkBlock(scope, b.body) };
  });
  const otherwise = s.otherwise === null ? null : checkBlock(scope, s.otherwise);
  return { k: 'if', branches, otherwise, point: scope.model.trace?.of(s), span: s.span };
}

/** A condition with an error is reported, and its block is still checked. */
function condition(scope: Scope, e: Expr): Code {
  try {
    return check(scope, e, 'BOOL').code;
  } catch (err) {
    if (!(err instanceof CompileStop)) throw err;
    return constant(false);
  }
}
