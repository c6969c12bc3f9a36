// Checks `return`: the actions, their arguments, and the states in which each is legal.

import { RETURNS } from '../../../protocol/tables/returns.ts';
import type { Statement } from '../ast.ts';
import { nearest, type Reporter, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { actionHint } from '../hints.ts';
import type { HelperName } from '../runtime/table.ts';
import { CONTEXT, type Code, constant, helper } from '../typed-program.ts';
import { bindArgs } from './calls.ts';
import { stateMask } from './program-model.ts';
import type { Scope } from './type-conversions.ts';

/** States that may return each row of RETURNS. */
const RETURN_MASKS = RETURNS.map((r) => stateMask(r.states));

/** The result of a sub: a code of tables/returns.ts, or 0 to continue in its caller. */
export function returned(scope: Scope, s: Extract<Statement, { k: 'return' }>): Code {
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
