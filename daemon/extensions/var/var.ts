// The var extension: variables of a program. Those of a task live as long as the task; global ones are shared by all
// programs of a worker and live as long as the worker. A variable has the type of its last set: reading another type
// returns that type's empty value.

import { SharedStateFull } from '../../contract/bounded-table.ts';
import type { Director, VclContext, VclHost } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { VclFailure } from '../../contract/failure.ts';
import { taskPriv } from '../../contract/priv.ts';
import type { SharedState, SharedTable } from '../../contract/shared-state.ts';
import { VclIp } from '../../vcl/runtime/ip.ts';
import { byName, row } from '../extension-rows.ts';

// The global variables of the var extension: texts by name that outlive tasks and programs. They belong to the worker
// with all its threads. Their total size is bounded: names may come from requests.

/** Characters of all names and values together. */
const LIMIT = 16 * 1024 * 1024;

export class GlobalVariables {
  readonly #table: SharedTable;

  constructor(state: SharedState) {
    this.#table = state.table('var', { entries: LIMIT, bytes: LIMIT });
  }

  /** Null is a value, too: the variable is then unset again. */
  set(key: string, value: string | null): void {
    try {
      this.#table.update(key, (variable) => {
        variable.text = value;
      });
    } catch (error) {
      if (!(error instanceof SharedStateFull)) throw error;
      throw new VclFailure('var.global_set(): out of space for global variables');
    }
  }

  get(key: string): string | null {
    return this.#table.read(key)?.text ?? null;
  }
}

/** The variables of each worker, which has one host. */
class GlobalVariablesByHost {
  readonly #byHost = new WeakMap<VclHost, GlobalVariables>();

  of(host: VclHost): GlobalVariables {
    let globals = this.#byHost.get(host);
    if (globals === undefined) {
      globals = new GlobalVariables(host.shared);
      this.#byHost.set(host, globals);
    }
    return globals;
  }
}

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
      `A variable of the task that was set as ${type}; the empty value of the type if there is none.`,
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
    row('VOID clear()', (ctx) => variables(ctx).clear(), 'Removes all variables of the task.'),
    row('VOID global_set(STRING, STRING)', globalSet, 'Sets a variable that all transactions and programs share.'),
    row('STRING global_get(STRING)', (ctx, key: string | null) => (key === null ? null : globals.of(ctx.host).get(key)),
      'A shared variable; unset when there is none.'),
  ),
};
