// The global variables of the var extension: texts by name that outlive tasks and programs. They belong to the
// worker, so they end when it does. Their total size is bounded: names may come from requests.

import type { VclHost } from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';

/** Characters of all names and values together. */
const LIMIT = 16 * 1024 * 1024;

export class GlobalVariables {
  readonly #values = new Map<string, string | null>();
  #size = 0;

  /** Null is a value too: the variable is then as unset as before its first set. */
  set(key: string, value: string | null): void {
    const size = this.#size - this.#sizeOf(key) + key.length + (value?.length ?? 0);
    if (size > LIMIT) throw new VclFailure('var.global_set(): out of space for global variables');
    this.#size = size;
    this.#values.set(key, value);
  }

  get(key: string): string | null {
    return this.#values.get(key) ?? null;
  }

  #sizeOf(key: string): number {
    const old = this.#values.get(key);
    return old === undefined ? 0 : key.length + (old?.length ?? 0);
  }
}

/** Those of each worker, which has one host. */
export class GlobalVariablesByHost {
  readonly #byHost = new WeakMap<VclHost, GlobalVariables>();

  of(host: VclHost): GlobalVariables {
    let globals = this.#byHost.get(host);
    if (globals === undefined) {
      globals = new GlobalVariables();
      this.#byHost.set(host, globals);
    }
    return globals;
  }
}
