// The configured storages (stevedores), each with its memory and its LRU list. Knows which storage an object is in, and which
// one is next; never evicts.

import type { StorageSpec } from '../../link.ts';
import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import { BATCH, LRU_NEXT, LRU_PREV, LRU_TIME, META, type Oc, OF_IN_LRU, storageIn } from '../objcore.ts';
import type { RowTable } from '../row-table.ts';
import { Slab, type SlabStats } from './slab.ts';

/** The storage for objects that do not stay: passes, short-lived ones, markers. */
export const TRANSIENT = 'Transient';

const YOUNG = 0;
const OLD = 1;

/** The LRU list of one storage, through the objects' rows. Never evicts and ignores reference counts. */
class Lru {
  private readonly objcores: RowTable;
  /** The ends of the list. */
  private readonly own: Int32Array;
  private readonly memory: MemoryPart;
  /** Scratch of removeAll(): neighbours. */
  private readonly near = new Int32Array(2 * BATCH);

  constructor(objcores: RowTable, memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.memory = memory;
    this.own = memory.words(2);
  }

  get oldest(): Oc {
    return this.own[OLD] as Oc;
  }

  /** The next younger one. */
  younger(oc: Oc): Oc {
    return this.objcores.get(oc, LRU_PREV);
  }

  /** Adds an object at the young end; `time` is sixteenths of a second since the cache's epoch. */
  add(oc: Oc, time: number): void {
    this.memory.assertHeld();
    const rows = this.objcores;
    const young = this.own[YOUNG] as Oc;
    rows.set(oc, LRU_PREV, 0);
    rows.set(oc, LRU_NEXT, young);
    rows.set(oc, LRU_TIME, time);
    rows.set(oc, META, rows.get(oc, META) | OF_IN_LRU);
    if (young === 0) this.own[OLD] = oc;
    else rows.set(young, LRU_PREV, oc);
    this.own[YOUNG] = oc;
  }

  /** Removes many objects that will not be used again; prefetches what that needs. */
  removeAll(ocs: Int32Array, count: number): void {
    this.memory.assertHeld();
    const { objcores: rows, near } = this;
    for (let i = 0; i < count; i++) {
      near[i * 2] = rows.get(ocs[i] as Oc, LRU_PREV);
      near[i * 2 + 1] = rows.get(ocs[i] as Oc, LRU_NEXT);
    }
    rows.touchAll(near, count * 2, LRU_NEXT);
    for (let i = 0; i < count; i++) this.unlink(ocs[i] as Oc);
  }

  remove(oc: Oc): void {
    this.memory.assertHeld();
    const rows = this.objcores;
    this.unlink(oc);
    rows.set(oc, META, rows.get(oc, META) & ~OF_IN_LRU);
  }

  private unlink(oc: Oc): void {
    const rows = this.objcores;
    const prev = rows.get(oc, LRU_PREV);
    const next = rows.get(oc, LRU_NEXT);
    if (prev === 0) this.own[YOUNG] = next;
    else rows.set(prev, LRU_NEXT, next);
    if (next === 0) this.own[OLD] = prev;
    else rows.set(next, LRU_PREV, prev);
  }
}

export class Stevedore {
  readonly name: string;
  readonly slab: Slab;
  readonly lru: Lru;
  /** Most bytes of one body; 0 is unlimited. */
  readonly mostOfBody: number;

  constructor(spec: StorageSpec, objcores: RowTable, mostOfBody: number, memory: MemoryPart) {
    this.name = spec.name;
    this.slab = new Slab(spec.size, memory.part('slab'));
    this.lru = new Lru(objcores, memory.part('lru'));
    this.mostOfBody = mostOfBody;
  }
}

/** Bytes that a body may always take in a storage without a limit. */
const LEAST_MOST = 64 << 20;

/** Overhead of a body: a share of its bytes for the headers of its extents, and a response head. */
const BODY_SHARE = 512;
const LEAST_HEAD = 256;

export class Stevedores {
  private readonly objcores: RowTable;
  private readonly all: Stevedore[];
  /** The numbers of all but Transient, used round-robin. */
  private readonly inTurn: number[];
  /** One word: objects placed round-robin by all threads. */
  private readonly turns: Int32Array;
  /** Name of the storage behind all but Transient: an object that is to go there takes one of those in turn. */
  behind: string | null = null;

  constructor(specs: readonly StorageSpec[], objcores: RowTable, memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.all = makeStevedores(specs, objcores, memory);
    this.inTurn = [...this.all.keys()].filter((i) => this.all[i]?.name !== TRANSIENT);
    this.turns = memory.words(1);
  }

  /** The storage of an object with a head. */
  of(oc: Oc): Stevedore {
    return this.all[storageIn(this.objcores.get(oc, META))] as Stevedore;
  }

  /** The number of a storage by name; null takes the next one. Null when there is no such storage. */
  pick(name: string | null): number | null {
    if (name === null || name === this.behind) return this.nextTurn();
    const at = this.all.findIndex((stevedore) => stevedore.name === name);
    return at < 0 ? null : at;
  }

  /** The storage for the next object that names none: each but Transient in turn. */
  next(): string {
    return (this.all[this.nextTurn()] as Stevedore).name;
  }

  /** Whether an empty storage could hold a body of this size. */
  couldHold(name: string | null, bytes: number): boolean {
    if (name !== null && name === this.behind)
      return this.inTurn.some((at) => this.couldHold((this.all[at] as Stevedore).name, bytes));
    const size = this.named(name)?.mostOfBody ?? 0;
    return size === 0 || bytes + bytes / BODY_SHARE + LEAST_HEAD <= size;
  }

  names(): string[] {
    return this.all.map((stevedore) => stevedore.name);
  }

  /** Configured bytes; 0 without a limit. */
  size(name: string): number {
    return this.named(name)?.slab.size ?? 0;
  }

  /** The SMA counters, with g_space; null when there is no such storage. */
  stats(name: string): (SlabStats & { g_space: number }) | null {
    const found = this.named(name);
    return found === undefined ? null : { ...found.slab.stats, g_space: found.slab.space };
  }

  /** Debug mode of this thread: freed memory is overwritten. */
  overwriteFreed(on: boolean): void {
    for (const { slab } of this.all) slab.overwritesFreed = on;
  }

  private named(name: string | null): Stevedore | undefined {
    return this.all.find((stevedore) => stevedore.name === name);
  }

  private nextTurn(): number {
    const { inTurn, turns } = this;
    if (inTurn.length < 2) return inTurn[0] ?? 0;
    return inTurn[(Atomics.add(turns, 0, 1) >>> 0) % inTurn.length] as number;
  }
}

/**
 * One stevedore per spec, and an unlimited Transient unless a spec names it. Without a limit of its own it refuses bodies that
 * none of the others could hold: an endless one, or a gzip bomb that must be complete first, would take all memory (SAFETY
 * rule 11).
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
