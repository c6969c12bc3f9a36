// Checks the statements of a sub and returns them as steps, each with its place in the program. A sub
// returns a code of tables/returns.ts; 0 continues in its caller.

import { RETURNS } from '../../../protocol/tables/returns.ts';
import type { VariableRow } from '../../../protocol/tables/variables.ts';
import type { AssignOp, Block, Expr, Statement } from '../ast.ts';
import { CompileStop, nearest, type Reporter, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { actionHint } from '../hints.ts';
import type { HelperName } from '../runtime/table.ts';
import {
  binary,
  CONTEXT,
  type Code,
  constant,
  extensionCall,
  helper,
  join,
  lookup,
  type Step,
  type Steps,
} from '../typed-program.ts';
import { bindArgs, bindCall } from './calls.ts';
import { isReserved } from './language-functions.ts';
import { generatedName, stateMask } from './program-model.ts';
import { notFound } from './symbols.ts';
import { asString, check, joined, type Scope, stringCode } from './type-conversions.ts';
import { assignable, type Typed } from './types.ts';
import {
  fieldName,
  findVariable,
  messageCode,
  messageOf,
  noteUse,
  readVariable,
  variableHelper,
} from './variable-access.ts';

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
          : helper(
              'unsetHeader',
              messageCode(messageOf(v.row)),
              constant(fieldName(scope.model, v).toLowerCase()),
            );
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
        // Reported once: uses of the object cause no further errors.
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

/** The new value of a variable other than a header. */
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

/** An error in a condition is reported, and its block is still checked. */
function condition(scope: Scope, e: Expr): Code {
  try {
    return check(scope, e, 'BOOL').code;
  } catch (err) {
    if (!(err instanceof CompileStop)) throw err;
    return constant(false);
  }
}

// Checks `new`: the constructor call in vcl_init, and the name of the object.

const INIT_ONLY = stateMask(['init']);

/** Checks a `new` and declares its object. */
function newStatement(scope: Scope, s: Extract<Statement, { k: 'new' }>): Step {
  const { model, sub } = scope;
  const { reporter } = model;
  sub.restrictions.push({
    mask: INIT_ONLY,
    message: (state) => MESSAGES.notInState('new', 'Not available in', state),
    span: s.span,
    hint: 'Objects are made in vcl_init.',
  });
  const call = s.value;
  if (call.k !== 'call' || call.callee.k !== 'path') {
    return reporter.fail(MESSAGES.noConstructor(), call.span);
  }
  const [module, type] = call.callee.parts;
  const sym = module === undefined ? undefined : model.symbols.get(module.text);
  const objects = sym?.kind === 'vmod' ? (sym.extension.objects ?? {}) : {};
  const object = type !== undefined && Object.hasOwn(objects, type.text) ? objects[type.text] : undefined;
  if (sym?.kind !== 'vmod' || type === undefined || object === undefined) notFound(scope, call.callee);
  sym.used = true;
  const name = s.name.text;
  if (model.symbols.has(name) || model.declared.has(name)) {
    const first = model.symbols.get(name)?.span;
    reporter.fail(
      MESSAGES.objectTwice(name),
      s.name.span,
      undefined,
      first === undefined ? [] : [{ message: 'First definition:', span: first }],
    );
  }
  if (name.startsWith('vcl_')) reporter.fail(MESSAGES.reservedNames(), s.name.span);
  if (isReserved(name)) reporter.fail(MESSAGES.taken(name), s.name.span);
  const signature = model.signature(object.signature);
  const args = bindArgs(scope, signature, call.args, call.open, sym.extension.name, call.callee.span);
  model.symbols.set(name, {
    kind: 'object',
    name,
    span: s.name.span,
    used: false,
    extension: sym.extension.name,
    type: type.text,
    object,
  });
  const made = generatedName('obj', name);
  model.declare({ k: 'object', name: made });
  const make = model.hoist('make', lookup('N', sym.extension.name, type.text));
  const code = extensionCall(make.name, [CONTEXT, constant(name), ...args]);
  return { k: 'make', name: made, code, span: s.span };
}

// Checks `return`: the actions, their arguments, and the states in which each is legal.

/** States that may return each row of RETURNS. */
const RETURN_MASKS = RETURNS.map((r) => stateMask(r.states));

/** The result of a sub: a code of tables/returns.ts; 0 continues in its caller. */
function returned(scope: Scope, s: Extract<Statement, { k: 'return' }>): Code {
  const { model, sub } = scope;
  const reporter: Reporter = model.reporter;
  if (s.action === null) {
    if (/^vcl_/.test(sub.name) && model.isState(sub.name)) {
      reporter.fail(MESSAGES.bareReturn(sub.name), s.span, 'A bare return only leaves subs that are called.');
    }
    return constant(0);
  }
  const name = s.action.text;
  const code = RETURNS.findIndex((r) => r.name === name && name !== '');
  const row = RETURNS[code];
  if (row === undefined) {
    const near = nearest(
      name,
      RETURNS.map((r) => r.name),
    );
    reporter.fail(
      MESSAGES.noAction(name),
      s.action.span,
      actionHint(name) ?? (near === null ? undefined : `Did you mean '${near}'?`),
    );
  }
  sub.returns.add(name);
  sub.restrictions.push({
    mask: RETURN_MASKS[code] ?? 0,
    message: (state) => MESSAGES.invalidReturn(name, state),
    span: s.action.span,
    hint: (state) => {
      const meant = actionHint(name, state.slice('vcl_'.length));
      const legal = `return (${name}) is legal in: ${row.states.map((n) => `vcl_${n}`).join(', ')}.`;
      return meant === undefined ? legal : `${legal} ${meant}`;
    },
  });
  const open = s.action.span;
  const takes = (name: HelperName, signature: string): Code =>
    helper(name, CONTEXT, ...bindArgs(scope, model.signature(signature), s.args ?? [], open));
  if (s.args === null && row.args !== 'none' && row.args !== 'status' && row.args !== 'label') {
    if (row.args === 'optional-status') return takes('returnError', 'VOID error([INT], [STRING])');
    if (row.args === 'optional-duration') return takes('returnPass', 'VOID pass([DURATION])');
    return takes('returnFail', 'VOID fail([STRING])');
  }
  switch (row.args) {
    case 'none':
      if (s.args !== null) reporter.fail(MESSAGES.actionTakesNothing(name), open);
      return constant(code);
    case 'status':
      return takes('returnSynth', 'VOID synth(INT, [STRING])');
    case 'optional-status':
      return takes('returnError', 'VOID error(INT, [STRING])');
    case 'optional-duration':
      return takes('returnPass', 'VOID pass(DURATION)');
    case 'optional-message':
      return takes('returnFail', 'VOID fail(STRING)');
    case 'label':
      return labelReturn(scope, s.args, open);
  }
}

function labelReturn(scope: Scope, args: Extract<Statement, { k: 'return' }>['args'], open: Span): Code {
  const { model } = scope;
  const value = args?.length === 1 ? args[0]?.value : undefined;
  if (value?.k !== 'path' || value.parts.length !== 1) {
    const reporter: Reporter = model.reporter;
    reporter.fail(MESSAGES.noLabel(), open);
  }
  const label = value.parts[0]?.text ?? '';
  if (!model.labels.includes(label)) {
    const near = nearest(label, model.labels);
    model.reporter.fail(
      MESSAGES.notFound(label),
      value.span,
      near === null ? 'Labels are made with vcl.label.' : `Did you mean '${near}'?`,
    );
  }
  model.labelsUsed.add(label);
  return helper('returnVcl', CONTEXT, constant(label));
}
