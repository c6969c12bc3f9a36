// Which objects carry which surrogate key: tags and their members, in shared memory beside the objects' rows.
//
// A tag is a row with a chain of links, a link joins one object and one tag and is in two chains: the tag's and the
// object's (whose first one is in SURROGATE). Objects leave by forget(), which costs a step a key. It decides
// nothing about objects. Awkward: a doomed tag, one that was purged, is cut off from its key at once, so that new
// objects under the same key are not its members; it lives until its last member has left.

import { KeyIndex, type Oh } from '../key-index.ts';
import { META, type Oc, OF_TAGGED, SURROGATE } from '../objcore.ts';
import { Rows } from '../rows.ts';

/** Tag handle: a row number, 0 is none. */
export type TagRow = number;

/** What waits for the members of a tag; the greater one counts. */
export const Doom = { NONE: 0, SOFT: 1, HARD: 2 } as const;
export type Doom = (typeof Doom)[keyof typeof Doom];

// Words of a tag's row.
const FIRST = 0;
const COUNT = 1;
const KEY = 2;
const DOOM = 3;
const TAG_WORDS = 4;

// Words of a link's row.
const OBJECT = 0;
const TAG = 1;
const PREV = 2;
const NEXT = 3;
const NEXT_OF_OBJECT = 4;
const LINK_WORDS = 6;

/** Bytes of a key's slot in the hash table. */
const KEY_OVERHEAD = 12;

export class TagIndex {
  private readonly objcores: Rows;
  private readonly keys: KeyIndex;
  private readonly tags = new Rows(TAG_WORDS);
  private readonly links = new Rows(LINK_WORDS);
  /** What firstObjects() read in passing; kept so that the reads count as used. */
  touched = 0;

  constructor(objcores: Rows, seed: readonly [number, number]) {
    this.objcores = objcores;
    this.keys = new KeyIndex(seed[0], seed[1]);
  }

  /** Keys that have members. */
  get keyCount(): number {
    return this.keys.count;
  }

  /** Pairs of object and key. */
  get linkCount(): number {
    return this.links.count;
  }

  /** Bytes in use, nearly. */
  get bytes(): number {
    return (
      this.links.count * LINK_WORDS * 4 +
      this.tags.count * TAG_WORDS * 4 +
      this.keys.count * KEY_OVERHEAD +
      this.keys.keyBytes
    );
  }

  /** The tag of a key; 0 when no object carries it. */
  find(key: string): TagRow {
    const oh = this.keys.find(key);
    return oh === 0 ? 0 : this.keys.first(oh);
  }

  /** Gives an object a key that it does not have yet. */
  add(oc: Oc, key: string): void {
    const { objcores, links } = this;
    const link = links.take();
    links.set(link, OBJECT, oc);
    const meta = objcores.get(oc, META);
    links.set(link, NEXT_OF_OBJECT, (meta & OF_TAGGED) === 0 ? 0 : objcores.get(oc, SURROGATE));
    objcores.set(oc, SURROGATE, link);
    objcores.set(oc, META, meta | OF_TAGGED);
    this.enter(link, this.tagOf(key));
  }

  /** Takes an object out of all its tags. */
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

  /** What waits for an object that has keys. */
  doomOf(oc: Oc): Doom {
    const { links, tags } = this;
    let doom: number = Doom.NONE;
    for (let link = this.objcores.get(oc, SURROGATE); link !== 0; link = links.get(link, NEXT_OF_OBJECT)) {
      doom = Math.max(doom, tags.get(links.get(link, TAG), DOOM));
    }
    return doom as Doom;
  }

  count(tag: TagRow): number {
    return this.tags.get(tag, COUNT);
  }

  /** The first object of a tag, 0 when there is none. */
  firstObject(tag: TagRow): Oc {
    const link = this.tags.get(tag, FIRST);
    return link === 0 ? 0 : this.links.get(link, OBJECT);
  }

  /** Fills a list with the first objects of a tag, and reads what belongs to their keys; returns how many. */
  firstObjects(tag: TagRow, into: Int32Array): number {
    const { links, tags } = this;
    let count = 0;
    for (
      let link = this.tags.get(tag, FIRST);
      link !== 0 && count < into.length;
      link = links.get(link, NEXT)
    ) {
      into[count++] = links.get(link, OBJECT);
    }
    let sum = 0;
    for (let i = 0; i < count; i++) sum ^= links.get(this.objcores.get(into[i] as Oc, SURROGATE), TAG);
    for (let i = 0; i < count; i++) {
      // The first tag of an object may be this one, which has no key any more.
      const oh = tags.get(links.get(this.objcores.get(into[i] as Oc, SURROGATE), TAG), KEY);
      if (oh !== 0) sum ^= this.keys.touch(oh);
    }
    for (let i = 0; i < count; i++) {
      const oh = tags.get(links.get(this.objcores.get(into[i] as Oc, SURROGATE), TAG), KEY);
      if (oh !== 0) sum ^= this.keys.touchSlot(oh);
    }
    this.touched = sum;
    return count;
  }

  /** Calls back with each object of a tag, which must not change meanwhile. */
  forEach(tag: TagRow, use: (oc: Oc) => void): void {
    const { links } = this;
    for (let link = this.tags.get(tag, FIRST); link !== 0; link = links.get(link, NEXT)) {
      use(links.get(link, OBJECT));
    }
  }

  /** Cuts a tag off from its key; it is the caller's until release(). */
  doom(tag: TagRow, doom: Doom): void {
    const { keys, tags } = this;
    const oh = tags.get(tag, KEY);
    tags.set(tag, DOOM, doom);
    if (oh === 0) return;
    tags.set(tag, KEY, 0);
    keys.setFirst(oh, 0);
    keys.remove(oh);
  }

  /** Moves the first member of a doomed tag back under its key. */
  moveFirst(tag: TagRow, key: string): void {
    const link = this.tags.get(tag, FIRST);
    if (link === 0) return;
    this.unlink(link, tag);
    this.enter(link, this.tagOf(key));
  }

  /** The end of a doomed tag without members. */
  release(tag: TagRow): void {
    this.tags.give(tag);
  }

  private tagOf(key: string): TagRow {
    const oh: Oh = this.keys.findOrAdd(key);
    let tag = this.keys.first(oh);
    if (tag === 0) {
      tag = this.tags.take();
      this.tags.set(tag, KEY, oh);
      this.keys.setFirst(oh, tag);
    }
    return tag;
  }

  private enter(link: number, tag: TagRow): void {
    const { links, tags } = this;
    const first = tags.get(tag, FIRST);
    links.set(link, TAG, tag);
    links.set(link, PREV, 0);
    links.set(link, NEXT, first);
    if (first !== 0) links.set(first, PREV, link);
    tags.set(tag, FIRST, link);
    tags.set(tag, COUNT, tags.get(tag, COUNT) + 1);
  }

  private unlink(link: number, tag: TagRow): void {
    const { links, tags } = this;
    const prev = links.get(link, PREV);
    const next = links.get(link, NEXT);
    if (prev === 0) tags.set(tag, FIRST, next);
    else links.set(prev, NEXT, next);
    if (next !== 0) links.set(next, PREV, prev);
    tags.set(tag, COUNT, tags.get(tag, COUNT) - 1);
  }

  private leave(link: number): void {
    const { tags } = this;
    const tag = this.links.get(link, TAG);
    this.unlink(link, tag);
    // A doomed one is released by whoever works on it.
    if (tags.get(tag, FIRST) !== 0 || tags.get(tag, DOOM) !== Doom.NONE) return;
    const oh = tags.get(tag, KEY);
    this.keys.setFirst(oh, 0);
    this.keys.remove(oh);
    tags.give(tag);
  }
}
