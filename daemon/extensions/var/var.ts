// The var extension: variables of a program. Those of a task live as long as it does; the global ones are shared
// by all programs of a worker, for as long as it runs. A variable has the type of its last set: asking for
// another type gives that type's empty value.

import type { Director, VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { taskPriv } from '../../contract/priv.ts';
import { VclIp } from '../../vcl/runtime/ip.ts';
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
function accessors(type: string, names: readonly [set: string, get: string], empty: () => unknown) {
  const [setName, getName] = names;
  return {
    [setName]: {
      signature: `VOID ${setName}(STRING key, ${type} value)`,
      help: `Sets a variable of the task to a value of type ${type}.`,
      call: (ctx: VclContext, key: string | null, value: string | number | VclIp | Director | null) => {
        if (key !== null) variables(ctx).set(key, { type, value: type === 'STRING' ? (value ?? '') : value });
      },
    },
    [getName]: {
      signature: `${type} ${getName}(STRING key)`,
      help: `A variable of the task that was set as ${type}; what is empty for the type when there is none.`,
      call: (ctx: VclContext, key: string | null) => {
        const v = key === null ? undefined : variables(ctx).get(key);
        return v?.type === type ? v.value : empty();
      },
    },
  } satisfies Record<string, ExtensionFunction>;
}

const nothing = (): null => null;
const zero = (): number => 0;

const globals = new GlobalVariablesByHost();

export const variablesExtension: Extension = {
  name: 'var',
  help: 'variables of transactions and global ones',
  functions: {
    ...accessors('STRING', ['set', 'get'], nothing),
    ...accessors('STRING', ['set_string', 'get_string'], nothing),
    ...accessors('INT', ['set_int', 'get_int'], zero),
    ...accessors('REAL', ['set_real', 'get_real'], zero),
    ...accessors('DURATION', ['set_duration', 'get_duration'], zero),
    ...accessors('IP', ['set_ip', 'get_ip'], () => new VclIp('', 0)),
    ...accessors('BACKEND', ['set_backend', 'get_backend'], nothing),
    clear: {
      signature: 'VOID clear()',
      help: 'Forgets all variables of the task.',
      call: (ctx) => variables(ctx).clear(),
    },
    global_set: {
      signature: 'VOID global_set(STRING, STRING)',
      help: 'Sets a variable that all transactions and programs share.',
      call: (ctx, key: string | null, value: string | null) => {
        if (key !== null) globals.of(ctx.host).set(key, value);
      },
    },
    global_get: {
      signature: 'STRING global_get(STRING)',
      help: 'A shared variable; unset when there is none.',
      call: (ctx, key: string | null) => (key === null ? null : globals.of(ctx.host).get(key)),
    },
  },
};
