// Checks the statements of a sub and writes their JavaScript, one generated line a statement, each with its
// place in the program. A generated function returns a code of tables/returns.ts; 0 goes on.

import { RETURNS } from '../../../protocol/tables/returns.ts';
import type { Block, Expr, Statement } from '../ast.ts';
import { CompileStop, nearest, type Reporter, type Span } from '../errors.ts';
import { actionHint } from '../hints.ts';
import { bindArgs, bindCall } from './calls.ts';
import { asString, check, joined, type Scope, stringJs } from './conversions.ts';
import { quote, type SubInfo, stateMask } from './program.ts';
import { isReserved, notFound } from './symbols.ts';
import { assignable } from './types.ts';
import { fieldName, findVariable, helperName, messageJs, noteUse, readVariable } from './variables.ts';

/** States that may return each row of RETURNS. */
const RETURN_MASKS = RETURNS.map((r) => stateMask(r.states));

const INIT_ONLY = stateMask(['init']);

/** Checks a block and appends its code to the sub. */
export function checkBlock(scope: Scope, block: Block, indent: string): void {
  emitTrace(scope, block, indent);
  for (const s of block) {
    try {
      statement(scope, s, indent);
    } catch (e) {
      if (!(e instanceof CompileStop)) throw e;
    }
  }
}

/** Helpers that may fail the task and still give a value; so may every extension. */
const MAY_FAIL = /\b(?:fn_\d+|make_\d+|set_\w+_status|[gs]et_\w+_do_\w+)\(/;
const FAIL = RETURNS.findIndex((r) => r.name === 'fail');

function emit(sub: SubInfo, indent: string, text: string, span: Span | null): void {
  sub.lines.push({ text: indent + text, span });
}

/** The record that the program came by, while such records are wanted. */
function emitTrace(scope: Scope, where: Block | Statement, indent: string): void {
  const point = scope.model.trace?.of(where);
  if (point === undefined) return;
  emit(scope.sub, indent, `if (ctx.tracing) ${scope.model.helper('trace')}(ctx, ${quote(point)});`, null);
}

/** A statement, and the way out when it failed. */
function emitChecked(sub: SubInfo, indent: string, text: string, span: Span): void {
  emit(sub, indent, text, span);
  if (MAY_FAIL.test(text)) emit(sub, indent, `if (ctx.failure !== null) return ${FAIL};`, span);
}

function statement(scope: Scope, s: Statement, indent: string): void {
  const { sub, model } = scope;
  switch (s.k) {
    case 'block':
      emit(sub, indent, '{', s.span);
      checkBlock(scope, s.body, `${indent}  `);
      emit(sub, indent, '}', null);
      return;
    case 'set':
      setStatement(scope, s, indent);
      return;
    case 'unset': {
      const v = findVariable(scope, s.target) ?? notFound(scope, s.target);
      noteUse(scope, v, 'unset', s.target.span);
      const js =
        v.field === null
          ? `${model.helper(helperName('unset', v.row))}(ctx)`
          : `${model.helper('unsetHeader')}(${messageJs(model, v.row)}, ${quote(v.field.toLowerCase())})`;
      emit(sub, indent, `${js};`, s.span);
      return;
    }
    case 'call':
      callStatement(scope, s, indent);
      return;
    case 'return':
      returnStatement(scope, s, indent);
      return;
    case 'if':
      ifStatement(scope, s, indent);
      return;
    case 'new':
      try {
        newStatement(scope, s, indent);
      } catch (e) {
        // Said once: what the program does with the object gives no errors of its own.
        if (!model.symbols.has(s.name.text)) model.brokenNames.add(s.name.text);
        throw e;
      }
      return;
    case 'action': {
      if (s.call.k !== 'call') return;
      const { callee } = s.call;
      const value = callee.k === 'path' ? model.symbols.get(callee.parts[0]?.text ?? '') : undefined;
      const ofValue = value !== undefined && value.kind !== 'vmod' && value.kind !== 'object';
      if (callee.k !== 'path' || ofValue || findVariable(scope, callee) !== null) {
        const reporter: Reporter = model.reporter;
        reporter.fail('syntax', 'Symbol cannot be used here: its result is not used', s.call.span);
      }
      const v = bindCall(scope, s.call, true);
      if (v.type !== 'VOID' && s.call.callee.k === 'path' && s.call.callee.parts.length === 1) {
        model.reporter.fail('syntax', 'Symbol cannot be used here: its result is not used', s.call.span);
      }
      emitChecked(sub, indent, `${v.js};`, s.span);
      return;
    }
  }
}

function setStatement(scope: Scope, s: Extract<Statement, { k: 'set' }>, indent: string): void {
  const { model, sub } = scope;
  const v = findVariable(scope, s.target);
  if (v === null || v.taken < s.target.parts.length) notFound(scope, s.target);
  noteUse(scope, v, 'write', s.target.span);
  const type = v.row.type;
  const want = assignable(type, s.op);
  if (want === null) {
    const text = type === 'HEADER' ? 'STRING' : type;
    const reporter: Reporter = model.reporter;
    reporter.fail('assign', `Operator ${s.op} not possible on ${text}`, s.opSpan);
  }
  if (type === 'HEADER') {
    const value = stringJs(scope, check(scope, s.value, 'STRING'));
    const helper = model.helper(s.op === '=' ? 'setField' : 'addField');
    const name = fieldName(model, v);
    emitChecked(sub, indent, `${helper}(ctx, ${messageJs(model, v.row)}, ${quote(name)}, ${value});`, s.span);
    return;
  }
  if (type === 'BODY') {
    bodyStatement(scope, s, helperName(s.op === '=' ? 'set' : 'add', v.row), indent);
    return;
  }
  const value = check(scope, s.value, want);
  let js = want === 'STRING' ? stringJs(scope, value) : value.js;
  if (s.op !== '=') {
    const old = `${model.helper(helperName('get', v.row))}(ctx)`;
    if (type === 'STRING') js = `${model.helper('str')}(${old}) + ${joined(scope, asString(scope, value))}`;
    else if (s.op === '/=') {
      js = `${model.helper(type === 'INT' ? 'intDivide' : 'realDivide')}(${old}, ${js})`;
    } else js = `${old} ${s.op.charAt(0)} ${js}`;
  }
  emitChecked(sub, indent, `${model.helper(helperName('set', v.row))}(ctx, ${js});`, s.span);
}

function bodyStatement(
  scope: Scope,
  s: Extract<Statement, { k: 'set' }>,
  helper: string,
  indent: string,
): void {
  const raw = scope.infer(scope, s.value, 'BODY');
  const js =
    raw.type === 'BLOB'
      ? `${scope.model.helper('blobText')}(${raw.js})`
      : joined(scope, asString(scope, raw));
  emitChecked(scope.sub, indent, `${scope.model.helper(helper)}(ctx, ${js});`, s.span);
}

function callStatement(scope: Scope, s: Extract<Statement, { k: 'call' }>, indent: string): void {
  const { model, sub } = scope;
  if (s.value !== null) {
    const value = check(scope, s.value, 'SUB');
    emitChecked(sub, indent, `r = ${model.helper('callSub')}(ctx, ${value.js});`, s.span);
    emit(sub, indent, 'if (r !== 0) return r;', s.span);
    return;
  }
  const name = model.subName(s.target.parts.map((p) => p.text).join('.'));
  const variable =
    s.target.parts.length > 1 || !model.declared.has(name) ? findVariable(scope, s.target) : null;
  if (variable !== null) {
    const v = readVariable(scope, variable, s.target.span, 'SUB');
    model.reporter.fail('type', `Expression has type ${v.type}, expected SUB`, s.target.span);
  }
  const kind = model.declared.get(name);
  if (kind === undefined) {
    const subs = [...model.declared].flatMap(([n, k]) => (k === 'sub' ? [n] : []));
    const near = nearest(name, subs);
    model.reporter.fail(
      'undefined',
      `Undefined sub '${name}'`,
      s.target.span,
      near === null ? undefined : `Did you mean '${near}'?`,
    );
  }
  if (kind !== 'sub') {
    model.reporter.fail('type', `Symbol '${name}' has wrong type (${kind}), expected sub`, s.target.span);
  }
  sub.calls.push({ name, span: s.target.span });
  emit(sub, indent, `if ((r = ${model.jsName('sub', name)}(ctx)) !== 0) return r;`, s.span);
}

function returnStatement(scope: Scope, s: Extract<Statement, { k: 'return' }>, indent: string): void {
  const { model, sub } = scope;
  const reporter: Reporter = model.reporter;
  if (s.action === null) {
    if (/^vcl_/.test(sub.name) && model.isState(sub.name)) {
      reporter.fail(
        'return',
        `Subroutine '${sub.name}' must return an action`,
        s.span,
        'A bare return only leaves subs that are called.',
      );
    }
    emit(sub, indent, 'return 0;', s.span);
    return;
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
      'return',
      `Expected return action name, not '${name}'`,
      s.action.span,
      actionHint(name) ?? (near === null ? undefined : `Did you mean '${near}'?`),
    );
  }
  sub.restrictions.push({
    mask: RETURN_MASKS[code] ?? 0,
    code: 'return',
    message: (state) => `Invalid return "${name}" in '${state}'`,
    span: s.action.span,
    hint: (state) => {
      const meant = actionHint(name, state.slice('vcl_'.length));
      const legal = `return (${name}) is legal in: ${row.states.map((n) => `vcl_${n}`).join(', ')}.`;
      return meant === undefined ? legal : `${legal} ${meant}`;
    },
  });
  const open = s.action.span;
  const takes = (js: string, signature: string): void => {
    const args = bindArgs(scope, model.signature(signature), s.args ?? [], open);
    emit(sub, indent, `return ${model.helper(js)}(${['ctx', ...args].join(', ')});`, s.span);
  };
  if (s.args === null && row.args !== 'none' && row.args !== 'status' && row.args !== 'label') {
    if (row.args === 'optional-status') {
      takes('returnError', 'VOID error([INT], [STRING])');
      return;
    }
    if (row.args === 'optional-duration') {
      takes('returnPass', 'VOID pass([DURATION])');
      return;
    }
    if (name === 'fail') {
      takes('returnFail', 'VOID fail([STRING])');
      return;
    }
    emit(sub, indent, `return ${code};`, s.span);
    return;
  }
  switch (row.args) {
    case 'none':
      if (s.args !== null) reporter.fail('return', `Arguments not allowed: return (${name})`, open);
      emit(sub, indent, `return ${code};`, s.span);
      return;
    case 'status':
      takes('returnSynth', 'VOID synth(INT, [STRING])');
      return;
    case 'optional-status':
      takes('returnError', 'VOID error(INT, [STRING])');
      return;
    case 'optional-duration':
      takes('returnPass', 'VOID pass(DURATION)');
      return;
    case 'optional-message':
      takes('returnFail', 'VOID fail(STRING)');
      return;
    case 'label':
      labelReturn(scope, s.args, open, indent, s.span);
      return;
  }
}

function labelReturn(
  scope: Scope,
  args: Extract<Statement, { k: 'return' }>['args'],
  open: Span,
  indent: string,
  span: Span,
): void {
  const { model, sub } = scope;
  const value = args?.length === 1 ? args[0]?.value : undefined;
  if (value?.k !== 'path' || value.parts.length !== 1) {
    const reporter: Reporter = model.reporter;
    reporter.fail('return', 'Missing argument: return (vcl(label))', open);
  }
  const label = value.parts[0]?.text ?? '';
  if (!model.labels.includes(label)) {
    const near = nearest(label, model.labels);
    model.reporter.fail(
      'undefined',
      `Symbol not found: '${label}'`,
      value.span,
      near === null ? 'Labels are made with vcl.label.' : `Did you mean '${near}'?`,
    );
  }
  model.labelsUsed.add(label);
  emit(sub, indent, `return ${model.helper('returnVcl')}(ctx, ${quote(label)});`, span);
}

/** Else-ifs up to this number are nested in the generated code. */
const FEW_BRANCHES = 8;

function ifStatement(scope: Scope, s: Extract<Statement, { k: 'if' }>, indent: string): void {
  const { sub } = scope;
  // A condition of its own line keeps its place in the program: so else-ifs are blocks inside each other, or, when
  // there are too many for that, ifs in a row which one leaves by the label.
  const flat = s.branches.length > FEW_BRANCHES;
  const label = `if${sub.lines.length}`;
  if (flat) emit(sub, indent, `${label}: {`, s.span);
  let depth = flat ? 1 : 0;
  s.branches.forEach((b, i) => {
    const cond = condition(scope, b.cond);
    if (i > 0 && !flat) emit(sub, indent + '  '.repeat(depth++), '} else {', null);
    const inner = indent + '  '.repeat(depth);
    if (MAY_FAIL.test(cond)) {
      const name = `c${sub.lines.length}`;
      emit(sub, inner, `const ${name} = ${cond};`, b.cond.span);
      emit(sub, inner, `if (ctx.failure !== null) return ${FAIL};`, b.cond.span);
      emit(sub, inner, `if (${name}) {`, b.cond.span);
    } else emit(sub, inner, `if (${cond}) {`, b.cond.span);
    checkBlock(scope, b.body, `${inner}  `);
    if (flat) emit(sub, inner, `  break ${label}; }`, null);
  });
  if (s.otherwise !== null) {
    const inner = indent + '  '.repeat(depth);
    emit(sub, inner, flat ? '{' : '} else {', null);
    checkBlock(scope, s.otherwise, `${inner}  `);
    if (flat) emit(sub, inner, '}', null);
  }
  if (flat) depth = 0;
  for (; depth >= 0; depth--) emit(sub, indent + '  '.repeat(depth), '}', null);
  emitTrace(scope, s, indent);
}

/** A broken condition is reported and its block still checked. */
function condition(scope: Scope, e: Expr): string {
  try {
    return check(scope, e, 'BOOL').js;
  } catch (err) {
    if (!(err instanceof CompileStop)) throw err;
    return 'false';
  }
}

function newStatement(scope: Scope, s: Extract<Statement, { k: 'new' }>, indent: string): void {
  const { model, sub } = scope;
  const { reporter } = model;
  sub.restrictions.push({
    mask: INIT_ONLY,
    code: 'place',
    message: (state) => `'new': Not available in subroutine '${state}'.`,
    span: s.span,
    hint: 'Objects are made in vcl_init.',
  });
  const call = s.value;
  if (call.k !== 'call' || call.callee.k !== 'path') return;
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
      'redefined',
      `Object name '${name}' already used.`,
      s.name.span,
      undefined,
      first === undefined ? [] : [{ message: 'First definition:', span: first }],
    );
  }
  if (name.startsWith('vcl_')) reporter.fail('reserved', "Symbols named 'vcl_*' are reserved.", s.name.span);
  if (isReserved(name)) reporter.fail('reserved', `Name '${name}' is taken by the language.`, s.name.span);
  const js = model.jsName('obj', name);
  const signature = model.signature(object.signature);
  const args = bindArgs(scope, signature, call.args, call.open, sym.extension.name, call.callee.span);
  model.symbols.set(name, {
    kind: 'object',
    name,
    span: s.name.span,
    used: false,
    js,
    extension: sym.extension.name,
    type: type.text,
    object,
  });
  model.declare(`let ${js} = null;`);
  const make = model.hoist('make', `N(${quote(sym.extension.name)}, ${quote(type.text)})`);
  emitChecked(sub, indent, `${js} = ${make}(${['ctx', quote(name), ...args].join(', ')});`, s.span);
}
