// A lookup's search in a crowd: yields the candidates in the order of the key's chain, which are the objects of the request's
// variant by each list of names, and those that do not vary. The lookup compares them. The crowd must not change meanwhile.
// Reused for each lookup; allocates the request's values only.

import type { HttpMessage } from '../http1/message.ts';
import type { Crowd, Crowds, Member } from './crowds.ts';
import type { Oc } from './objcore.ts';
import type { VariantHash, VaryKey } from './vary.ts';

const NO_VARIANT: VaryKey = { names: [], values: [] };

export class CrowdSearch {
  private readonly crowds: Crowds;
  private readonly hash: VariantHash;
  private crowd: Crowd = 0;
  /** The next member of each list, and of the plain ones. */
  private readonly cursors: Member[] = [];
  /** The request's variant by the most recently used list of names. */
  private newest: VaryKey = NO_VARIANT;

  constructor(crowds: Crowds, hash: VariantHash) {
    this.crowds = crowds;
    this.hash = hash;
  }

  begin(crowd: Crowd, request: HttpMessage): void {
    const { crowds, cursors } = this;
    this.crowd = crowd;
    this.newest = NO_VARIANT;
    cursors.length = 0;
    const plain = crowds.firstPlain(crowd);
    if (plain !== 0) cursors.push(plain);
    for (let list = crowds.firstList(crowd); list !== 0; list = crowds.nextList(list)) {
      const names = crowds.namesOf(list);
      const key = { names, values: names.map((name) => request.getAll(name)) };
      if (this.newest === NO_VARIANT) this.newest = key;
      const hash = this.hash.ofKey(key);
      // Vary: *
      if (hash === 0) continue;
      const first = crowds.firstOf(list, hash);
      if (first !== 0) cursors.push(first);
    }
  }

  /** The next object; 0 after the last. */
  next(): Oc {
    const { crowds, cursors } = this;
    if (cursors.length === 0) return 0;
    let youngest = 0;
    for (let i = 1; i < cursors.length; i++) {
      const isYounger = crowds.numberOf(cursors[i] as Member) > crowds.numberOf(cursors[youngest] as Member);
      if (isYounger) youngest = i;
    }
    const member = cursors[youngest] as Member;
    const older = crowds.older(member);
    if (older !== 0) cursors[youngest] = older;
    else cursors.splice(youngest, 1);
    return crowds.objectOf(member);
  }

  /** The variant that a fetch for the request will become, if it varies by the most recently used list; 0 without one. */
  expected(gzipSupport: boolean): number {
    return this.newest === NO_VARIANT ? 0 : this.hash.expected(this.newest, gzipSupport);
  }

  /** Whether a fetch under way may bring an object that the request can use. */
  isAwaited(gzipSupport: boolean): boolean {
    const { crowds, crowd } = this;
    if (crowds.hasUnknown(crowd)) return true;
    if (!crowds.hasExpected(crowd)) return false;
    // Without `newest`, the objects by which it was predicted are gone.
    return this.newest === NO_VARIANT || crowds.mayBring(crowd, this.expected(gzipSupport));
  }
}
