// One configured storage: its name, its memory and the order in which its objects were used.

import type { StorageSpec } from '../../link.ts';
import type { Rows } from '../rows.ts';
import { Lru } from './lru.ts';
import { Slab } from './slab.ts';

/** The storage for what does not stay: passes, short-lived objects, markers. */
export const TRANSIENT = 'Transient';

export class Stevedore {
  readonly name: string;
  readonly slab: Slab;
  readonly lru: Lru;

  constructor(spec: StorageSpec, objcores: Rows) {
    this.name = spec.name;
    this.slab = new Slab(spec.size);
    this.lru = new Lru(objcores);
  }
}

/** One stevedore a spec, and Transient, unlimited, when no spec names it. */
export function makeStevedores(specs: readonly StorageSpec[], objcores: Rows): Stevedore[] {
  const stevedores = specs.map((spec) => new Stevedore(spec, objcores));
  if (!specs.some((spec) => spec.name === TRANSIENT)) {
    stevedores.push(new Stevedore({ name: TRANSIENT, kind: 'malloc', size: 0 }, objcores));
  }
  return stevedores;
}
