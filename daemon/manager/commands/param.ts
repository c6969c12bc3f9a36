// param.show, param.set, param.reset.

import { CLI } from '../../../protocol/errors.ts';
import { PARAMS, type ParamRow } from '../../../protocol/tables/params.ts';
import type { ParamValue } from '../../link.ts';
import { absentParam, NoEffect, showAbsent, showAbsentJson } from '../../params/absent.ts';
import { Params } from '../../params/params.ts';
import { showJson, showLong, showShort } from '../../params/show.ts';
import { ParamError } from '../../params/value.ts';
import {
  bad,
  type CliReply,
  type Command,
  type CommandCall,
  jsonReply,
  type ManagerCore,
  ok,
} from '../core.ts';

const ROWS: readonly ParamRow[] = PARAMS;

export const paramShow: Command = (core, call) => {
  const args = [...call.args];
  const long = args[0] === '-l';
  if (long && call.json) return bad('-l not permitted with param.show -j');
  if (long) args.shift();
  if (args.length > 1) return { status: long ? CLI.PARAM : CLI.TOO_MANY, body: 'Too many parameters' };
  const [what] = args;
  const changed = (row: ParamRow): boolean => !core.params.isDefault(row);
  let rows: readonly ParamRow[];
  let describe = long;
  const absent = what === undefined ? null : absentParam(what);
  if (absent !== null)
    return call.json ? jsonReply(call, `\n${showAbsentJson(absent)}`) : ok(showAbsent(absent));
  if (what === undefined) rows = ROWS;
  else if (what === 'changed') rows = ROWS.filter(changed);
  else {
    const exact = Params.find(what);
    if (exact instanceof ParamError) {
      rows = what === '' ? [] : ROWS.filter((row) => row.name.includes(what));
      if (rows.length === 0) return bad(exact.text);
    } else {
      rows = [exact];
      describe = true;
    }
  }
  if (call.json) return jsonReply(call, `\n${rows.map((row) => showJson(core.params, row)).join(',\n')}`);
  return ok(rows.map((row) => (describe ? showLong : showShort)(core.params, row)).join(''));
};

export const paramSet: Command = (core, call) => {
  const [name = '', value = ''] = call.args;
  return answer(core, call, name, core.params.set(name, value));
};

export const paramReset: Command = (core, call) => {
  const [name = ''] = call.args;
  return answer(core, call, name, core.params.reset(name));
};

function answer(
  core: ManagerCore,
  call: CommandCall,
  name: string,
  result: ParamValue | ParamError | NoEffect,
): CliReply | Promise<CliReply> {
  if (result instanceof ParamError) return refused(result);
  const absent = absentParam(name);
  if (absent === null) return changed(core, call, name, result instanceof NoEffect ? result.text : '');
  if (call.json) return headed(call, showAbsentJson(absent));
  return ok(`\n${(result as NoEffect).text}`);
}

/** The head of the answer names the parameter, not the value, as that of param.show. */
function headed(call: CommandCall, body: string): CliReply {
  return jsonReply({ ...call, words: call.words.slice(0, 3) }, `\n${body}`);
}

function refused(error: ParamError): CliReply {
  return { status: error.isProtected ? CLI.AUTH : CLI.PARAM, body: error.text };
}

/** @param said what of the change has no effect, or '' */
async function changed(core: ManagerCore, call: CommandCall, name: string, said: string): Promise<CliReply> {
  await core.parameterChanged(name);
  const row = Params.find(name) as ParamRow;
  if (call.json) return headed(call, showJson(core.params, row));
  if (said !== '') return ok(`\n${said}`);
  if (core.supervisor.state !== 'stopped' && row.flags?.includes('must_restart') === true) {
    return ok('\nChange will take effect when child is restarted');
  }
  return ok();
}
