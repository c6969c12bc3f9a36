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
  /** Bytes of a body that may be here at one time; 0 is any number. */
  readonly mostOfBody: number;

  constructor(spec: StorageSpec, objcores: Rows, mostOfBody: number) {
    this.name = spec.name;
    this.slab = new Slab(spec.size);
    this.lru = new Lru(objcores);
    this.mostOfBody = mostOfBody;
  }
}

/** What a body may take in a storage without a limit, however small the others are. */
const LEAST_MOST = 64 << 20;

/**
 * One stevedore a spec, and Transient, unlimited, when no spec names it. Without a limit of its own it takes no large
 * body that none of the others could hold: an endless one, or a gzip bomb that must be whole first, would take all
 * memory there is (SAFETY rule 11).
 */
export function makeStevedores(specs: readonly StorageSpec[], objcores: Rows): Stevedore[] {
  const sizes = specs.filter((spec) => spec.name !== TRANSIENT).map((spec) => spec.size);
  const largest = sizes.includes(0) ? 0 : Math.max(LEAST_MOST, ...sizes);
  const all = specs.some((spec) => spec.name === TRANSIENT)
    ? specs
    : [...specs, { name: TRANSIENT, kind: 'malloc', size: 0 } as const];
  return all.map((spec) => new Stevedore(spec, objcores, spec.size === 0 ? largest : spec.size));
}
