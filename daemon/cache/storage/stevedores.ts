// The configured storages, each with its memory and the order in which its objects were used.
//
// Knows which storage an object is in and whose turn it is; never evicts.

import type { StorageSpec } from '../../link.ts';
import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import { META, type Oc, storageIn } from '../objcore.ts';
import type { Storages } from '../roles.ts';
import type { RowTable } from '../row-table.ts';
import { Lru } from './lru.ts';
import { Slab, type SlabStats } from './slab.ts';

/** The storage for objects that do not stay: passes, short-lived ones, markers. */
export const TRANSIENT = 'Transient';

export class Stevedore {
  readonly name: string;
  readonly slab: Slab;
  readonly lru: Lru;
  /** Bytes of a body that may be here at one time; 0 is any number. */
  readonly mostOfBody: number;

  constructor(spec: StorageSpec, objcores: RowTable, mostOfBody: number, memory: MemoryPart) {
    this.name = spec.name;
    this.slab = new Slab(spec.size, memory.part('slab'));
    this.lru = new Lru(objcores, memory.part('lru'));
    this.mostOfBody = mostOfBody;
  }
}

/** A body may take so many bytes in a storage without a limit, however small the others are. */
const LEAST_MOST = 64 << 20;

/** A body takes more than its bytes: a share of them for the heads of its extents, and a response head. */
const BODY_SHARE = 512;
const LEAST_HEAD = 256;

export class Stevedores implements Storages {
  private readonly objcores: RowTable;
  private readonly all: Stevedore[];
  /** The numbers of all but Transient, which take turns. */
  private readonly inTurn: number[];
  /** One word: the turns so far, of all threads. */
  private readonly turns: Int32Array;

  constructor(specs: readonly StorageSpec[], objcores: RowTable, memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.all = makeStevedores(specs, objcores, memory);
    this.inTurn = [...this.all.keys()].filter((i) => this.all[i]?.name !== TRANSIENT);
    this.turns = memory.words(1);
  }

  /** Of an object with a head. */
  of(oc: Oc): Stevedore {
    return this.all[storageIn(this.objcores.get(oc, META))] as Stevedore;
  }

  /** The number of that storage; for null of the one whose turn it is. Null when there is no such name. */
  pick(name: string | null): number | null {
    if (name === null) return this.nextTurn();
    const at = this.all.findIndex((stevedore) => stevedore.name === name);
    return at < 0 ? null : at;
  }

  next(): string {
    return (this.all[this.nextTurn()] as Stevedore).name;
  }

  couldHold(name: string | null, bytes: number): boolean {
    const size = this.named(name)?.mostOfBody ?? 0;
    return size === 0 || bytes + bytes / BODY_SHARE + LEAST_HEAD <= size;
  }

  names(): string[] {
    return this.all.map((stevedore) => stevedore.name);
  }

  size(name: string): number {
    return this.named(name)?.slab.size ?? 0;
  }

  stats(name: string): (SlabStats & { g_space: number }) | null {
    const found = this.named(name);
    return found === undefined ? null : { ...found.slab.stats, g_space: found.slab.space };
  }

  overwriteFreed(on: boolean): void {
    for (const { slab } of this.all) slab.overwritesFreed = on;
  }

  private named(name: string | null): Stevedore | undefined {
    return this.all.find((stevedore) => stevedore.name === name);
  }

  /** Each storage but Transient in turn, whichever thread asks. */
  private nextTurn(): number {
    const { inTurn, turns } = this;
    if (inTurn.length < 2) return inTurn[0] ?? 0;
    return inTurn[(Atomics.add(turns, 0, 1) >>> 0) % inTurn.length] as number;
  }
}

/**
 * One stevedore a spec, and Transient, unlimited, when no spec names it. Without a limit of its own it takes no large
 * body that none of the others could hold: an endless one, or a gzip bomb that must be whole first, would take all
 * memory there is (SAFETY rule 11).
 */
export function makeStevedores(
  specs: readonly StorageSpec[],
  objcores: RowTable,
  memory: MemoryPart = ownMemory(),
): Stevedore[] {
  const sizes = specs.filter((spec) => spec.name !== TRANSIENT).map((spec) => spec.size);
  const largest = sizes.includes(0) ? 0 : Math.max(LEAST_MOST, ...sizes);
  const all = specs.some((spec) => spec.name === TRANSIENT)
    ? specs
    : [...specs, { name: TRANSIENT, kind: 'malloc', size: 0 } as const];
  return all.map((spec, i) => {
    const most = spec.size === 0 ? largest : spec.size;
    return new Stevedore(spec, objcores, most, memory.part(String(i)));
  });
}
