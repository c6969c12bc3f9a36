// Crowds: an index of the variants of keys with many objects, so that a lookup does not walk the chain. Indexed by list of
// Vary's names and hash of the values, in shared memory; every change of a chain, under the lock, updates its crowd.
//
// Never decides what a request gets: crowd-search.ts returns the candidates to the lookup in the order of the chain. Special
// case: a key whose objects vary by very many lists of names is a crowd without an index (MIXED), and lookups walk its chain.

import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { KeyIndex } from './key-index.ts';
import {
  EXPECTED,
  KEY_NEXT,
  KEY_PREV,
  META,
  type Oc,
  OF_HAS_VARY,
  STATE_BUSY,
  stateIn,
  VARIANT,
} from './objcore.ts';
import { RowTable } from './row-table.ts';
import type { ChunkBytes } from './storage/slab.ts';
import { mayBecome, namesIn, storedNames, VariantHash } from './vary.ts';

/** Objects of a key from which on it is a crowd, and below which it is dissolved (chosen: walking fewer is cheaper). */
export const CROWDED = 16;
const DISSOLVED = 8;
/** Lists of names per crowd (chosen): each costs a lookup a hash. */
const MAX_LISTS = 8;
/** Bytes of such a list, which is part of a key of the index. */
const LONGEST_LIST = 4096;

/** A row of the table of crowds; 0 is none. */
export type Crowd = number;
/** A row of the table of members: one per object of a crowd, stored in the object's VARIANT. */
export type Member = number;
/** An entry of the index: a list of names, or one variant. */
type Entry = number;

// Words of a crowd, after the number of the newest member (a double): objects; objects that vary; the newest member that does
// not; its lists, most recently used first; busy objects whose variant is unknown, that no request will match, and whose
// variant is expected; whether it has no index.
const NEWEST = 0;
const COUNT = 2;
const VARYING = 3;
const PLAIN = 4;
const LISTS = 5;
const UNKNOWN = 6;
const NOBODY = 7;
const NAMED = 8;
const MIXED = 9;
const CROWD_WORDS = 10;

// Words of a member, after its number: the younger, the larger (a double).
const NUMBER = 0;
const OBJECT = 2;
const KIND = 3;
const OLDER = 4;
const YOUNGER = 5;
/** Entry of its variant, if it varies. */
const PLACE = 6;
/** List of names. */
const LIST = 7;
/** EXPECTED of a busy object. */
const EXPECTS = 8;
const MEMBER_WORDS = 10;

const KIND_BUSY = 1;
const KIND_PLAIN = 2;
const KIND_VARYING = 3;

// Words of an entry of the index, beside its first word: a list's number of objects, a variant's newest member, or a
// number of fetches.
const NEXT_LIST = 0;
const SERIAL = 1;
const ENTRY_WORDS = 2;
/** Characters of a list's key before its names. */
const LIST_PREFIX = 5;

/** Access to stored variants. */
export interface StoredVariants {
  headChunk(oc: Oc): ChunkBytes;
  varyAt(oc: Oc): number;
}

const NOWHERE: StoredVariants = {
  headChunk: () => {
    throw new Error('Crowds are used before readFrom()');
  },
  varyAt: () => 0,
};

/** A number in four characters. */
function inText(n: number): string {
  return String.fromCharCode(n & 255, (n >>> 8) & 255, (n >>> 16) & 255, n >>> 24);
}

export class Crowds {
  private readonly objcores: RowTable;
  private readonly crowds: RowTable;
  private readonly members: RowTable;
  private readonly index: KeyIndex;
  /** One word: serial number of the newest list. */
  private readonly made: Int32Array;
  private readonly hash: VariantHash;
  private store: StoredVariants = NOWHERE;
  /** Names of lists by serial number, cached by this thread. After 2^32 lists an entry may be another list's: lookups then miss
   * variants, and never get a wrong one, since the lookup compares. */
  private readonly names = new Map<number, string[]>();

  constructor(objcores: RowTable, seed: readonly [number, number], memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.crowds = new RowTable(CROWD_WORDS, memory.part('crowds'));
    this.members = new RowTable(MEMBER_WORDS, memory.part('members'));
    this.index = new KeyIndex(seed[0], seed[1], ENTRY_WORDS, memory.part('index'));
    this.made = memory.words(1);
    this.hash = new VariantHash(seed);
  }

  /** Rows and entries in use, for tests. */
  get inUse(): number {
    return this.crowds.count + this.members.count + this.index.count;
  }

  /** Sets the store, which is made later. */
  readFrom(store: StoredVariants): void {
    this.store = store;
  }

  /** Makes a crowd of a chain that begins with `first`. */
  make(first: Oc): Crowd {
    const crowd = this.crowds.take();
    let last = first;
    for (let next = first; next !== 0; next = this.objcores.get(next, KEY_NEXT)) last = next;
    for (let oc = last; oc !== 0; oc = this.objcores.get(oc, KEY_PREV)) this.enter(crowd, oc);
    return crowd;
  }

  /** Adds an object, the newest one. */
  enter(crowd: Crowd, oc: Oc): void {
    const { crowds, objcores, members } = this;
    this.count(crowd, COUNT, 1);
    if (crowds.get(crowd, MIXED) !== 0) return;
    const meta = objcores.get(oc, META);
    const member = members.take();
    members.set(member, OBJECT, oc);
    const number = crowds.getDouble(crowd, NEWEST) + 1;
    crowds.setDouble(crowd, NEWEST, number);
    members.setDouble(member, NUMBER, number);
    const expected = objcores.get(oc, EXPECTED);
    objcores.set(oc, VARIANT, member);
    if (stateIn(meta) === STATE_BUSY) {
      members.set(member, KIND, KIND_BUSY);
      members.set(member, EXPECTS, expected);
      this.countFetch(crowd, expected, 1);
    } else if ((meta & OF_HAS_VARY) === 0) {
      members.set(member, KIND, KIND_PLAIN);
      this.link(member, crowds.get(crowd, PLAIN));
      crowds.set(crowd, PLAIN, member);
    } else this.enterVariant(crowd, member, oc);
  }

  private enterVariant(crowd: Crowd, member: Member, oc: Oc): void {
    const { members, index } = this;
    const from = this.store.headChunk(oc);
    const at = this.store.varyAt(oc);
    members.set(member, KIND, KIND_VARYING);
    const list = this.listOf(crowd, storedNames(from, at).join(','));
    if (list === 0) {
      this.mix(crowd, member, oc);
      return;
    }
    const place = index.findOrAdd(variantKey(list, this.hash.ofStored(from, at)));
    this.link(member, index.first(place));
    index.setFirst(place, member);
    members.set(member, PLACE, place);
    members.set(member, LIST, list);
    index.setFirst(list, index.first(list) + 1);
    this.count(crowd, VARYING, 1);
  }

  /** Removes an object that has left the chain. False when the rest is too small: the caller then calls dissolve(). */
  leave(crowd: Crowd, oc: Oc): boolean {
    const { crowds, objcores } = this;
    this.count(crowd, COUNT, -1);
    if (crowds.get(crowd, MIXED) === 0) {
      const member = objcores.get(oc, VARIANT);
      objcores.set(oc, VARIANT, 0);
      this.takeOut(crowd, member);
    }
    return crowds.get(crowd, COUNT) >= DISSOLVED;
  }

  /** Ends a crowd; the chain begins with `first`. */
  dissolve(crowd: Crowd, first: Oc): void {
    if (this.crowds.get(crowd, MIXED) === 0) this.restore(crowd, first);
    this.crowds.give(crowd);
  }

  /** Whether lookups may use the index. */
  isIndexed(crowd: Crowd): boolean {
    return crowd !== 0 && this.crowds.get(crowd, MIXED) === 0;
  }

  /** Objects that vary. */
  varying(crowd: Crowd): number {
    return this.crowds.get(crowd, VARYING);
  }

  hasBusy(crowd: Crowd): boolean {
    const { crowds } = this;
    return crowds.get(crowd, UNKNOWN) + crowds.get(crowd, NOBODY) + crowds.get(crowd, NAMED) > 0;
  }

  /** Whether there is a fetch whose variant is unknown. */
  hasUnknown(crowd: Crowd): boolean {
    return this.crowds.get(crowd, UNKNOWN) > 0;
  }

  /** Whether there is a fetch whose variant is expected. */
  hasExpected(crowd: Crowd): boolean {
    return this.crowds.get(crowd, NOBODY) + this.crowds.get(crowd, NAMED) > 0;
  }

  /** Whether a fetch whose variant is expected may bring the wanted one. */
  mayBring(crowd: Crowd, wanted: number): boolean {
    const named = this.crowds.get(crowd, NAMED);
    if (named === 0) return false;
    // As mayBecome(): other names, or all bits equal.
    return this.fetches(crowd, 'f', wanted) > 0 || named > this.fetches(crowd, 'n', namesIn(wanted));
  }

  private fetches(crowd: Crowd, kind: string, number: number): number {
    const entry = this.index.find(kind + inText(crowd) + inText(number));
    return entry === 0 ? 0 : this.index.first(entry);
  }

  firstPlain(crowd: Crowd): Member {
    return this.crowds.get(crowd, PLAIN);
  }

  firstList(crowd: Crowd): Entry {
    return this.crowds.get(crowd, LISTS) >>> 0;
  }

  nextList(list: Entry): Entry {
    return this.index.extra(list, NEXT_LIST);
  }

  /** The names of a list. */
  namesOf(list: Entry): string[] {
    const serial = this.index.extra(list, SERIAL);
    let names = this.names.get(serial);
    if (names === undefined) {
      names = this.index.keyOf(list).slice(LIST_PREFIX).split(',');
      if (this.names.size > 1000) this.names.clear();
      this.names.set(serial, names);
    }
    return names;
  }

  /** The newest object of a variant; 0 when there is none. */
  firstOf(list: Entry, hash: number): Member {
    const place = this.index.find(variantKey(list, hash));
    return place === 0 ? 0 : this.index.first(place);
  }

  older(member: Member): Member {
    return this.members.get(member, OLDER);
  }

  objectOf(member: Member): Oc {
    return this.members.get(member, OBJECT);
  }

  numberOf(member: Member): number {
    return this.members.getDouble(member, NUMBER);
  }

  /** The next older object that may be of the same variant as this one, which is not busy; 0 when there is none. */
  olderThan(oc: Oc): Oc {
    const member = this.older(this.objcores.get(oc, VARIANT));
    return member === 0 ? 0 : this.objectOf(member);
  }

  private link(member: Member, older: Member): void {
    const { members } = this;
    members.set(member, OLDER, older);
    if (older !== 0) members.set(older, YOUNGER, member);
  }

  private takeOut(crowd: Crowd, member: Member): void {
    const { members, crowds, index } = this;
    const kind = members.get(member, KIND);
    if (kind === KIND_BUSY) this.countFetch(crowd, members.get(member, EXPECTS), -1);
    else {
      const older = members.get(member, OLDER);
      const younger = members.get(member, YOUNGER);
      const place = members.get(member, PLACE) >>> 0;
      if (older !== 0) members.set(older, YOUNGER, younger);
      if (younger !== 0) members.set(younger, OLDER, older);
      else if (kind === KIND_PLAIN) crowds.set(crowd, PLAIN, older);
      else if (older !== 0) index.setFirst(place, older);
      else index.remove(place);
      if (kind === KIND_VARYING) this.leaveList(crowd, members.get(member, LIST) >>> 0);
    }
    members.give(member);
  }

  private leaveList(crowd: Crowd, list: Entry): void {
    const { index } = this;
    this.count(crowd, VARYING, -1);
    const left = index.first(list) - 1;
    index.setFirst(list, left);
    if (left > 0) return;
    this.unlinkList(crowd, list);
    index.remove(list);
  }

  /** The list of these names, moved to the front; 0 when there are too many lists. */
  private listOf(crowd: Crowd, names: string): Entry {
    const { crowds, index } = this;
    if (names.length > LONGEST_LIST) return 0;
    const key = `l${inText(crowd)}${names}`;
    let list = index.find(key);
    const newest = this.firstList(crowd);
    if (list !== 0 && list === newest) return list;
    if (list !== 0) this.unlinkList(crowd, list);
    else {
      let lists = 0;
      for (let each = newest; each !== 0; each = this.nextList(each)) lists++;
      if (lists === MAX_LISTS) return 0;
      list = index.findOrAdd(key);
      this.made[0] = ((this.made[0] as number) + 1) | 0;
      index.setExtra(list, SERIAL, this.made[0] >>> 0);
    }
    index.setExtra(list, NEXT_LIST, newest);
    crowds.set(crowd, LISTS, list);
    return list;
  }

  private unlinkList(crowd: Crowd, list: Entry): void {
    const { crowds, index } = this;
    const next = this.nextList(list);
    let before = this.firstList(crowd);
    if (before === list) {
      crowds.set(crowd, LISTS, next);
      return;
    }
    while (this.nextList(before) !== list) before = this.nextList(before);
    index.setExtra(before, NEXT_LIST, next);
  }

  private count(crowd: Crowd, word: number, by: number): void {
    this.crowds.set(crowd, word, this.crowds.get(crowd, word) + by);
  }

  private countFetch(crowd: Crowd, expected: number, by: number): void {
    if (expected === 0) this.count(crowd, UNKNOWN, by);
    // FOR_NOBODY.
    else if (!mayBecome(expected, expected)) this.count(crowd, NOBODY, by);
    else {
      this.count(crowd, NAMED, by);
      this.countIn(`f${inText(crowd)}${inText(expected)}`, by);
      this.countIn(`n${inText(crowd)}${inText(namesIn(expected))}`, by);
    }
  }

  private countIn(key: string, by: number): void {
    const { index } = this;
    const entry = index.findOrAdd(key);
    const count = index.first(entry) + by;
    if (count === 0) index.remove(entry);
    else index.setFirst(entry, count);
  }

  /** Too many lists of names: drops the index. The chain begins with `oc`. */
  private mix(crowd: Crowd, member: Member, oc: Oc): void {
    const { objcores, crowds } = this;
    this.members.give(member);
    objcores.set(oc, VARIANT, 0);
    this.restore(crowd, objcores.get(oc, KEY_NEXT));
    crowds.set(crowd, MIXED, 1);
  }

  /** Restores VARIANT and EXPECTED of the objects of a chain to their values outside a crowd. */
  private restore(crowd: Crowd, first: Oc): void {
    const { objcores, members } = this;
    const list = this.firstList(crowd);
    for (let oc = first; oc !== 0; oc = objcores.get(oc, KEY_NEXT)) {
      const member = objcores.get(oc, VARIANT);
      const isBusy = members.get(member, KIND) === KIND_BUSY;
      if (isBusy) objcores.set(oc, EXPECTED, members.get(member, EXPECTS));
      // Hashes are comparable for one list of names only.
      else if (list === 0 || members.get(member, LIST) >>> 0 !== list) objcores.set(oc, VARIANT, 0);
      else objcores.set(oc, VARIANT, this.hash.ofStored(this.store.headChunk(oc), this.store.varyAt(oc)));
      this.takeOut(crowd, member);
    }
  }
}

function variantKey(list: Entry, hash: number): string {
  return `v${inText(list)}${inText(hash)}`;
}
