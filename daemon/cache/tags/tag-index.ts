// The index of surrogate keys: tags and their members, in shared memory.
//
// A tag has a chain of links. A link joins an object and a tag and is in two chains: the tag's and the object's (whose first
// link is in SURROGATE). forget() removes an object, at a cost per key. Caution: a doomed tag, one that was purged, is
// detached from its key at once, so that new objects with the key are not its members; it is released when its last member
// has left.

import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import { KeyIndex, type Oh } from '../key-index.ts';
import { BATCH, META, type Oc, OF_TAGGED, SURROGATE } from '../objcore.ts';
import { RowTable } from '../row-table.ts';

/** Tag handle: the entry with its key and the words below, 0 is none. */
export type Tag = Oh;

/** The pending purge of a tag; of several, the greater one counts. */
export const Doom = { NONE: 0, SOFT: 1, HARD: 2 } as const;
export type Doom = (typeof Doom)[keyof typeof Doom];

// Words of a tag beside its first link.
const COUNT = 0;
const DOOM = 1;
/** Of a doomed tag: a number for the purge's use. */
const NOTE = 2;
const TAG_WORDS = 3;

// Words of a link's row.
const OBJECT = 0;
/** 0 when it was cut off its tag. */
const TAG = 1;
const PREV = 2;
const NEXT = 3;
const NEXT_OF_OBJECT = 4;
const LINK_WORDS = 6;

/** Bytes of a key's slot in the hash table. */
const KEY_OVERHEAD = 12;

export class TagIndex {
  private readonly objcores: RowTable;
  private readonly keys: KeyIndex;
  private readonly links: RowTable;
  /** One word: tags detached from their keys. */
  private readonly doomed: Int32Array;
  /** Scratch of forgetAll(): links, their neighbours and tags. */
  private readonly leaving = new Int32Array(2 * BATCH);
  private readonly near = new Int32Array(2 * BATCH);
  private readonly tagsOf = new Uint32Array(2 * BATCH);
  /** Links that doomOf() has visited. */
  looked = 0;

  constructor(objcores: RowTable, seed: readonly [number, number], memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.links = new RowTable(LINK_WORDS, memory.part('links'));
    this.doomed = memory.words(1);
    this.keys = new KeyIndex(seed[0], seed[1], TAG_WORDS, memory.part('keys'));
  }

  /** Keys that have members. */
  get keyCount(): number {
    return this.keys.count - (this.doomed[0] as number);
  }

  /** Pairs of object and key. */
  get linkCount(): number {
    return this.links.count;
  }

  /** Approximate bytes in use. */
  get bytes(): number {
    return this.links.count * LINK_WORDS * 4 + this.keys.count * KEY_OVERHEAD + this.keys.keyBytes;
  }

  /** The tag of a key; 0 when no object carries it. */
  find(key: string): Tag {
    return this.keys.find(key);
  }

  /** The key of a tag as stored. */
  keyOf(tag: Tag): string {
    return this.keys.keyOf(tag);
  }

  /** Adds a key to an object that does not have it. */
  add(oc: Oc, key: string): void {
    const { objcores, links } = this;
    const link = links.take();
    links.set(link, OBJECT, oc);
    const meta = objcores.get(oc, META);
    links.set(link, NEXT_OF_OBJECT, (meta & OF_TAGGED) === 0 ? 0 : objcores.get(oc, SURROGATE));
    objcores.set(oc, SURROGATE, link);
    objcores.set(oc, META, meta | OF_TAGGED);
    this.enter(link, this.keys.findOrAdd(key));
  }

  /** Removes an object from all its tags. */
  forget(oc: Oc): void {
    const { objcores, links } = this;
    for (let link = objcores.get(oc, SURROGATE); link !== 0; ) {
      const next = links.get(link, NEXT_OF_OBJECT);
      this.leave(link);
      links.give(link);
      link = next;
    }
    objcores.set(oc, SURROGATE, 0);
    objcores.set(oc, META, objcores.get(oc, META) & ~OF_TAGGED);
  }

  /** forget() for many; prefetches what that needs. */
  forgetAll(ocs: Int32Array, count: number): void {
    const { objcores, links, leaving } = this;
    let first = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      if ((objcores.get(oc, META) & OF_TAGGED) !== 0) leaving[first++] = objcores.get(oc, SURROGATE);
    }
    links.touchAll(leaving, first, NEXT_OF_OBJECT);
    for (let i = 0; i < first; i++) leaving[i] = links.get(leaving[i] as number, NEXT_OF_OBJECT);
    links.touchAll(leaving, first, NEXT_OF_OBJECT);
    let found = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      const meta = objcores.get(oc, META);
      if ((meta & OF_TAGGED) === 0) continue;
      for (let link = objcores.get(oc, SURROGATE); link !== 0; link = links.get(link, NEXT_OF_OBJECT)) {
        if (found === leaving.length) {
          this.leaveAll(found);
          found = 0;
        }
        leaving[found++] = link;
      }
      objcores.set(oc, SURROGATE, 0);
      objcores.set(oc, META, meta & ~OF_TAGGED);
    }
    this.leaveAll(found);
  }

  /** The pending purge of an object that has keys: the greatest, or the first that is found to be `enough`. */
  doomOf(oc: Oc, enough: Doom = Doom.HARD): Doom {
    const { links, keys } = this;
    let doom: Doom = Doom.NONE;
    for (let link = this.objcores.get(oc, SURROGATE); link !== 0; link = links.get(link, NEXT_OF_OBJECT)) {
      const tag = links.get(link, TAG);
      const own = tag === 0 ? Doom.HARD : (keys.extra(tag, DOOM) as Doom);
      this.looked++;
      if (own >= enough) return own;
      if (own > doom) doom = own;
    }
    return doom;
  }

  /** Calls back with the note of each doomed tag that an object has. */
  notesOf(oc: Oc, use: (note: number) => void): void {
    const { links, keys } = this;
    for (let link = this.objcores.get(oc, SURROGATE); link !== 0; link = links.get(link, NEXT_OF_OBJECT)) {
      const tag = links.get(link, TAG);
      if (tag !== 0 && keys.extra(tag, DOOM) !== Doom.NONE) use(keys.extra(tag, NOTE));
    }
  }

  count(tag: Tag): number {
    return this.keys.extra(tag, COUNT);
  }

  /** Lists at most `most` objects of a tag; returns how many. */
  firstObjects(tag: Tag, into: Int32Array, most: number): number {
    const { links } = this;
    let count = 0;
    for (let link = this.keys.first(tag); link !== 0 && count < most; ) {
      into[count++] = links.get(link, OBJECT);
      link = links.get(link, NEXT);
    }
    return count;
  }

  /** The same, and removes them from the tag: a doomed one, whose objects are about to be removed. */
  cutFirst(tag: Tag, into: Int32Array, most: number): number {
    const { links, keys } = this;
    let count = 0;
    let link = keys.first(tag);
    while (link !== 0 && count < most) {
      into[count++] = links.get(link, OBJECT);
      links.set(link, TAG, 0);
      link = links.get(link, NEXT);
    }
    if (link !== 0) links.set(link, PREV, 0);
    keys.setFirst(tag, link);
    keys.setExtra(tag, COUNT, keys.extra(tag, COUNT) - count);
    return count;
  }

  /** Calls back with each object of a tag, which must not change meanwhile, until the callback returns false. */
  forEach(tag: Tag, use: (oc: Oc) => boolean): void {
    const { links } = this;
    for (let link = this.keys.first(tag); link !== 0; link = links.get(link, NEXT)) {
      if (!use(links.get(link, OBJECT))) return;
    }
  }

  /** Detaches a tag from its key; the caller keeps it until release(). */
  doom(tag: Tag, doom: typeof Doom.SOFT | typeof Doom.HARD, note: number): void {
    const { keys } = this;
    if (keys.extra(tag, DOOM) === Doom.NONE) {
      keys.hide(tag);
      this.doomed[0] = (this.doomed[0] as number) + 1;
    }
    keys.setExtra(tag, DOOM, doom);
    keys.setExtra(tag, NOTE, note);
  }

  /** Moves the first `count` members of a doomed tag back under its key. */
  moveFirst(tag: Tag, count: number, key: string): void {
    const { links, keys } = this;
    const to = keys.findOrAdd(key);
    const first = keys.first(tag);
    let last = 0;
    let rest = first;
    for (let i = 0; i < count; i++) {
      last = rest;
      links.set(last, TAG, to);
      rest = links.get(last, NEXT);
    }
    keys.setFirst(tag, rest);
    keys.setExtra(tag, COUNT, keys.extra(tag, COUNT) - count);
    if (rest !== 0) links.set(rest, PREV, 0);
    const before = keys.first(to);
    links.set(last, NEXT, before);
    if (before !== 0) links.set(before, PREV, last);
    keys.setFirst(to, first);
    keys.setExtra(to, COUNT, keys.extra(to, COUNT) + count);
  }

  /** Frees a doomed tag without members. */
  release(tag: Tag): void {
    this.doomed[0] = (this.doomed[0] as number) - 1;
    this.keys.free(tag);
  }

  private enter(link: number, tag: Tag): void {
    const { links, keys } = this;
    const first = keys.first(tag);
    links.set(link, TAG, tag);
    links.set(link, PREV, 0);
    links.set(link, NEXT, first);
    if (first !== 0) links.set(first, PREV, link);
    keys.setFirst(tag, link);
    keys.setExtra(tag, COUNT, keys.extra(tag, COUNT) + 1);
  }

  /** Removes a link from its tag; false when it was the last one of a tag that is not doomed. */
  private unlink(link: number, tag: Tag): boolean {
    const { links, keys } = this;
    const prev = links.get(link, PREV);
    const next = links.get(link, NEXT);
    if (prev === 0) keys.setFirst(tag, next);
    else links.set(prev, NEXT, next);
    if (next !== 0) links.set(next, PREV, prev);
    keys.setExtra(tag, COUNT, keys.extra(tag, COUNT) - 1);
    return prev !== 0 || next !== 0 || keys.extra(tag, DOOM) !== Doom.NONE;
  }

  /** Removes the first `count` links of `leaving` from their tags and frees them. */
  private leaveAll(count: number): void {
    const { links, keys, leaving, near, tagsOf } = this;
    links.giveAll(leaving, count);
    let linked = 0;
    for (let i = 0; i < count; i++) {
      const link = leaving[i] as number;
      const tag = links.get(link, TAG);
      if (tag === 0) continue;
      leaving[linked] = link;
      tagsOf[linked++] = tag;
    }
    keys.touchAll(tagsOf, linked);
    for (let i = 0; i < linked; i++) near[i] = links.get(leaving[i] as number, PREV);
    links.touchAll(near, linked, NEXT);
    for (let i = 0; i < linked; i++) near[i] = links.get(leaving[i] as number, NEXT);
    links.touchAll(near, linked, PREV);
    let gone = 0;
    for (let i = 0; i < linked; i++) {
      const tag = tagsOf[i] as Tag;
      if (!this.unlink(leaving[i] as number, tag)) tagsOf[gone++] = tag;
    }
    keys.removeAll(tagsOf, gone);
  }

  private leave(link: number): void {
    const tag = this.links.get(link, TAG);
    if (tag !== 0 && !this.unlink(link, tag)) this.keys.remove(tag);
  }
}
