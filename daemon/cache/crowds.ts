// Crowds: keys with many objects, whose variants a look-up finds by the request's values instead of going through the
// chain. An index by list of Vary's names and hash of the values, beside the chain and in shared memory: whoever changes
// a chain, under the lock, changes its crowd with it.
//
// It never decides what a request gets: crowd-search.ts hands the objects that may match to the look-up in the order of
// the chain. Special case: a key whose objects vary by very many lists of names is a crowd without an index (MIXED), and
// look-ups go through its chain.

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
import { hashStored, mayBecome, namesIn, storedNames } from './vary.ts';

/** Objects of a key from which on they are a crowd, and below which they are none any more (chosen: going through so many
 * costs less than an index). */
export const CROWDED = 16;
const DISSOLVED = 8;
/** Lists of names that a crowd may have (chosen): each costs a look-up a hash. */
const MOST_GROUPS = 8;
/** Bytes of such a list, which is part of a key of the index. */
const LONGEST_LIST = 4096;

/** A row of the table of crowds; 0 is none. */
export type Crowd = number;
/** A row of the table of members, of which each object of a crowd has one: VARIANT says which. */
export type Member = number;
/** A list of names, or one variant: its place in the index. */
type Entry = number;

// Words of a crowd, after the number of the newest member (a double): its objects; those of them that vary; the newest of
// those that do not; its lists, the one that got an object last first; fetches of which nothing is known, that are
// expected to become what nobody gets, and that are expected to become a variant; whether it has no index.
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
/** Of one that varies: its variant. Of one that does not: its crowd. */
const PLACE = 6;
/** List of names. */
const LIST = 7;
/** Of a busy one, as EXPECTED has it. */
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

/** Where variants are, as vary.ts writes them. */
export interface StoredVariants {
  headChunk(oc: Oc): ChunkBytes;
  varyAt(oc: Oc): number;
}

const NOWHERE: StoredVariants = {
  headChunk: () => {
    throw new Error('a crowd before there is storage');
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
  /** One word: lists made so far. */
  private readonly made: Int32Array;
  private store: StoredVariants = NOWHERE;
  /** This thread's, by number: the names of lists. */
  private readonly names = new Map<number, string[]>();

  constructor(objcores: RowTable, seed: readonly [number, number], memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.crowds = new RowTable(CROWD_WORDS, memory.part('crowds'));
    this.members = new RowTable(MEMBER_WORDS, memory.part('members'));
    this.index = new KeyIndex(seed[0], seed[1], ENTRY_WORDS, memory.part('index'));
    this.made = memory.words(1);
  }

  /** Rows and entries in use, for tests: all go with their keys. */
  get inUse(): number {
    return this.crowds.count + this.members.count + this.index.count;
  }

  /** Where the variants of objects are read. */
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

  /** An object became the newest one. */
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
    const place = index.findOrAdd(variantKey(list, hashStored(from, at)));
    this.link(member, index.first(place));
    index.setFirst(place, member);
    members.set(member, PLACE, place);
    members.set(member, LIST, list);
    index.setFirst(list, index.first(list) + 1);
    this.count(crowd, VARYING, 1);
  }

  /** An object has left the chain. Returns whether the rest is still a crowd: if not, dissolve() comes next. */
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

  /** The end of a crowd; the chain is what is left. */
  dissolve(crowd: Crowd, first: Oc): void {
    if (this.crowds.get(crowd, MIXED) === 0) this.restore(crowd, first);
    this.crowds.give(crowd);
  }

  /** Whether a look-up may go by the index. */
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

  /** Whether there is a fetch that may bring anything. */
  hasUnknown(crowd: Crowd): boolean {
    return this.crowds.get(crowd, UNKNOWN) > 0;
  }

  /** Whether there is a fetch that is expected to become a variant. */
  hasExpected(crowd: Crowd): boolean {
    return this.crowds.get(crowd, NOBODY) + this.crowds.get(crowd, NAMED) > 0;
  }

  /** Whether a fetch that is expected to become a variant may bring the wanted one. */
  mayBring(crowd: Crowd, wanted: number): boolean {
    const named = this.crowds.get(crowd, NAMED);
    if (named === 0) return false;
    // mayBecome(): it has other names, or all is the same.
    return this.fetches(crowd, 'f', wanted) > 0 || named > this.fetches(crowd, 'n', namesIn(wanted));
  }

  private fetches(crowd: Crowd, kind: string, number: number): number {
    const entry = this.index.find(kind + inText(crowd) + inText(number));
    return entry === 0 ? 0 : this.index.first(entry);
  }

  // For crowd-search.ts.

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

  /** The next older object that may be of the same variant as one that is not busy; 0 when there is none. */
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

  /** The list of these names, in front of the others; 0 where there is no room for it. */
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
      if (lists === MOST_GROUPS) return 0;
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
    // What does not even become itself becomes nothing.
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

  /** Too many lists of names: from now on a crowd without an index. The chain begins with the object that comes. */
  private mix(crowd: Crowd, member: Member, oc: Oc): void {
    const { objcores, crowds } = this;
    this.members.give(member);
    objcores.set(oc, VARIANT, 0);
    this.restore(crowd, objcores.get(oc, KEY_NEXT));
    crowds.set(crowd, MIXED, 1);
  }

  /** Gives the objects of a chain back what VARIANT and EXPECTED say of those of no crowd. */
  private restore(crowd: Crowd, first: Oc): void {
    const { objcores, members } = this;
    const list = this.firstList(crowd);
    for (let oc = first; oc !== 0; oc = objcores.get(oc, KEY_NEXT)) {
      const member = objcores.get(oc, VARIANT);
      const isBusy = members.get(member, KIND) === KIND_BUSY;
      if (isBusy) objcores.set(oc, EXPECTED, members.get(member, EXPECTS));
      // For one list of names only.
      else if (list === 0 || members.get(member, LIST) >>> 0 !== list) objcores.set(oc, VARIANT, 0);
      else objcores.set(oc, VARIANT, hashStored(this.store.headChunk(oc), this.store.varyAt(oc)));
      this.takeOut(crowd, member);
    }
  }
}

function variantKey(list: Entry, hash: number): string {
  return `v${inText(list)}${inText(hash)}`;
}
