// Sends a body that does not leave in one write: large, still arriving, or filtered on the way. Slices are taken from
// the store without a copy, in turn with the other bodies that are being sent, and nothing more is read until the
// client has taken them: that is the backpressure which reaches the origin through Reading.consume(). A body that fails
// midway is cut, never ended. Where the bytes go, to the client or into a page, is another's business (BodyTarget).

import type { BodyPlace, ProgressReader, ProgressSource } from '../cache/roles.ts';
import type { DeliveryChain } from '../filters/chain.ts';
import type { Outlet } from '../filters/filter.ts';
import type { Request } from '../transaction/request.ts';
import type { Sender } from '../transaction/send-turns.ts';

export interface BodyPlan {
  /** First byte to read and the one after the last (Infinity: to the end), of the stored body. */
  from: number;
  to: number;
  /** Bytes promised to the client, or -1. */
  length: number;
}

/** Where the bytes of a body go. */
export interface BodyTarget {
  /** Most bytes that it takes at once. */
  readonly most: number;
  /** Takes bytes that follow one another; false when they are in use until what is given to drained() is called. */
  write(parts: readonly Buffer[], length: number): boolean;
  /** Nothing more comes for now: what is held back may leave. */
  flush(): void;
  drained(callback: () => void): void;
  /** The body is whole. */
  end(): void;
}

/** Bytes that filters and pages take at once. */
export const SLICE = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export class BodyWriter implements ProgressReader, Sender, Outlet {
  private readonly req: Request;
  private readonly plan: BodyPlan;
  private readonly chain: DeliveryChain | null;
  private readonly target: BodyTarget;
  private readonly done: (ok: boolean) => void;
  private at: number;
  private sent = 0;
  private ended = false;
  private waiting = false;
  /** The end has been put off for a turn. */
  private patient = false;
  /** The filters are not done with what they took last. */
  private filtering = false;
  /** They have been given the end, and have given theirs. */
  private given = false;
  private isLast = false;
  private source: ProgressSource | null = null;
  private place: BodyPlace | undefined;

  /** @param chain the filters, when any has something to do */
  constructor(
    req: Request,
    plan: BodyPlan,
    chain: DeliveryChain | null,
    target: BodyTarget,
    done: (ok: boolean) => void,
  ) {
    this.req = req;
    this.plan = plan;
    this.chain = chain;
    this.target = target;
    this.done = done;
    this.at = plan.from;
  }

  start(): void {
    const { req } = this;
    req.onAbort = () => this.end(false);
    this.chain?.connect(this);
    this.source = req.core.cache.reading.onProgress(req.attempt.oc, this);
    this.pump();
  }

  progress(): void {
    this.pump();
  }

  /** May send a slice again, after others had their turn. */
  turn(): void {
    this.waiting = false;
    this.pump(true);
  }

  /**
   * Sends what there is, as far as the client takes it and others get their turns.
   * @param isTurn the first slice has been waited for
   */
  private pump(isTurn = false): void {
    const { req } = this;
    const { cache, sendTurns } = req.core;
    let mayGo = isTurn;
    while (!this.ended && !this.waiting && !this.filtering) {
      const have = Math.min(cache.reading.bodyLength(req.attempt.oc), this.plan.to);
      if (this.at >= have) {
        this.sentAll();
        return;
      }
      if (!mayGo && !sendTurns.enter(this)) {
        this.waiting = true;
        return;
      }
      mayGo = false;
      if (this.chain !== null) this.filter(this.chain, this.next(Math.min(have, this.at + SLICE)));
      else if (this.sendSome(Math.min(have, this.at + this.target.most))) this.consumed();
    }
  }

  /** The bytes up to `end`, as views of where they are stored. */
  private sendSome(end: number): boolean {
    const { at } = this;
    const parts = [];
    while (this.at < end) parts.push(this.next(end));
    return this.send(parts, end - at);
  }

  /** A view of the next bytes before `end`. */
  private next(end: number): Buffer {
    const { req } = this;
    const { reading } = req.core.cache;
    this.place ??= reading.place(req.attempt.oc);
    const slice = reading.slice(req.attempt.oc, this.at, end - this.at, this.place);
    this.at += slice.length;
    req.attempt.lent = true;
    return slice;
  }

  private filter(chain: DeliveryChain, slice: Buffer): void {
    this.given = this.isAllRead;
    this.filtering = !chain.data(slice, this.given);
    if (!this.filtering) this.consumed();
  }

  /** Whether nothing is left to be read, now or later. */
  private get isAllRead(): boolean {
    const { req, plan, at } = this;
    const { cache } = req.core;
    return (
      at >= plan.to ||
      (cache.facts.isFinished(req.attempt.oc) && at >= cache.reading.bodyLength(req.attempt.oc))
    );
  }

  data(bytes: Buffer, last: boolean): boolean {
    if (this.ended) return false;
    const goesOn = bytes.length === 0 || this.send([bytes], bytes.length);
    this.isLast = last;
    // They may be bytes of the store: whoever sends them holds the object until they have left.
    if (last && !this.waiting) this.complete();
    return goesOn;
  }

  ready(): void {
    this.filtering = false;
    this.consumed();
    this.pump();
  }

  fail(): void {
    this.end(false);
  }

  /** All that was promised is on its way, and the fetch may be about to end: not with it, as the fetch of a body that
   * only this client wants would take the end of its reader for a reason to fail. */
  private waitOnce(): void {
    this.patient = true;
    this.waiting = true;
    this.req.core.later(() => {
      this.waiting = false;
      this.pump();
    });
  }

  /** Everything that is stored so far is on its way. */
  private sentAll(): void {
    const { req, chain } = this;
    const { cache } = req.core;
    if (cache.facts.isFailed(req.attempt.oc)) this.end(false);
    else if (!this.isAllRead || this.given) {
      // What lies before a range is used up as it comes: the fetch waits for its only reader.
      if (this.at === this.plan.from) this.consumed();
      this.target.flush();
    } else if (chain !== null) {
      this.given = true;
      chain.data(NOTHING, true);
    } else if (!cache.facts.isFinished(req.attempt.oc) && !this.patient) this.waitOnce();
    else this.complete();
  }

  /** Writes client bytes; false when the client must take them first (pump goes on then). */
  private send(parts: readonly Buffer[], length: number): boolean {
    const { req, plan, target } = this;
    if (plan.length >= 0 && this.sent + length > plan.length) {
      this.end(false);
      return false;
    }
    const isTaken = target.write(parts, length);
    if (this.sent > 0) req.attempt.bodyWrites++;
    this.sent += length;
    req.attempt.bodyBytesOut = this.sent;
    if (isTaken) return true;
    this.waiting = true;
    target.drained(() => {
      this.waiting = false;
      if (this.ended) return;
      if (this.isLast) {
        this.complete();
        return;
      }
      if (this.chain !== null) this.chain.resume();
      else this.consumed();
      this.pump();
    });
    return false;
  }

  private consumed(): void {
    if (!this.ended) this.req.core.cache.reading.consume(this.req.attempt.oc, this.at);
  }

  private complete(): void {
    const { plan } = this;
    if (this.ended) return;
    if (plan.length >= 0 && this.sent !== plan.length) {
      this.end(false);
      return;
    }
    this.target.end();
    this.end(true);
  }

  private end(ok: boolean): void {
    if (this.ended) return;
    this.ended = true;
    this.source?.detach(this);
    this.req.onAbort = null;
    this.chain?.close();
    this.done(ok);
  }
}
