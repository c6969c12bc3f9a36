// Sends a body that does not leave in one write: large, still arriving, or unpacked on the way. Slices are taken from
// the store without a copy, in turn with the other bodies that are being sent, and nothing more is read until the client
// has taken them: that is the backpressure which reaches the origin through Cache.consume(). A body that fails midway is
// cut, never ended.

import { createGunzip, type Gunzip } from 'node:zlib';
import { Tag } from '../../protocol/tables/tags.ts';
import type { ProgressReader, ProgressSource } from '../cache/live.ts';
import { PackedPieces } from '../filters/deflate-places.ts';
import { CHUNK_END, CHUNK_HEAD_MAX, chunkHead, LAST_CHUNK } from '../http1/chunked.ts';
import type { Request } from '../transaction/request.ts';
import type { Sender } from '../transaction/send-turns.ts';

export interface BodyPlan {
  /** First byte to send and the one after the last (Infinity: to the end), of the body as the client sees it. */
  from: number;
  to: number;
  gunzip: boolean;
  chunked: boolean;
  /** Bytes promised to the client, or -1. */
  length: number;
}

const SLICE = 64 * 1024;

export class BodyWriter implements ProgressReader, Sender {
  private readonly req: Request;
  private readonly plan: BodyPlan;
  private readonly done: (ok: boolean) => void;
  private at: number;
  private readonly sourceEnd: number;
  /** Unpacked bytes so far. */
  private unpacked = 0;
  private unpackedPieces = 0;
  private readonly places = new PackedPieces();
  private sent = 0;
  private ended = false;
  private waiting = false;
  /** The end has been put off for a turn. */
  private patient = false;
  private gunzip: Gunzip | null = null;
  private unpacking = false;
  private packedEnd = false;
  private source: ProgressSource | null = null;

  constructor(req: Request, plan: BodyPlan, done: (ok: boolean) => void) {
    this.req = req;
    this.plan = plan;
    this.done = done;
    // What is unpacked on the way is read from its beginning; the window is cut out of what comes out.
    this.at = plan.gunzip ? 0 : plan.from;
    this.sourceEnd = plan.gunzip ? Number.POSITIVE_INFINITY : plan.to;
  }

  start(): void {
    const { req, plan } = this;
    req.onAbort = () => this.end(false);
    if (plan.gunzip) this.openGunzip();
    this.source = req.core.cache.onProgress(req.oc, this);
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
    while (!this.ended && !this.waiting && !this.unpacking) {
      const have = Math.min(cache.bodyLength(req.oc), this.sourceEnd);
      if (this.at >= have) {
        this.sentAll();
        return;
      }
      if (!mayGo && !sendTurns.enter(this)) {
        this.waiting = true;
        return;
      }
      mayGo = false;
      const slice = cache.slice(req.oc, this.at, Math.min(SLICE, have - this.at));
      this.at += slice.length;
      if (this.gunzip !== null) this.unpack(this.gunzip, slice);
      else if (this.send(slice)) this.consumed();
    }
  }

  private unpack(gunzip: Gunzip, slice: Buffer): void {
    this.unpacking = true;
    this.places.add(slice);
    gunzip.write(slice, () => {
      this.unpacking = false;
      this.consumed();
      this.pump();
    });
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
    const { req, gunzip } = this;
    const { cache } = req.core;
    const finished = cache.isFinished(req.oc);
    if (cache.isFailed(req.oc)) this.end(false);
    else if (this.at >= this.sourceEnd || finished) {
      if (gunzip === null && !finished && !this.patient) this.waitOnce();
      else if (gunzip === null) this.complete();
      else if (!this.packedEnd) {
        this.packedEnd = true;
        gunzip.end();
      }
    }
  }

  /** Writes client bytes; false when the client must take them first (pump goes on then). */
  private send(bytes: Uint8Array): boolean {
    const { req, plan } = this;
    const { session } = req;
    if (plan.length >= 0 && this.sent + bytes.length > plan.length) {
      this.end(false);
      return false;
    }
    if (plan.chunked) {
      const size = Buffer.allocUnsafe(CHUNK_HEAD_MAX);
      const n = chunkHead(size, 0, bytes.length);
      session.socket.cork();
      session.write(size.subarray(0, n));
      session.write(bytes);
      session.write(CHUNK_END);
      session.socket.uncork();
    } else session.write(bytes);
    if (this.sent > 0) req.bodyWrites++;
    this.sent += bytes.length;
    req.bodyBytesOut = this.sent;
    req.core.sendTurns.spent(bytes.length);
    if (session.socket.writableLength === 0) return true;
    this.waiting = true;
    session.drained(() => {
      this.waiting = false;
      if (this.ended) return;
      if (this.gunzip !== null) this.gunzip.resume();
      else this.consumed();
      this.pump();
    });
    return false;
  }

  private consumed(): void {
    if (!this.ended) this.req.core.cache.consume(this.req.oc, this.at);
  }

  private openGunzip(): void {
    const gunzip = createGunzip();
    this.gunzip = gunzip;
    this.req.core.stats.n_gunzip++;
    gunzip.on('data', (bytes: Buffer) => {
      if (this.ended) return;
      const { from, to } = this.plan;
      const first = Math.max(0, from - this.unpacked);
      const last = Math.min(bytes.length, to - this.unpacked);
      this.unpacked += bytes.length;
      this.unpackedPieces++;
      if (first < last && !this.send(bytes.subarray(first, last))) gunzip.pause();
      else if (this.unpacked >= to) this.unpackedAll();
    });
    gunzip.on('end', () => this.unpackedAll());
    gunzip.on('error', () => this.end(false));
  }

  /** Everything wanted has come out of the filter. */
  private unpackedAll(): void {
    if (this.ended) return;
    this.req.log.put(Tag.VdpAcct, `gunzip ${this.unpackedPieces} ${this.sent}`);
    this.req.log.put(Tag.Gzip, `U D - ${this.at} ${this.unpacked} ${this.places.places()}`);
    this.complete();
  }

  private complete(): void {
    const { plan, req } = this;
    if (plan.length >= 0 && this.sent !== plan.length) {
      this.end(false);
      return;
    }
    if (plan.chunked && !this.ended) req.session.write(LAST_CHUNK);
    this.end(true);
  }

  private end(ok: boolean): void {
    if (this.ended) return;
    this.ended = true;
    this.source?.detach(this);
    this.req.onAbort = null;
    this.gunzip?.destroy();
    this.done(ok);
  }
}
