// param.show, param.set, param.reset.

import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import { PARAMS, type ParamRow } from '../../../protocol/tables/params.ts';
import { bad, jsonReply, ok } from '../../commands/reply.ts';
import type { CommandCall, ParamValue } from '../../link.ts';
import { absentParam, NoEffect, showAbsent, showAbsentJson } from '../../params/absent.ts';
import { Params } from '../../params/parameter-set.ts';
import { isListed, showJson, showLong, showShort } from '../../params/show.ts';
import { ParamError } from '../../params/value.ts';
import type { ManagerCore } from '../manager-core.ts';
import type { ManagerHandler, ManagerHandlers } from './handler.ts';

const ROWS: readonly ParamRow[] = PARAMS;

const show: ManagerHandler = (manager, call) => {
  const [what] = call.args;
  const changed = (row: ParamRow): boolean => !manager.params.isDefault(row);
  let rows: readonly ParamRow[];
  let describe = call.options.includes('l');
  const absent = what === undefined ? null : absentParam(what);
  if (absent !== null)
    return call.json ? jsonReply(call, `\n${showAbsentJson(absent)}`) : ok(showAbsent(absent));
  const listed = ROWS.filter((row) => isListed(manager.params, row));
  if (what === undefined) rows = listed;
  else if (what === 'changed') rows = listed.filter(changed);
  else {
    const exact = Params.find(what);
    if (exact instanceof ParamError) {
      rows = what === '' ? [] : listed.filter((row) => row.name.includes(what));
      if (rows.length === 0) return bad(exact.text);
    } else {
      rows = [exact];
      describe = true;
    }
  }
  if (call.json) return jsonReply(call, `\n${rows.map((row) => showJson(manager.params, row)).join(',\n')}`);
  return ok(rows.map((row) => (describe ? showLong : showShort)(manager.params, row)).join(''));
};

const set: ManagerHandler = (manager, call) => {
  const [name = '', value = ''] = call.args;
  const before = known(manager, name);
  return answer(manager, call, name, before, manager.params.set(name, value));
};

const reset: ManagerHandler = (manager, call) => {
  const [name = ''] = call.args;
  const before = known(manager, name);
  return answer(manager, call, name, before, manager.params.reset(name));
};

/** The displayed value; '' for an unknown parameter. */
function known(manager: ManagerCore, name: string): string {
  const row = Params.find(name);
  return row instanceof ParamError ? '' : manager.params.shown(row);
}

function answer(
  manager: ManagerCore,
  call: CommandCall,
  name: string,
  before: string,
  result: ParamValue | ParamError | NoEffect,
): CommandReply | Promise<CommandReply> {
  if (result instanceof ParamError) return refused(result);
  const absent = absentParam(name);
  if (absent === null)
    return changed(manager, call, name, before, result instanceof NoEffect ? result.text : '');
  if (call.json) return headed(call, showAbsentJson(absent));
  return ok(`\n${(result as NoEffect).text}`);
}

/** The head of the JSON reply names the parameter but not the value, like that of param.show. */
function headed(call: CommandCall, body: string): CommandReply {
  return jsonReply({ ...call, words: call.words.slice(0, 3) }, `\n${body}`);
}

function refused(error: ParamError): CommandReply {
  return { status: error.isProtected ? CLI.AUTH : CLI.PARAM, body: error.text };
}

/** @param remark explains which part of the change has no effect, or '' */
async function changed(
  manager: ManagerCore,
  call: CommandCall,
  name: string,
  before: string,
  remark: string,
): Promise<CommandReply> {
  await manager.parameterChanged(name);
  const row = Params.find(name) as ParamRow;
  const now = manager.params.shown(row);
  if (now !== before) manager.happened('parameter', `${name} ${now} (was ${before})`);
  if (call.json) return headed(call, showJson(manager.params, row));
  if (remark !== '') return ok(`\n${remark}`);
  if (manager.supervisor.state !== 'stopped' && row.flags?.includes('must_restart') === true) {
    return ok('\nChange will take effect when child is restarted');
  }
  return ok();
}

export const PARAM_COMMANDS = {
  'param.reset': reset,
  'param.set': set,
  'param.show': show,
} satisfies Partial<ManagerHandlers>;
