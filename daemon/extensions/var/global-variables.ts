// The global variables of the var extension: texts by name that outlive tasks and programs. They belong to the
// worker with all its threads, so they end when it does. Their total size is bounded: names may come from requests.

import { SharedStateFull } from '../../contract/bounded-table.ts';
import type { VclHost } from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';
import type { SharedState, SharedTable } from '../../contract/shared-state.ts';

/** Characters of all names and values together. */
const LIMIT = 16 * 1024 * 1024;

export class GlobalVariables {
  readonly #table: SharedTable;

  constructor(state: SharedState) {
    this.#table = state.table('var', { entries: LIMIT, bytes: LIMIT });
  }

  /** Null is a value too: the variable is then as unset as before its first set. */
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

/** Those of each worker, which has one host. */
export class GlobalVariablesByHost {
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
