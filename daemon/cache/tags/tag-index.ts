// Which objects carry which surrogate key: tags and their members, in shared memory beside the objects' rows.
//
// A tag is a row with a chain of links, a link joins one object and one tag and is in two chains: the tag's and the
// object's (whose first one is in SURROGATE). Objects leave by forget(), which costs a step a key. It decides
// nothing about objects. Awkward: a doomed tag, one that was purged, is cut off from its key at once, so that new
// objects under the same key are not its members; it lives until its last member has left.

import { KeyIndex, type Oh } from '../key-index.ts';
import { BATCH, META, type Oc, OF_TAGGED, SURROGATE } from '../objcore.ts';
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
  /** Scratch of forgetAll(): links, what is near them, and keys without members. */
  private readonly leaving = new Int32Array(2 * BATCH);
  private readonly near = new Int32Array(2 * BATCH);
  private readonly unused = new Uint32Array(2 * BATCH);

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

  /** The same for many; reads first what that needs. */
  forgetAll(ocs: Int32Array, count: number): void {
    const { objcores, links, leaving } = this;
    let first = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      if ((objcores.get(oc, META) & OF_TAGGED) !== 0) leaving[first++] = objcores.get(oc, SURROGATE);
    }
    links.touchAll(leaving, first, TAG);
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

  /** Puts the first objects of a tag into a list, at most so many; returns how many. */
  firstObjects(tag: TagRow, into: Int32Array, most: number): number {
    const { links } = this;
    let count = 0;
    for (let link = this.tags.get(tag, FIRST); link !== 0 && count < most; ) {
      into[count++] = links.get(link, OBJECT);
      link = links.get(link, NEXT);
    }
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

  /** Moves the first members of a doomed tag, as many as `count`, back under its key. */
  moveFirst(tag: TagRow, count: number, key: string): void {
    const { links, tags } = this;
    const to = this.tagOf(key);
    const first = tags.get(tag, FIRST);
    let last = 0;
    let rest = first;
    for (let i = 0; i < count; i++) {
      last = rest;
      links.set(last, TAG, to);
      rest = links.get(last, NEXT);
    }
    tags.set(tag, FIRST, rest);
    tags.set(tag, COUNT, tags.get(tag, COUNT) - count);
    if (rest !== 0) links.set(rest, PREV, 0);
    const before = tags.get(to, FIRST);
    links.set(last, NEXT, before);
    if (before !== 0) links.set(before, PREV, last);
    tags.set(to, FIRST, first);
    tags.set(to, COUNT, tags.get(to, COUNT) + count);
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

  /** Takes the first links of `leaving` out of their tags and gives them back. */
  private leaveAll(count: number): void {
    const { links, tags, leaving, near, unused } = this;
    for (let i = 0; i < count; i++) near[i] = links.get(leaving[i] as number, TAG);
    tags.touchAll(near, count, KEY);
    for (let i = 0; i < count; i++) near[i] = links.get(leaving[i] as number, PREV);
    links.touchAll(near, count, NEXT);
    for (let i = 0; i < count; i++) near[i] = links.get(leaving[i] as number, NEXT);
    links.touchAll(near, count, PREV);
    let gone = 0;
    for (let i = 0; i < count; i++) {
      const link = leaving[i] as number;
      const tag = links.get(link, TAG);
      this.unlink(link, tag);
      if (tags.get(tag, FIRST) !== 0 || tags.get(tag, DOOM) !== Doom.NONE) continue;
      unused[gone++] = tags.get(tag, KEY);
      tags.give(tag);
    }
    this.keys.touchAll(unused, gone);
    this.keys.removeAll(unused, gone);
    links.giveAll(leaving, count);
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
