// Everything that can be asked of an object by its handle: state, head, body, lifetimes, flags. Changes nothing
// but what belongs to reading (how far a body in transit is used up) and the unpacked length a fetch learns late.
//
// The base of the cache, since these are its hottest methods and a second object behind them would only pass
// them on. The caller holds a reference to what it asks about.

import type { HttpMessage } from '../http1/message.ts';
import { gunzippedLength, setGunzippedLength, statusOf, wireLength, wireStart } from './head-codec.ts';
import type { ProgressReader, ProgressSource } from './live.ts';
import * as row from './objcore.ts';
import { type Oc, type OcState, stateIn } from './objcore.ts';
import type { ObjectStore } from './object-store.ts';
import type { Rows } from './rows.ts';
import type { ChunkBytes } from './storage/slab.ts';

export class ObjectReader {
  protected readonly rows: Rows;
  protected readonly store: ObjectStore;

  constructor(rows: Rows, store: ObjectStore) {
    this.rows = rows;
    this.store = store;
  }

  // ---- state

  state(oc: Oc): OcState {
    return stateIn(this.rows.get(oc, row.META));
  }

  isFinished(oc: Oc): boolean {
    return this.state(oc) === row.STATE_FINISHED;
  }

  isFailed(oc: Oc): boolean {
    return this.state(oc) === row.STATE_FAILED;
  }

  /** Whether head and at least the beginning of the body can be read. */
  isDeliverable(oc: Oc): boolean {
    const state = this.state(oc);
    return state === row.STATE_STREAM || state === row.STATE_FINISHED;
  }

  // ---- head

  /** Decodes the stored head into a message, which keeps its kind and log. */
  head(oc: Oc, into: HttpMessage): void {
    this.store.head(oc, into);
  }

  /** Calls back with the head's wire bytes (status line and fields, each with CRLF, no empty line). */
  headWire<T>(oc: Oc, use: (chunk: ChunkBytes, start: number, length: number) => T): T {
    const chunk = this.store.headChunk(oc);
    const at = this.store.headAt(oc);
    return use(chunk, wireStart(chunk, at), wireLength(chunk, at));
  }

  /** Where the encoded head is, for head-codec's functions: its memory, and where in it. */
  headChunk(oc: Oc): ChunkBytes {
    return this.store.headChunk(oc);
  }

  headAt(oc: Oc): number {
    return this.store.headAt(oc);
  }

  status(oc: Oc): number {
    return statusOf(this.store.headChunk(oc), this.store.headAt(oc));
  }

  gunzippedLength(oc: Oc): number {
    return gunzippedLength(this.store.headChunk(oc), this.store.headAt(oc));
  }

  setGunzippedLength(oc: Oc, length: number): void {
    setGunzippedLength(this.store.headChunk(oc), this.store.headAt(oc), length);
  }

  // ---- body

  bodyLength(oc: Oc): number {
    return this.rows.getDouble(oc, row.BODY_LENGTH);
  }

  /** Copies at most `max` body bytes from offset `from`; returns how many there were. */
  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number {
    return this.store.copyBody(oc, from, dst, dstAt, max);
  }

  /** A view of body bytes from `from` on, at most `max`, perhaps fewer; valid while the reference is held. */
  slice(oc: Oc, from: number, max: number): Buffer {
    return this.store.slice(oc, from, max);
  }

  /** Views of the whole body from `from` on, as far as it is stored. */
  *bodySlices(oc: Oc, from = 0): IterableIterator<Buffer> {
    for (let at = from; ; ) {
      const piece = this.slice(oc, at, Number.MAX_SAFE_INTEGER);
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  // ---- bodies in the making

  /** Tells a reader when the body grows, finishes or fails, or the head becomes visible; returns what it is to be
   * detached from, null when there is nothing to tell any more. */
  onProgress(oc: Oc, reader: ProgressReader): ProgressSource | null {
    if (this.isFinished(oc) || this.isFailed(oc)) return null;
    const live = this.store.liveOf(oc);
    live.attach(reader);
    return live;
  }

  /** Tells the fetch of a body for one reader when that reader moved on or left. */
  onConsume(oc: Oc, told: () => void): void {
    this.store.liveOf(oc).onConsume = told;
  }

  /** Body bytes before `upTo` may go: has effect on bodies for one reader only. */
  consume(oc: Oc, upTo: number): void {
    this.store.consume(oc, upTo);
  }

  /** Stored bytes that the one reader has not used up yet. */
  inTransit(oc: Oc): number {
    return this.bodyLength(oc) - (this.store.live.get(oc)?.consumed ?? 0);
  }

  /** Whether only the fetch itself (and the index) still holds the object. */
  isAbandoned(oc: Oc): boolean {
    const ofIndex = (this.rows.get(oc, row.META) & row.OF_INDEXED) !== 0 ? 1 : 0;
    return this.rows.get(oc, row.REFS) <= 1 + ofIndex;
  }

  /** What the response announced as its length; -1 when unknown or no longer of interest. */
  declaredLength(oc: Oc): number {
    return this.store.live.get(oc)?.expected ?? -1;
  }

  // ---- attributes: times in seconds, tOrigin since the epoch

  ttlOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.TTL);
  }

  graceOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.GRACE);
  }

  keepOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.KEEP);
  }

  tOriginOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.T_ORIGIN);
  }

  hits(oc: Oc): number {
    return this.rows.get(oc, row.HITS);
  }

  vxidOf(oc: Oc): number {
    return this.rows.get(oc, row.VXID) >>> 0;
  }

  flagsOf(oc: Oc): number {
    return this.rows.get(oc, row.META) & row.OF_ATTRIBUTES;
  }

  isGzipped(oc: Oc): boolean {
    return (this.rows.get(oc, row.META) & row.OF_GZIPPED) !== 0;
  }

  /** Whether its body was packed or unpacked on its way into the store. */
  isRecoded(oc: Oc): boolean {
    return (this.rows.get(oc, row.META) & row.OF_RECODED) !== 0;
  }

  /** Whether the stored head and body are, as they are, the answer to a plain GET. */
  isPlain(oc: Oc): boolean {
    return (this.rows.get(oc, row.META) & row.OF_PLAIN) !== 0;
  }

  /** Whether its fetch held it back until it was whole. */
  isUnstreamed(oc: Oc): boolean {
    return (this.rows.get(oc, row.META) & row.OF_UNSTREAMED) !== 0;
  }

  isUncacheable(oc: Oc): boolean {
    const uncacheable = row.OF_PRIVATE | row.OF_MARKER | row.OF_UNCACHEABLE;
    return (this.rows.get(oc, row.META) & uncacheable) !== 0;
  }

  storageNameOf(oc: Oc): string {
    return this.store.stevedoreOf(oc).name;
  }
}
