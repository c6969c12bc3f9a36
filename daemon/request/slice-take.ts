// One slice of an object that is delivered, other than the one with its head: found in the cache, waited for, or fetched. A
// fetch belongs to no client: other requests for the slice wait for the same one, and it continues when its
// client has left.

import { LookupAnswer, LookupQuery, LookupResult } from '../cache/lookup-query.ts';
import { type Oc, OF_PART } from '../cache/objcore.ts';
import { type PartFacts, partKey, type Segment } from '../cache/part-facts.ts';
import { startFetch } from '../fetch/fetch-machine.ts';
import { type SlicedObject, type Urgency, WantedPart } from '../fetch/wanted-part.ts';
import type { Request } from '../transaction/request.ts';
import type { SliceCounts, SliceInHand } from '../transaction/request-attempt.ts';
import { ObjectWait } from '../transaction/store-flow.ts';
import { partOf } from './first-part.ts';

export class SliceTake implements SliceInHand {
  readonly segment: Segment;
  state: 'waiting' | 'there' | 'failed' = 'waiting';
  /** The slice, as soon as it can be read; held until drop(). */
  oc: Oc = 0;
  /** Called once when the state changes. */
  onSettled: (() => void) | null = null;
  private readonly req: Request;
  private readonly part: PartFacts;
  private readonly counts: SliceCounts;
  private readonly urgency: Urgency;
  private wanted: WantedPart | null = null;
  private cancel: (() => void) | null = null;
  private dropped = false;
  private hasWaited = false;
  private othersFailed = false;
  private askedDisk = false;

  constructor(req: Request, part: PartFacts, segment: Segment, counts: SliceCounts, urgency: Urgency) {
    this.req = req;
    this.part = part;
    this.segment = segment;
    this.counts = counts;
    this.urgency = urgency;
    if (segment.index === part.index && urgency !== 'uncached') {
      if (req.attempt.isHit) counts.hits++;
      else counts.fetched++;
      this.oc = req.attempt.oc;
      req.core.cache.references.ref(this.oc);
      this.state = 'there';
    } else this.look();
  }

  /** Whether it says nothing about the slice that it has failed: the store had no room for it, or it was another request's, whose
   * fetch broke off, maybe on another thread, between the lookup and a look at what was found. */
  get mayBeFetched(): boolean {
    return this.wanted === null || this.wanted.lacksRoom;
  }

  /** Whether its object was taken out of the cache: it is another one, or has no slices any more. */
  get isGone(): boolean {
    return this.wanted?.verdict === 'changed' || this.wanted?.verdict === 'unusable';
  }

  /** Whether the origin has another version of the object. */
  get hasChanged(): boolean {
    return this.wanted?.verdict === 'changed';
  }

  /** Lets go of the slice, or of the wait for it. */
  drop(): void {
    if (this.dropped) return;
    this.dropped = true;
    this.onSettled = null;
    this.cancel?.();
    this.cancel = null;
    if (this.oc !== 0) this.req.core.cache.references.deref(this.oc);
    this.oc = 0;
  }

  private look(): void {
    const { req } = this;
    const { cache, stats } = req.core;
    const query = new LookupQuery(req.http);
    query.key = partKey(req.attempt.hashKey, this.part, this.segment.index);
    query.now = req.tReq;
    // The slice belongs to the variant that was found.
    query.hashIgnoreVary = true;
    query.hashIgnoreBusy = this.othersFailed;
    query.waited = this.hasWaited;
    const out = new LookupResult();
    const found = cache.lookup.find(query, out);
    switch (found) {
      case LookupAnswer.HIT:
      case LookupAnswer.GRACE:
        // The head limits the age of the object.
        if (out.busy !== 0) cache.references.deref(out.busy);
        if (!this.belongs(out.oc)) {
          cache.invalidation.purgeOne(out.oc, req.core.clock.now());
          cache.references.deref(out.oc);
          this.look();
          return;
        }
        cache.hits.touch(out.oc, req.tReq);
        cache.hits.count(out.oc);
        if (this.segment.index === req.attempt.earlySlice) this.counts.fetched++;
        else this.counts.hits++;
        this.settle(out.oc);
        return;
      case LookupAnswer.MISS:
      case LookupAnswer.HITMISS:
        this.miss(query, out.busy, out.stale);
        return;
      case LookupAnswer.HITPASS:
        this.fetch(cache.filling.newPrivate(), 0);
        return;
      case LookupAnswer.BUSY:
        stats.busy_sleep++;
        this.hasWaited = true;
        this.wait((wake) =>
          cache.lookup.wait(query.key, {
            wake: (failed: boolean) => {
              stats.busy_wakeup++;
              this.othersFailed = failed;
              wake();
            },
          }),
        );
        return;
      default:
        this.wait((wake) => cache.lookup.waitTurn({ wake }));
    }
  }

  /** Whether a slice is of the object that is delivered: one that was asked for before the head had come may be of another. */
  private belongs(oc: Oc): boolean {
    const { validator, total } = this.part;
    const own = partOf(this.req.core, oc);
    return own === null || (own.validator === validator && own.total === total);
  }

  private wait(park: (wake: () => void) => () => void): void {
    this.cancel = park(() => {
      this.cancel = null;
      if (!this.dropped) this.look();
    });
  }

  private miss(query: LookupQuery, busy: Oc, stale: Oc): void {
    const { core } = this.req;
    const { references } = core.cache;
    const { disk } = core;
    if (disk === null || this.askedDisk || stale !== 0 || !disk.mayHave(query.key)) {
      this.fetch(busy, stale);
      return;
    }
    this.askedDisk = true;
    void disk
      .load(query, busy, () => !this.dropped)
      .then((found) => {
        if (!found && !this.dropped) {
          this.fetch(busy, 0);
          return;
        }
        references.deref(busy);
        if (!this.dropped) this.look();
      });
  }

  /** @param busy the object to fill, with a reference, and `stale` likewise */
  private fetch(busy: Oc, stale: Oc): void {
    const { req, part, segment } = this;
    const { index, from, to } = segment;
    const { cache } = req.core;
    const { facts, references } = cache;
    this.counts.fetched++;
    this.oc = busy;
    references.ref(busy);
    const of = objectOf(req, part, this.urgency);
    const wanted =
      this.urgency === 'uncached'
        ? new WantedPart(0, from, of, null, to)
        : new WantedPart(part.size, index, of, null, to);
    this.wanted = wanted;
    startFetch(req, busy, stale, 'fetch', null, wanted);
    if (stale !== 0) references.deref(stale);
    const isOver = (): boolean => facts.isDeliverable(busy) || facts.isFailed(busy);
    if (isOver()) {
      this.settle(busy);
      return;
    }
    const wait = new ObjectWait(cache, busy, isOver, () => {
      this.cancel = null;
      this.settle(busy);
    });
    this.cancel = () => wait.leave();
  }

  /** @param oc the slice, with a reference, or what has become of its fetch */
  private settle(oc: Oc): void {
    const { facts } = this.req.core.cache;
    this.oc = oc;
    this.state = facts.isDeliverable(oc) && facts.has(oc, OF_PART) ? 'there' : 'failed';
    const { onSettled } = this;
    this.onSettled = null;
    onSettled?.();
  }
}

/** The object that is delivered, for a fetch of one of its slices, which may be over later than the delivery. */
function objectOf({ core, attempt }: Request, part: PartFacts, urgency: Urgency): SlicedObject {
  const { cache, clock } = core;
  const { oc } = attempt;
  const isComing = attempt.farPart !== null;
  cache.references.ref(oc);
  return {
    part,
    set: part.set,
    urgency,
    comes: (place) => {
      if (part.size === 0) cache.filling.addPart(oc, place);
    },
    changed: () => {
      // One that is being fetched is no older than the answer: origins that are several may disagree.
      if (!isComing) cache.invalidation.purgeOne(oc, clock.now());
    },
    release: () => cache.references.deref(oc),
  };
}
