// The state of one attempt at a request: from its beginning to a restart, or from one restart to the next. A restart
// replaces it whole, so that nothing of a former attempt is left.

import type { Oc } from '../cache/objcore.ts';
import type { PartFacts, Segment } from '../cache/part-facts.ts';
import type { VclAttempt } from '../contract/context.ts';
import type { StreamPlaces } from '../esi/gzip-stitch.ts';
import type { DeliveryChain } from '../filters/chain.ts';
import type { Page } from '../filters/filter.ts';

/** A page whose fragments come meanwhile. */
export interface PageInDelivery extends Page {
  isBare: boolean;
  /** Has fragments come before the page is in turn itself. */
  waits(): void;
  /** Calls when no fragment is under way any more, perhaps at once. */
  over(callback: () => void): void;
}

/** How the slices of a delivery were come by. */
export interface SliceCounts {
  hits: number;
  fetched: number;
}

/** A slice on its way to a delivery, or there. */
export interface SliceInHand {
  readonly segment: Segment;
  readonly state: 'waiting' | 'there' | 'failed';
  /** A reference is held until drop(); 0 until it can be read. */
  readonly oc: Oc;
  onSettled: (() => void) | null;
  readonly mayBeFetched: boolean;
  readonly hasChanged: boolean;
  drop(): void;
}

export class RequestAttempt implements VclAttempt {
  vxid = 0;
  /** Epoch seconds. */
  tStart = 0;
  /** No wait has come between the head and now. */
  fresh = false;
  hashKey = '';
  /** The object that is delivered; 0 is none. The request holds a reference, as for the next two. */
  oc: Oc = 0;
  /** The busy object that the lookup made, until a fetch fills it. */
  busyOc: Oc = 0;
  staleOc: Oc = 0;
  /** The slices in which the object that is delivered is kept; null where it is whole. */
  part: PartFacts | null = null;
  /** The object whose body is still coming as one in parts: the range that is wanted is fetched as one of them. */
  farPart: PartFacts | null = null;
  /** The slice that was asked for while the request waits for the object's head; -1 is none. */
  earlySlice = -1;
  /** The slice that the response begins with, until its body is begun. */
  firstSlice: SliceInHand | null = null;
  readonly slices: SliceCounts = { hits: 0, fetched: 0 };
  /** A second lookup has followed on a slice that was of another version. */
  hasLookedAgain = false;
  /** The request cannot use an object that is kept in slices. */
  wantsWhole = false;
  /** The object came from the cache. */
  isHit = false;
  /** That object is stale. */
  isGrace = false;
  isHitMiss = false;
  isHitPass = false;
  isPass = false;
  /** The hit is counted already. */
  counted = false;
  /** The lookup has waited for the fetch of another. */
  waited = false;
  /** The lookup has asked the disk tier. */
  askedDisk = false;
  /** The fetched object replaces all others under its key, once it is whole and no failure. */
  replacesOthers = false;
  /** The object's transaction id, which the header of ids names on a hit. */
  hitVxid = 0;
  respDoEsi = true;
  respFilters: string | null = null;
  /** The fragments of the page that is delivered; null before any are wanted. */
  page: PageInDelivery | null = null;
  /** The filters that the response's body passes; null where it passes none. */
  chain: DeliveryChain | null = null;
  /** Where the blocks of a packed fragment lie, null where that has no answer; undefined before they are looked for. */
  places: StreamPlaces | null | undefined = undefined;
  synthStatus = 0;
  synthReason = '';
  synthBody: string | null = null;
  /** Bytes. */
  headBytesOut = 0;
  bodyBytesOut = 0;
  /** Pieces in which the body was written, when there was more than one. */
  bodyWrites = 1;

  releaseSlice(): void {
    this.firstSlice?.drop();
    this.firstSlice = null;
  }
}
