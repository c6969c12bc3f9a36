// The var extension: variables of a program. Those of a task live as long as it does; the global ones are shared
// by all programs of a worker, for as long as it runs. A variable has the type of its last set: asking for
// another type gives that type's empty value.

import type { Director, VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { taskPriv } from '../../contract/priv.ts';
import { VclIp } from '../../vcl/runtime/ip.ts';
import { byName, row } from '../extension-rows.ts';
import { GlobalVariablesByHost } from './global-variables.ts';

interface Variable {
  type: string;
  value: unknown;
}

const VARIABLES = Object.freeze({});

function variables(ctx: VclContext): Map<string, Variable> {
  const priv = taskPriv(ctx, VARIABLES);
  priv.value ??= new Map();
  return priv.value as Map<string, Variable>;
}

/** The setter and the getter of one type. An unset name sets nothing. */
function accessors(
  type: string,
  setName: string,
  getName: string,
  empty: () => unknown,
): ExtensionFunction[] {
  return [
    row(
      `VOID ${setName}(STRING key, ${type} value)`,
      (ctx, key: string | null, value: string | number | VclIp | Director | null) => {
        if (key !== null) variables(ctx).set(key, { type, value: type === 'STRING' ? (value ?? '') : value });
      },
      `Sets a variable of the task to a value of type ${type}.`,
    ),
    row(
      `${type} ${getName}(STRING key)`,
      (ctx, key: string | null) => {
        const v = key === null ? undefined : variables(ctx).get(key);
        return v?.type === type ? v.value : empty();
      },
      `A variable of the task that was set as ${type}; what is empty for the type when there is none.`,
    ),
  ];
}

const nothing = (): null => null;
const zero = (): number => 0;

const globals = new GlobalVariablesByHost();

function globalSet(ctx: VclContext, key: string | null, value: string | null): void {
  if (key !== null) globals.of(ctx.host).set(key, value);
}

export const variablesExtension: Extension = {
  name: 'var',
  help: 'variables of transactions and global ones',
  // biome-ignore format: a row is a line
  functions: byName(
    ...accessors('STRING', 'set', 'get', nothing),
    ...accessors('STRING', 'set_string', 'get_string', nothing),
    ...accessors('INT', 'set_int', 'get_int', zero),
    ...accessors('REAL', 'set_real', 'get_real', zero),
    ...accessors('DURATION', 'set_duration', 'get_duration', zero),
    ...accessors('IP', 'set_ip', 'get_ip', () => new VclIp('', 0)),
    ...accessors('BACKEND', 'set_backend', 'get_backend', nothing),
    row('VOID clear()', (ctx) => variables(ctx).clear(), 'Forgets all variables of the task.'),
    row('VOID global_set(STRING, STRING)', globalSet, 'Sets a variable that all transactions and programs share.'),
    row('STRING global_get(STRING)', (ctx, key: string | null) => (key === null ? null : globals.of(ctx.host).get(key)),
      'A shared variable; unset when there is none.'),
  ),
};
