// Reads an object's bytes by its handle: head, body, and a body in the making.
//
// The caller holds a reference to what it reads. Changes nothing but how far the one reader of a body in transit is.

import type { LentBytes, StoredBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { CacheState } from './cache-state.ts';
import { ForeignReaders } from './foreign-readers.ts';
import { gunzippedLength } from './head-codec.ts';
import { BODY_LENGTH, META, type Oc, STATE_FAILED, STATE_FINISHED, stateIn } from './objcore.ts';
import type { ObjectStore } from './object-store.ts';
import type { BodyPlace, ProgressReader, ProgressSource, Reading } from './roles.ts';
import type { ChunkBytes } from './storage/slab.ts';
import { BodyCursor } from './storage/stored-body.ts';

export class ObjectReading implements Reading {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  /** Of this thread, of objects that other threads fetch. */
  readonly foreign: ForeignReaders;

  constructor(state: CacheState, store: ObjectStore) {
    this.state = state;
    this.store = store;
    this.foreign = new ForeignReaders(state.peers, state.turns);
  }

  head(oc: Oc, into: HttpMessage): void {
    this.store.head(oc, into);
  }

  headChunk(oc: Oc): ChunkBytes {
    return this.store.headChunk(oc);
  }

  headAt(oc: Oc): number {
    return this.store.headAt(oc);
  }

  gunzippedLength(oc: Oc): number {
    return gunzippedLength(this.store.headChunk(oc), this.store.headAt(oc));
  }

  annex(oc: Oc): Buffer | null {
    return this.store.annex(oc);
  }

  bodyLength(oc: Oc): number {
    return this.state.objcores.getDouble(oc, BODY_LENGTH);
  }

  declaredLength(oc: Oc): number {
    return this.store.announced(oc);
  }

  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number {
    return this.store.copyBody(oc, from, dst, dstAt, max);
  }

  slice(oc: Oc, from: number, max: number, place?: BodyPlace): StoredBytes {
    return this.store.slice(oc, from, max, place as BodyCursor | undefined) as LentBytes as StoredBytes;
  }

  place(oc: Oc): BodyPlace | undefined {
    const isStill = stateIn(this.state.objcores.get(oc, META)) === STATE_FINISHED;
    return isStill && !this.store.inTransitOnly(oc) ? new BodyCursor() : undefined;
  }

  onProgress(oc: Oc, reader: ProgressReader): ProgressSource | null {
    const state = stateIn(this.state.objcores.get(oc, META));
    if (state === STATE_FINISHED || state === STATE_FAILED) return null;
    const { memory, transfers } = this.state;
    if (memory.isShared && transfers.get(oc) === undefined) return this.foreign.attach(oc, reader);
    const transfer = this.store.transferOf(oc);
    transfer.attach(reader);
    return transfer;
  }

  consume(oc: Oc, upTo: number): void {
    this.store.consume(oc, upTo);
  }
}
