// A look-up's way through a crowd: the objects that may match a request, in the order of their key's chain, which are
// those of its variant by each list of names, and those that do not vary. Whether they match, the look-up finds out.
// The crowd must not change meanwhile. Used again for each look-up; allocates what the values of the request need.

import type { HttpMessage } from '../http1/message.ts';
import type { Crowd, Crowds, Member } from './crowds.ts';
import type { Oc } from './objcore.ts';
import { expectedVariant, hashVariant, type VaryKey } from './vary.ts';

const NO_VARIANT: VaryKey = { names: [], values: [] };

export class CrowdSearch {
  private readonly crowds: Crowds;
  private crowd: Crowd = 0;
  /** The next member of each part. */
  private readonly cursors: Member[] = [];
  /** The request's variant by the list of names that got an object last. */
  private newest: VaryKey = NO_VARIANT;

  constructor(crowds: Crowds) {
    this.crowds = crowds;
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
      const hash = hashVariant(key);
      // Varies by everything.
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

  /** The variant that a fetch for the request will become, if it varies as the newest object does that varies; 0 without one. */
  expected(gzipSupport: boolean): number {
    return this.newest === NO_VARIANT ? 0 : expectedVariant(this.newest, gzipSupport);
  }

  /** Whether a fetch under way may bring what the request can use. */
  isAwaited(gzipSupport: boolean): boolean {
    const { crowds, crowd } = this;
    if (crowds.hasUnknown(crowd)) return true;
    if (!crowds.hasExpected(crowd)) return false;
    // It varied as an object that has gone meanwhile.
    return this.newest === NO_VARIANT || crowds.mayBring(crowd, this.expected(gzipSupport));
  }
}
